// Elements, made from text that is never markup.

import { share } from './format';

type Child = Node | string | null | undefined | false;

export function element<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, unknown> = {},
                                                               ...children: Child[]): HTMLElementTagNameMap[K] {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
        if (name.startsWith('on'))
            made.addEventListener(name.slice(2), value as EventListener);
        else if (name.startsWith('aria-') && value !== undefined)
            made.setAttribute(name, String(value));
        else if (value !== undefined && value !== null && value !== false)
            made.setAttribute(name, value === true ? '' : String(value));
    for (const child of children)
        if (child)
            made.append(child);
    return made;
}

export function byId<T extends HTMLElement>(id: string): T {
    return document.getElementById(id) as T;
}

/** Fits a canvas's pixels to the size it has on the screen, in CSS pixels, which are those of the context. */
export function fit(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
    const scale = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
        canvas.width = Math.round(width * scale);
        canvas.height = Math.round(height * scale);
    }
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    return context;
}

/** How many letters have room, about. */
export function lettersIn(width: number): number {
    return Math.floor(width / 6.1);
}

/** Text that fits, its end cut off; "" where not even three letters would. */
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
    if (width < 22)
        return '';
    const most = lettersIn(width);
    if (text.length <= most && context.measureText(text).width <= width)
        return text;
    let length = Math.min(text.length, Math.ceil(1.4 * most));
    while (length > 2 && context.measureText(`${text.slice(0, length)}…`).width > width)
        --length;
    return length > 2 ? `${text.slice(0, length)}…` : '';
}

/** A link that is a button: it does something in the page. */
export function link(text: string, act: () => void): HTMLButtonElement {
    return element('button', { class: 'link', type: 'button', onclick: act }, text);
}

/** A share, with a bar behind it. */
export function partBar(part: number): HTMLElement {
    const made = element('span', { class: 'part' }, share(part));
    made.style.setProperty('--part', `${(100 * Math.min(1, part)).toFixed(1)}%`);
    return made;
}

let tipText: HTMLElement | null = null;

/** The tip beside the pointer: lines of text, the first in bold. */
export function showTip(x: number, y: number, lines: string[]): void {
    tipText ??= byId('tip');
    tipText.replaceChildren(element('b', {}, lines[0]), ...lines.slice(1).map((line) => element('div', { class: 'soft' }, line)));
    tipText.hidden = false;
    const { width, height } = tipText.getBoundingClientRect();
    tipText.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
    tipText.style.top = `${y + 18 + height > innerHeight ? y - height - 10 : y + 18}px`;
}

export function hideTip(): void {
    byId('tip').hidden = true;
}
