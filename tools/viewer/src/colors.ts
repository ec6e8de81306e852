// Colours: of names, by a hash, the same in both themes; and those of the style sheet.

const HUES = [212, 28, 142, 268, 350, 184, 48, 96, 312, 236, 12, 164, 290, 72, 200, 332];
const cache = new Map<string, number>();

function hash(name: string): number {
    let value = 0x811c9dc5;
    for (let i = 0; i < name.length; ++i)
        value = Math.imul(value ^ name.charCodeAt(i), 0x01000193);
    value ^= value >>> 15;
    return Math.imul(value, 0x2c1b3c6d) >>> 0;
}

export function isDark(): boolean {
    return document.documentElement.dataset.theme === 'dark';
}

/** Number of a colour of nameColors(). */
export function colorNumber(name: string): number {
    let number = cache.get(name);
    if (number === undefined) {
        number = hash(name) % (2 * HUES.length);
        cache.set(name, number);
    }
    return number;
}

// Families that come up often, so that no two of them share a colour.
const FAMILIES = ['gemm', 'gemv', 'attention', 'norm', 'elementwise', 'rope', 'kv write', 'sampling', 'collective', 'copy', 'fill',
    'gather', 'moe', 'quantize', 'reduce', 'convolution'];

/** Number of the colour of what has none of its own. */
export const NEUTRAL = 2 * HUES.length;

/** Number of a family's colour of nameColors(). */
export function familyNumber(family: string): number {
    if (family === 'other')
        return NEUTRAL;
    const place = FAMILIES.indexOf(family);
    return place >= 0 ? place : HUES.length + colorNumber(family) % HUES.length;
}

/* Kinds are told apart without hue: kernels and copies are light with dark text, host calls dark and grey with light text, ranges and
 * replays pale between edges, idle times hatched. */

/** What an event is, by how it looks. */
export type Look = 'kernel' | 'call' | 'range' | 'replay' | 'idle';

const CALLS = NEUTRAL + 1; // greys of host calls
const GREYS = 4;
const IDLE = CALLS + GREYS;

/** Number of the colour of a name of that look. */
export function lookNumber(look: Look, name: string): number {
    return look === 'call' ? CALLS + hash(name) % GREYS : look === 'idle' ? IDLE : colorNumber(name);
}

type Rgb = [number, number, number];

function fromHsl(hue: number, saturation: number, light: number): Rgb {
    const part = (shift: number) => {
        const k = (shift + hue / 30) % 12;
        return Math.round(255 * (light - saturation * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
    };
    return [part(0), part(8), part(4)];
}

const hex = (rgb: Rgb) => `#${rgb.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

function fromHex(text: string): Rgb {
    return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)) as Rgb;
}

function mixed(over: Rgb, under: Rgb, alpha: number): Rgb {
    return over.map((part, i) => Math.round(alpha * part + (1 - alpha) * under[i])) as Rgb;
}

/** A colour over another, as a pixel of an ImageData. */
function pixel(over: Rgb, under: Rgb, alpha: number): number {
    const [r, g, b] = mixed(over, under, alpha);
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** Fills on which dark text is readable. */
function nameColors(dark: boolean): Rgb[] {
    return [...HUES.map((hue) => fromHsl(hue, dark ? 0.52 : 0.62, dark ? 0.64 : 0.7)),
        ...HUES.map((hue) => fromHsl(hue, dark ? 0.36 : 0.42, dark ? 0.62 : 0.78)), fromHsl(215, 0.08, dark ? 0.58 : 0.82),
        ...Array.from({ length: GREYS }, (_, place) => fromHsl(215, 0.1, (dark ? 0.26 : 0.3) + 0.02 * place)), fromHex(dark ? '#7d5637' : '#e5b08f')];
}

/** A colour of a name or family by its number, as CSS has it. */
export function numberedColor(number: number): string {
    return hex(nameColors(isDark())[number]);
}

export interface Palette {
    back: string; panel: string; line: string; text: string; soft: string; accent: string; row: string; busy: string;
    bad: string; bubble: string; names: string[]; ink: string;
    light: string; // text on a host call
    tints: string[]; // grounds of ranges and replays, by the number of their colour
    edges: string[]; // and their edges
    /** Of names, as pixels: for what is wanted and what is faded, over a pale ground of the same. */
    full: Uint32Array; pale: Uint32Array; fadedFull: Uint32Array; fadedPale: Uint32Array; ground: number;
}

export function palette(): Palette {
    const style = getComputedStyle(document.documentElement);
    const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
    const names = nameColors(isDark());
    const back = fromHex(of('back'));
    const pixels = (alpha: number) => Uint32Array.from(names, (name) => pixel(name, back, alpha));
    return {
        full: pixels(1), pale: pixels(0.3), fadedFull: pixels(0.22), fadedPale: pixels(0.08), ground: pixel(back, back, 1),
        back: of('back'), panel: of('panel'), line: of('line'), text: of('text'), soft: of('soft'), accent: of('accent'), light: '#f4f6f9',
        tints: names.map((name) => hex(mixed(name, back, isDark() ? 0.28 : 0.32))),
        edges: names.map((name) => hex(isDark() ? name : mixed(name, [0, 0, 0], 0.66))),
        row: of('row'), busy: of('busy'), bad: of('bad'), bubble: of('bubble'), names: names.map(hex), ink: '#10151d',
    };
}

export type Kinds = Record<Look, string>;

/** Styles of small boxes that look as events of each kind do. */
export function kindStyles(): Kinds {
    const { names, tints, edges, bubble, back } = palette();
    const framed = (number: number, sides: string) => `background:${tints[number]};border:1px solid ${edges[number]};${sides}`;
    return {
        kernel: `background:${names[0]}`,
        call: `background:${names[CALLS]}`,
        range: framed(4, 'border-top-width:3px;border-bottom-width:0'),
        replay: framed(2, ''),
        idle: `background:repeating-linear-gradient(135deg,${bubble} 0 1px,${back} 1px 4px);border:1px solid ${bubble}`,
    };
}
