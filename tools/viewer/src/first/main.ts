// What is shown of a large trace until its page is made: what rtl summary and rtl timeline say. The page then comes in its place.

import './first.css';
import { unpack } from '../bytes';
import { colorNumber, numberedColor } from '../colors';
import { byId, element, hideTip, showTip } from '../dom';
import { count, duration, share } from '../format';
import { section, swatch, table, tile } from '../report/parts';
import { startTheme, toggleTheme } from '../theme';

const PAUSE = 250; // ms between two questions whether the page is made
const MOST_LANES = 64;

interface Kernels { name: string; calls: number; total_ns: number; share: number; min_ns: number; p50_ns: number; p99_ns: number; max_ns: number }

interface Graph { process: number; graph: number; launches: number; kernels: number; p50_ns: number; p99_ns: number; max_ns: number }

interface Lane {
    process: number; gpu: number | null; queue: number | null; of: string; events: number; busy_ns: number;
    column_busy_ns: number[]; column_name: (number | null)[];
}

/** As the commands' --json has it. */
interface First {
    summary: {
        file: string; command: string | null; complete: boolean; completeness: string; recorded_ns: number; kernel_count: number; kernel_ns: number;
        filter: { text: string; shown: number; all: number } | null; graph_launch_count: number; window_ns: number | null; kernels: Kernels[]; graphs: Graph[];
        gpus: { gpu: number; name: string | null; busy_ns: number; first_ns: number; last_ns: number }[];
    };
    timeline: { from_ns: number; to_ns: number; columns: number; lanes: Lane[]; names: { name: string }[] };
}

/** What tests look at. */
export let first: First;
export let complete = false;

function laneName(lane: Lane, several: boolean): string {
    const process = several ? `process ${lane.process}, ` : '';
    return `${process}GPU ${lane.gpu ?? '?'}, queue ${lane.queue ?? '?'}${lane.of === 'kernels' ? '' : `, ${lane.of}`}`;
}

/** How busy a queue is in each column, in the colour of what most of it is. */
function laneRow(lane: Lane, width: number): HTMLElement {
    const { names } = first.timeline;
    const row = element('div', { class: 'row', role: 'img', 'aria-label': `busy for ${duration(lane.busy_ns)}` });
    lane.column_busy_ns.forEach((busy, column) => {
        const bar = element('i', {});
        const place = lane.column_name[column];
        const name = place === null ? '' : names[place]?.name ?? '';
        bar.style.height = `${100 * Math.min(1, busy / width)}%`;
        bar.style.background = numberedColor(colorNumber(name));
        bar.addEventListener('mousemove', (event) => showTip(event.clientX, event.clientY,
            [name || 'nothing', `busy for ${share(busy / width)} of ${duration(width)}`]));
        bar.addEventListener('mouseleave', hideTip);
        row.append(bar);
    });
    return row;
}

function timelineSection(): HTMLElement {
    const { timeline } = first;
    const width = Math.max(1, (timeline.to_ns - timeline.from_ns) / timeline.columns);
    const several = new Set(timeline.lanes.map((lane) => lane.process)).size > 1;
    const shown = timeline.lanes.slice(0, MOST_LANES);
    const more = timeline.lanes.length - shown.length;
    return section('timeline', 'How busy the queues are',
        element('div', { class: 'rows' },
            ...shown.flatMap((lane) => [element('span', {}, laneName(lane, several)), laneRow(lane, width)]),
            element('div', { class: 'ends' }, element('span', {}, '0'), element('span', {}, duration(timeline.to_ns - timeline.from_ns)))),
        more > 0 && element('p', { class: 'soft' }, `and ${count(more)} more`));
}

function kernelsSection(): HTMLElement {
    const others = first.summary.kernels.reduce((rest, row) => rest - row.calls, first.summary.kernel_count);
    return section('kernels', 'Kernels that took most of the time, by name',
        table(['kernel', 'calls', 'share', 'total', 'min', 'p50', 'p99', 'max'],
            first.summary.kernels.map((row) => [
                element('span', { title: row.name }, swatch(numberedColor(colorNumber(row.name))), row.name), count(row.calls), share(row.share),
                ...[row.total_ns, row.min_ns, row.p50_ns, row.p99_ns, row.max_ns].map(duration)]), [], 0),
        others > 0 && element('p', { class: 'soft' }, `and ${count(others)} kernels of other names`));
}

function graphsSection(): HTMLElement | null {
    const { graphs } = first.summary;
    return graphs.length === 0 ? null : section('graphs', 'Graphs whose replays took most of the time',
        table(['graph', 'replays', 'kernels', 'p50', 'p99', 'max'],
            graphs.map((row) => [`${row.process}:${row.graph}`, count(row.launches), count(row.kernels),
                ...[row.p50_ns, row.p99_ns, row.max_ns].map(duration)]), [0]));
}

/** That it is a part, where it is one. */
function filterNote(): HTMLElement | null {
    const { filter } = first.summary;
    return filter && element('p', { id: 'filter' }, `${filter.text}: ${count(filter.shown)} of ${count(filter.all)} kernels`);
}

function tiles(): HTMLElement {
    const { summary } = first;
    return element('div', { class: 'tiles' },
        tile(count(summary.kernel_count), 'kernels'),
        tile(duration(summary.kernel_ns), 'in kernels'),
        summary.graph_launch_count > 0 && tile(count(summary.graph_launch_count), 'replays of graphs'),
        ...summary.gpus.slice(0, 8).map((gpu) => tile(share(gpu.busy_ns / Math.max(1, summary.window_ns ?? gpu.last_ns - gpu.first_ns)),
            `GPU ${gpu.gpu} busy`)),
        tile(duration(summary.window_ns ?? summary.recorded_ns), summary.window_ns === null ? 'recorded' : 'chosen'));
}

function show(): void {
    const { summary } = first;
    const name = summary.command ?? summary.file;
    document.title = `RTL: ${summary.file}`;
    byId('title').textContent = name;
    byId('title').title = name;
    const badge = byId('verdict');
    badge.textContent = summary.completeness.split(':')[0];
    badge.title = summary.completeness;
    badge.className = `badge ${summary.complete ? 'good' : 'bad'}`;
    byId('report').replaceChildren(...[filterNote(), tiles(), timelineSection(), kernelsSection(), graphsSection()]
        .filter((part): part is HTMLElement => part !== null));
}

/** Asks until the page is made. What the address has behind its # stays. */
async function wait(): Promise<void> {
    const bar = byId<HTMLProgressElement>('progress');
    const all = first.summary.kernel_count;
    try {
        for (let made = false; !made;) {
            const answer = await fetch('progress', { cache: 'no-store' });
            const text = answer.ok ? await answer.text() : '0';
            made = text === 'made';
            const done = made ? all : Math.min(all, Number(text));
            bar.value = 0.999 * done / Math.max(1, all);
            byId('done').textContent = `${count(done)} of ${count(all)} kernels`;
            await new Promise((resolve) => setTimeout(resolve, made ? 0 : PAUSE));
        }
    } catch {
        byId('making').textContent = 'rtl view has ended: its terminal says why.';
        return;
    }
    location.reload();
}

export async function start(): Promise<void> {
    byId('theme').addEventListener('click', toggleTheme);
    first = JSON.parse(new TextDecoder().decode(await unpack(byId('rtl-data')))) as First;
    startTheme(show);
    complete = true;
    void wait();
}
