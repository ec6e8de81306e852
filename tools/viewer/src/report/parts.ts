// What sections of a report are made of.

import { familyNumber, numberedColor } from '../colors';
import { element, hideTip, showTip } from '../dom';
import { count, duration, share } from '../format';
import { ACTIVITIES, ACTIVITY_COLORS, ACTIVITY_LABELS, Absent, Activity } from './data';

export function section(id: string, title: string, ...children: (Node | string | null | undefined | false)[]): HTMLElement {
    return element('section', { id, 'aria-label': title }, element('h2', {}, title), ...children);
}

export function tile(value: string, what: string): HTMLElement {
    return element('div', { class: 'tile' }, element('b', {}, value), element('span', { class: 'soft' }, what));
}

export type Cell = string | Node;

/** A table; `text` are the places of columns that are no numbers, `name` that of one that may be cut. */
export function table(heads: string[], rows: Cell[][], text: number[] = [], name = -1): HTMLElement {
    const kind = (place: number) => (place === name ? 'name' : text.includes(place) ? 'text' : undefined);
    return element('div', { class: 'sheet' }, element('table', {},
        element('thead', {}, element('tr', {}, ...heads.map((head, place) => element('th', { scope: 'col', class: kind(place) && 'text' }, head)))),
        element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map((cell, place) => element('td', {
            class: kind(place), title: place === name && typeof cell === 'string' ? cell : undefined,
        }, cell)))))));
}

/** Parts of a whole as one bar, in this order; [what, size, colour]. */
export function stack(parts: [string, number, string][], whole: number): HTMLElement {
    const bar = element('div', { class: 'stack', role: 'img', 'aria-label': parts.filter(([, size]) => size > 0).map(([what, size]) =>
        `${what} ${share(size / Math.max(1, whole))}`).join(', ') });
    for (const [what, size, color] of parts) {
        if (size <= 0)
            continue;
        const piece = element('i', {});
        piece.style.width = `${100 * size / Math.max(1, whole)}%`;
        piece.style.background = color;
        piece.addEventListener('mousemove', (event) => showTip(event.clientX, event.clientY,
            [what, `${duration(size)}, ${share(size / Math.max(1, whole))}`]));
        piece.addEventListener('mouseleave', hideTip);
        bar.append(piece);
    }
    return bar;
}

export const activityColor = (activity: Activity) => `var(--${ACTIVITY_COLORS[activity]})`;

/** What the GPU did, as one bar. */
export function activityStack(times: Record<Activity, number>): HTMLElement {
    const whole = ACTIVITIES.reduce((sum, activity) => sum + times[activity], 0);
    return stack(ACTIVITIES.map((activity) => [ACTIVITY_LABELS[activity], times[activity], activityColor(activity)]), whole);
}

export function legend(parts: [string, string][]): HTMLElement {
    return element('div', { class: 'legend' }, ...parts.map(([what, color]) => element('span', {}, swatch(color), what)));
}

export const activityLegend = () => legend(ACTIVITIES.map((activity) => [ACTIVITY_LABELS[activity], activityColor(activity)]));

export function swatch(color: string): HTMLElement {
    const mark = element('i', { class: 'swatch' });
    mark.style.background = color;
    return mark;
}

export function familyColor(family: string): string {
    return numberedColor(familyNumber(family));
}

export function named(color: string, name: string): HTMLElement {
    return element('span', { title: name }, swatch(color), name);
}

/** A bar of a part of the largest. */
export function barCell(part: number, color = 'var(--graphs)'): HTMLElement {
    const bar = element('i', {});
    bar.style.width = `${Math.max(0.5, 100 * part)}%`;
    bar.style.background = color;
    return element('div', { class: 'bar-cell' }, bar);
}

const CAUSES: Record<string, string> = {
    no_call: 'in no host call', in_graph: 'between kernels of a graph', submitted: 'submitted and not begun',
    other_gpu: 'submitted, and another GPU ran',
    unknown: 'not known: no host call', stopped: 'recording was stopped',
};

/** What is not in the trace, as a sentence. */
export function absentText({ kernels, copies, packets, why }: Absent): string {
    const parts = ([[kernels, 'kernel', 'kernels'], [copies, 'copy', 'copies'], [packets, 'opaque packet', 'opaque packets']] as const)
        .filter(([number]) => number > 0).map(([number, one, many]) => `${count(number)} ${number === 1 ? one : many}`);
    return `${parts.join(' and ')} ${kernels + copies + packets === 1 ? 'is' : 'are'} not in the trace${why ? ` (${why})` : ''}, and may have run while a GPU seems idle.`;
}

/** How a cause of idle time reads. */
export const causeText = (cause: string) => CAUSES[cause] ?? `in ${cause}`;
