// What the panel below the rows says of the time in view: how busy the GPUs were, the longest gaps, and where the time went, by name.

import { Kinds, kindStyles } from './colors';
import { element, link, partBar } from './dom';
import { count, duration, moment, share } from './format';
import { TableName, TableRow, Trace } from './trace';
import { Gap, Window } from './window';

const LINE = 22; // px, as in the style sheet
const ABOVE = 66; // px of the panel above the lines of a block

export interface ViewWays {
    showGap(gap: Gap): void;
    openName(table: TableName, row: TableRow): void;
}

function line(...cells: (Node | string)[]): HTMLElement {
    return element('tr', {}, ...cells.map((cell, place) => element('td', { class: place === 1 ? 'name' : '' }, cell)));
}

function block(title: string, lines: HTMLElement[], note = ''): HTMLElement {
    return element('section', {}, element('h3', {}, title, note && element('span', { class: 'soft' }, ` ${note}`)),
        element('table', {}, element('tbody', {}, ...lines)));
}

/** How busy each GPU is, and of what that is a part. */
function busy(trace: Trace, window: Window): HTMLElement[] {
    const { head } = trace;
    const of = !window.all ? 'the time in view' : head.window === null ? 'the time from its first kernel to its last' : 'the time that was chosen';
    return window.busy.map(({ busy: ns, time }, place) => {
        const { process, gpu } = head.gpus[place];
        return element('span', { class: 'busy', title: `of ${duration(time)}, ${of}` },
            `${head.processes.length > 1 ? `process ${process}, ` : ''}GPU ${gpu ?? '?'} busy `, element('b', {}, share(ns / time)),
            `, ${window.tables ? '' : 'about '}${duration(ns)}`);
    });
}

function gaps(trace: Trace, window: Window, most: number, ways: ViewWays): HTMLElement | null {
    const lines = window.gaps.slice(0, most).map((gap) => line(
        link(duration(gap.to - gap.from), () => ways.showGap(gap)), trace.head.texts[gap.cause],
        `${trace.head.gpus.length > 1 ? `GPU ${gap.lane.gpu ?? '?'}, ` : ''}at ${moment(gap.from)}`));
    return lines.length ? block('Longest gaps', lines, 'G: the next') : null;
}

const TITLES: Record<TableName, string> = { kernels: 'Kernels', calls: 'Host calls', ranges: 'Ranges', copies: 'Copies' };

function names(trace: Trace, window: Window, table: TableName, most: number, ways: ViewWays): HTMLElement | null {
    const rows = window.tables?.[table] ?? [];
    const time = (row: TableRow) => (table === 'ranges' ? row[11] : row[2]);
    const all = rows.reduce((sum, row) => sum + time(row), 0);
    const lines = [...rows].sort((a, b) => time(b) - time(a)).slice(0, most).map((row) => {
        const name = link(table === 'kernels' ? trace.shortName(row[0], 24) : trace.head.texts[row[0]], () => ways.openName(table, row));
        name.title = trace.head.texts[row[0]];
        return line(partBar(time(row) / Math.max(1, all)), name, `${count(row[1])} ×`, duration(row[2] / row[1]));
    });
    const further = rows.length > most ? `${count(most)} of ${count(rows.length)} names` : '';
    return lines.length ? block(TITLES[table], lines, further || (table === 'ranges' ? 'without ranges within' : '')) : null;
}

/** What looks how in the rows. */
function legend(): HTMLElement {
    const of: [keyof Kinds, string][] = [['kernel', 'kernel, copy'], ['call', 'host call'], ['range', 'range'], ['replay', 'graph replay'],
        ['idle', 'idle']];
    const styles = kindStyles();
    return element('div', { class: 'legend', 'aria-label': 'What is drawn' }, ...of.map(([kind, text]) =>
        element('span', {}, element('i', { class: `kind-${kind}`, style: styles[kind] }), text)));
}

/** The panel's lines for a time; `room`: height of the panel, px. */
export function viewOf(trace: Trace, window: Window, room: number, ways: ViewWays): HTMLElement {
    const most = Math.max(5, Math.floor((room - ABOVE) / LINE));
    const title = window.all ? `All of the trace: ${duration(window.to - window.from)}` :
        `In view: ${duration(window.to - window.from)} from ${moment(window.from)}`;
    const blocks = [names(trace, window, 'kernels', most, ways), gaps(trace, window, most, ways), names(trace, window, 'calls', most, ways),
        names(trace, window, 'ranges', most, ways)].filter((item) => item !== null);
    return element('div', { class: 'view' }, element('div', { class: 'head' }, element('h2', {}, title), ...busy(trace, window), legend()),
        window.tables ? '' : element('p', { class: 'soft' },
            `There are too many events in view to add them up by name${trace.served ? '' : ', or not all of them are in this page'}. Zoom in.`),
        element('div', { class: 'blocks' }, ...blocks));
}
