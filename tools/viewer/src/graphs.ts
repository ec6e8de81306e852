// Graphs: the replays of one laid over each other, how its nodes are spread, and which replays are outliers.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { Axis } from './axis';
import { Palette, colorNumber, palette } from './colors';
import { byId, element, fit, fitted, hideTip, lettersIn, link, showTip } from './dom';
import { count, duration, multiples, niceStep, share, tick } from './format';
import { Graph, GraphNode, Launch, Slice, Trace } from './trace';

const LABELS = 230; // px
const RULER = 24;
const ROW = 22; // px at most
const NAMED = 12; // px of a row that has its name
const LEAST_NAMED = 10; // at least; the picture gets so much for each, if that is not too tall
const TALLEST = 0.72; // of the window
const COLORS = 8; // kernels in the legend
const SAMPLES = 32; // replays that are drawn, of those that are no outliers
const OUTLIERS = 200; // that are listed
const FACTOR = 5; // an outlier is so many deviations (1.4826 MAD) above the median

interface Replay {
    launch: Launch;
    slices: Slice[];
}

function quantile(sorted: number[], part: number): number {
    return sorted.length ? sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(part * sorted.length) - 1))] : 0;
}

/** What is to be said of all replays of a graph. */
export interface Sums {
    p50: number; p90: number; p99: number; most: number; idle: number; limit: number; outliers: Launch[];
}

export function sumsOf(launches: Launch[]): Sums {
    const sorted = launches.map((launch) => launch.duration).sort((a, b) => a - b);
    const p50 = quantile(sorted, 0.5);
    const mad = quantile(sorted.map((value) => Math.abs(value - p50)).sort((a, b) => a - b), 0.5);
    const limit = p50 + FACTOR * 1.4826 * Math.max(mad, 0.002 * p50);
    const total = launches.reduce((sum, launch) => sum + launch.duration, 0);
    return {
        p50,
        p90: quantile(sorted, 0.9),
        p99: quantile(sorted, 0.99),
        most: sorted[sorted.length - 1] ?? 0,
        idle: launches.reduce((sum, launch) => sum + launch.idle, 0) / Math.max(1, total),
        limit,
        outliers: launches.filter((launch) => launch.duration > limit).sort((a, b) => b.duration - a.duration),
    };
}

export class Graphs {
    readonly axis: Axis;
    onchange: () => void = () => {};
    graph: Graph | null = null;
    chosen: Replay | null = null;
    /** Replays that are drawn below the nodes. */
    samples: Replay[] = [];
    private launches: Launch[] = [];
    private sums: Sums = sumsOf([]);
    /** Replays that are not whole in the trace, and so in none of the numbers. */
    private partial = 0;
    /** Nodes whose names stand beside the picture. */
    named: number[] = [];
    private nodes: GraphNode[] = [];
    private chosenNode: number | null = null;
    private readonly view = byId('view-graphs');
    private readonly canvas = element('canvas', { role: 'img', tabindex: 0 });
    private chart: uPlot | null = null;
    private colors: Palette = palette();
    private pointer: number | null = null;
    private order = 'node';
    private rising = true;
    private pending = false;

    constructor(private readonly trace: Trace, private readonly show: (slice: Slice) => void,
                private readonly showTime: (from: number, to: number) => void) {
        this.axis = new Axis(0, 1, 0, 1, () => this.draw());
        this.listen();
        new ResizeObserver(() => {
            this.draw();
            this.drawChart();
        }).observe(this.view);
        const [first] = [...trace.head.graphs].sort((a, b) => b.launches * (b.nodes ?? 1) - a.launches * (a.nodes ?? 1));
        if (first)
            this.open(first, null);
        else
            this.view.replaceChildren(element('p', { class: 'soft' }, 'No graph was replayed in this trace.'));
    }

    get zoomTime(): number {
        return this.pointer ?? (this.axis.from + this.axis.to) / 2;
    }

    private label(graph: Graph): string {
        const several = this.trace.head.processes.length > 1 ? `process ${graph.process}, ` : '';
        return `${several}graph ${graph.graph}, generation ${graph.generation}: ${count(graph.nodes ?? graph.rows.length)} nodes, ` +
            `${count(graph.launches)} replays${this.trace.head.replays_every > 1 ? `, one of ${count(this.trace.head.replays_every)} here` : ''}`;
    }

    open(graph: Graph, launch: Launch | null): void {
        if (this.graph !== graph) {
            this.graph = graph;
            const launches = this.trace.launchesOf(graph);
            this.launches = launches.filter((item) => item.kernels > 0 && !item.partial);
            this.partial = launches.filter((item) => item.partial).length;
            this.sums = sumsOf(this.launches);
            this.nodes = graph.rows.filter((row) => row.count > 0).sort((a, b) => a.offset[3] - b.offset[3] || a.node - b.node);
            this.chosen = null;
            this.chosenNode = null;
            this.samples = [];
            this.lay();
            this.axis.bound(0, Math.max(1, this.sums.most));
            this.axis.show(...this.usual());
            void this.loadSamples(graph);
        }
        if (launch)
            void this.choose(launch);
        this.onchange();
    }

    /** The time in which the nodes of a usual replay run. */
    private usual(): [number, number] {
        const end = Math.max(this.sums.p50, ...this.nodes.map((row) => row.offset[3] + row.duration[3]));
        const to = Math.max(1.15 * end, Math.min(this.sums.p90, 1.5 * end));
        return [-0.01 * to, to];
    }

    /** Replays from all over the trace. */
    private async loadSamples(graph: Graph): Promise<void> {
        const usual = this.launches.filter((launch) => launch.duration <= this.sums.limit);
        const step = Math.max(1, usual.length / SAMPLES);
        for (let at = 0; at < usual.length; at += step) {
            const launch = usual[Math.floor(at)];
            const slices = await this.trace.kernelsOf(launch);
            if (this.graph !== graph)
                return;
            if (slices.length === launch.kernels)
                this.samples.push({ launch, slices });
            this.draw();
        }
        this.drawLegend();
    }

    async choose(launch: Launch): Promise<void> {
        const slices = await this.trace.kernelsOf(launch);
        this.chosen = { launch, slices };
        if (launch.duration > this.axis.to)
            this.axis.show(-0.01 * launch.duration, 1.03 * launch.duration);
        this.drawLists();
        this.drawLegend();
        this.drawChart();
        this.draw();
        this.onchange();
    }

    /* What stands around the picture. */

    private lay(): void {
        const graph = this.graph as Graph;
        const { sums } = this;
        const { graphs } = this.trace.head;
        const choice = element('select', {
            'aria-label': 'Graph', onchange: (event: Event) => {
                const chosen = graphs[Number((event.target as HTMLSelectElement).value)];
                this.open(chosen, null);
            },
        }, ...graphs.map((item, place) => element('option', { value: place, selected: item === graph }, this.label(item))));
        if (this.launches.length === 0) {
            this.view.replaceChildren(element('div', { class: 'facts' }, choice), element('p', {},
                `No replay of this graph is whole in the trace${this.why()}, so nothing is told of how long they took. ` +
                `${count(graph.expected - graph.kernels)} of their ${count(graph.expected)} kernels are missing.`));
            return;
        }
        const fact = (name: string, value: string) => element('span', {}, `${name} `, element('b', {}, value));
        this.view.replaceChildren(
            element('div', { class: 'facts' }, choice, fact('replay p50', duration(sums.p50)), fact('p90', duration(sums.p90)),
                fact('p99', duration(sums.p99)), fact('longest', duration(sums.most)), fact('idle between nodes', share(sums.idle)),
                sums.outliers.length > 0 && fact('outliers', count(sums.outliers.length)),
                graph.unknown > 0 && fact('kernels of no known node', count(graph.unknown)),
                graph.kernels < graph.expected && fact('kernels not in the trace', count(graph.expected - graph.kernels)),
                this.partial > 0 && fact('replays not whole, and in none of these numbers', `${count(this.partial)}${this.why()}`)),
            element('div', { class: 'overlay', style: this.tall() }, this.canvas),
            element('div', { class: 'legend', role: 'status' }),
            element('div', { class: 'pair' }, element('div', { class: 'chart half' }, element('h3', {}, 'Duration of each replay')),
                element('div', { class: 'replays half' }), element('div', { class: 'nodes half' })));
        this.canvas.setAttribute('aria-label', `Replays of graph ${graph.graph}, aligned at their begin`);
        this.drawLegend();
        this.drawLists();
        this.drawChart();
    }

    /** As tall as all rows are, or as all names need, where that leaves room for the rest. */
    private tall(): string {
        const height = (row: number) => RULER + 8 + row * this.nodes.length;
        const most = Math.floor(TALLEST * innerHeight);
        if (height(ROW) <= most)
            return `flex:none;min-height:0;height:${height(ROW)}px`;
        return height(LEAST_NAMED) <= most ? `flex-basis:${Math.min(height(NAMED), most)}px` : '';
    }

    /** Why they are not, as far as the head tells. */
    private why(): string {
        const { partial_why: why } = this.trace.head.trace;
        return why ? ` (${why})` : '';
    }

    private drawLegend(): void {
        const legend = this.view.querySelector('.legend');
        const { colors } = this;
        const mark = (style: string, text: string) => element('span', {}, element('i', { style }), text);
        const { texts } = this.trace.head;
        const totals = new Map<number, number>();
        for (const row of this.nodes)
            totals.set(row.name, (totals.get(row.name) ?? 0) + row.duration[8] * row.count);
        const kernels = [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);
        const named = kernels.slice(0, COLORS).map((name) => {
            const chip = mark(`background:${colors.names[colorNumber(texts[name])]}`, this.trace.shortName(name, 24));
            chip.title = texts[name];
            chip.classList.add('kernel');
            return chip;
        });
        legend?.replaceChildren(
            mark(`background:${colors.soft}`, 'a node: median begin and duration'),
            mark(`background:${colors.soft};opacity:.3`, 'from p10 of its begin to p90 of its end'),
            mark(`background:linear-gradient(to right,${colors.text} 0 1px,transparent 0 calc(100% - 1px),${colors.text} 0)`,
                `begin and end in ${count(this.samples.length)} replays`),
            mark(`background:${colors.bubble}`, 'bubble: nothing of the replay runs (median)'),
            ...named, ...(kernels.length > COLORS ? [element('span', {}, `and ${count(kernels.length - COLORS)} kernels more`)] : []),
            ...(this.chosen ? [mark(`border:2px solid ${colors.accent}`, `replay ${this.chosen.launch.launch}` +
                `${this.chosen.slices.length < this.chosen.launch.kernels ? ' (not all of its events are in this page)' : ''}`),
                link('show it in the timeline', () => {
                    const { launch } = (this.chosen as Replay);
                    this.showTime(launch.start, launch.start + launch.duration);
                }), this.largestGap(this.chosen)] : []));
    }

    /** The longest time of a replay in which none of its kernels ran. */
    private largestGap(replay: Replay): Node {
        let end = Infinity;
        let longest = 0;
        let after: Slice | null = null;
        for (const slice of replay.slices) {
            if (slice.start - end > longest) {
                longest = slice.start - end;
                after = slice;
            }
            end = end === Infinity ? slice.start + slice.duration : Math.max(end, slice.start + slice.duration);
        }
        if (!after)
            return element('span', {}, 'it has no bubble');
        const { start, node } = after;
        const begin = start - replay.launch.start;
        return element('span', {}, 'its longest bubble: ', link(`${duration(longest)} before node ${node ? node - 1 : '?'}`, () =>
            this.axis.show(begin - 1.2 * longest, begin + 0.3 * longest)));
    }

    private drawLists(): void {
        const { sums } = this;
        const replays = this.view.querySelector('.replays');
        const rows = sums.outliers.length ? sums.outliers : [...this.launches].sort((a, b) => b.duration - a.duration);
        const title = sums.outliers.length ? `Outliers: ${count(sums.outliers.length)}, above ${duration(sums.limit)}` :
            'No outliers; the longest replays';
        const scrolled = replays?.querySelector('.sheet')?.scrollTop ?? 0;
        replays?.replaceChildren(element('h3', { title: `An outlier is more than ${FACTOR} deviations (1.4826 times the median of how far replays are from ` +
            'their median) above the median.' }, title), element('div', { class: 'sheet', tabindex: 0 }, element('table', {},
            element('thead', {}, element('tr', {}, ...['replay', 'duration', '× median', 'idle'].map((name) =>
                element('th', { scope: 'col' }, name)))),
            element('tbody', {}, ...rows.slice(0, OUTLIERS).map((launch) => element('tr', {
                'aria-selected': this.chosen?.launch === launch,
            }, element('td', {}, link(String(launch.launch), () => void this.choose(launch))), element('td', {}, duration(launch.duration)),
            element('td', {}, (launch.duration / Math.max(1, sums.p50)).toFixed(2)), element('td', {}, duration(launch.idle))))))));
        if (replays)
            (replays.querySelector('.sheet') as HTMLElement).scrollTop = scrolled;
        this.drawNodes();
    }

    private readonly columns: [string, (row: GraphNode) => number, (value: number) => string][] = [
        ['node', (row) => row.node, String],
        ['p50', (row) => row.duration[3], duration],
        ['p99', (row) => row.duration[6], duration],
        ['CV', (row) => row.duration[9] / Math.max(1e-9, row.duration[8]), share],
        ['gap p50', (row) => row.gap[3], duration],
        ['gap p99', (row) => row.gap[6], duration],
    ];

    private drawNodes(): void {
        const place = this.view.querySelector('.nodes');
        const { texts } = this.trace.head;
        const key = this.columns.find(([name]) => name === this.order)?.[1] ?? this.columns[0][1];
        const nodes = [...this.nodes].sort((a, b) => (this.rising ? 1 : -1) * (key(a) - key(b)));
        const scrolled = place?.querySelector('.sheet')?.scrollTop ?? 0;
        const heads = this.columns.map(([name]) => element('th', { scope: 'col',
            'aria-sort': name === this.order ? (this.rising ? 'ascending' : 'descending') : undefined }, element('button', {
            onclick: () => {
                this.rising = name === this.order ? !this.rising : name === 'node';
                this.order = name;
                this.drawNodes();
            },
        }, `${name}${name === this.order ? (this.rising ? ' ▴' : ' ▾') : ''}`)));
        place?.replaceChildren(element('h3', {}, `Nodes (${count(nodes.length)} that ran)`), element('div', { class: 'sheet', tabindex: 0 },
            element('table', {}, element('thead', {}, element('tr', {}, heads[0], element('th', { scope: 'col', class: 'name' }, 'kernel'), ...heads.slice(1))),
                element('tbody', {}, ...nodes.slice(0, 2000).map((row) => element('tr', { 'aria-selected': row.node === this.chosenNode },
                    element('td', {}, String(row.node)),
                    element('td', { class: 'name', title: texts[row.name] }, link(this.trace.shortName(row.name, 24), () => this.chooseNode(row))),
                    ...this.columns.slice(1).map(([, value, text]) => element('td', {}, text(value(row))))))))));
        if (place)
            (place.querySelector('.sheet') as HTMLElement).scrollTop = scrolled;
    }

    private chooseNode(row: GraphNode): void {
        this.chosenNode = row.node;
        const length = Math.max(row.duration[5], 50);
        this.axis.show(row.offset[3] - 3 * length, row.offset[3] + 4 * length);
        this.drawNodes();
        this.draw();
    }

    private drawChart(): void {
        const place = this.view.querySelector<HTMLElement>('.chart');
        this.chart?.destroy();
        this.chart = null;
        if (!place || !place.clientWidth || this.launches.length === 0)
            return;
        const { colors, launches, sums } = this;
        const chosen = this.chosen?.launch;
        const y = launches.map((launch) => Math.max(1, launch.duration));
        const wide = sums.most > 20 * sums.p50; // decades, or nothing but the longest would be seen
        place.querySelector('h3')?.replaceChildren(`Duration of each replay${wide ? ', logarithmic' : ''}`);
        const axis = { stroke: colors.soft, grid: { stroke: colors.line, width: 1 }, ticks: { stroke: colors.line, width: 1 },
            font: '11px system-ui, "DejaVu Sans", sans-serif' };
        const points = (size: number, fill: string) => ({ show: true, size, fill, stroke: fill, width: 0 });
        this.chart = new uPlot({
            width: place.clientWidth,
            height: Math.max(80, place.clientHeight - 28),
            padding: [8, 28, 0, 0],
            scales: { x: { time: false }, y: wide ? { distr: 3 } : { range: (_, least, most) => [0, Math.max(most, least) * 1.08] } },
            axes: [{ ...axis, size: 28, values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? count(value) : '')) },
                 { ...axis, size: 62, values: (_, splits) => wide ?
                    splits.map((value) => (value === null ? '' : duration(value).replace(/\.0+(?=\D)/, ''))) :
                    splits.map((value) => tick(value, splits[1] - splits[0])) }],
            legend: { show: false },
            cursor: { drag: { x: true, y: false } },
            series: [{},
                { stroke: colors.busy, width: 1, paths: launches.length > 20000 ? undefined : () => null,
                    points: launches.length > 20000 ? { show: false } : points(3, colors.busy) },
                { paths: () => null, points: points(sums.outliers.length > 500 ? 3 : 5, colors.bubble) },
                { paths: () => null, points: points(10, colors.accent) }],
        }, [launches.map((launch) => launch.launch), y, launches.map((launch) => (launch.duration > sums.limit ? launch.duration : null)),
            launches.map((launch) => (launch === chosen ? launch.duration : null))], place);
        const { chart } = this;
        chart.over.addEventListener('click', () => {
            const at = chart.cursor.idx;
            if (at !== null && at !== undefined)
                void this.choose(launches[at]);
        });
        chart.over.addEventListener('mousemove', (event) => {
            const launch = launches[chart.cursor.idx ?? -1];
            if (launch)
                showTip(event.clientX, event.clientY, [`replay ${launch.launch}: ${duration(launch.duration)}`,
                    `${(launch.duration / Math.max(1, sums.p50)).toFixed(2)} × median, idle ${duration(launch.idle)}`]);
        });
        chart.over.addEventListener('mouseleave', hideTip);
    }

    recolor(): void {
        this.colors = palette();
        this.drawLegend();
        this.drawChart();
        this.draw();
    }

    /* The picture. */

    draw(): void {
        if (this.pending)
            return;
        this.pending = true;
        requestAnimationFrame(() => {
            this.pending = false;
            this.drawNow();
        });
    }

    private inView(): GraphNode[] {
        const { from, to } = this.axis;
        return this.nodes.filter((row) => row.offset[1] - row.gap[3] <= to && row.offset[5] + row.duration[5] >= from);
    }

    private drawNow(): void {
        const box = this.canvas.parentElement;
        if (!box || !box.clientWidth)
            return;
        const width = box.clientWidth;
        const height = box.clientHeight;
        const context = fit(this.canvas, width, height);
        const { colors } = this;
        const plot = width - LABELS;
        const x = (time: number) => LABELS + ((time - this.axis.from) / this.axis.span) * plot;
        context.fillStyle = colors.back;
        context.fillRect(0, 0, width, height);
        context.font = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
        context.textBaseline = 'middle';
        this.drawAxis(context, x, width, height);
        const rows = this.inView();
        const each = Math.min(ROW, (height - RULER - 4) / Math.max(1, rows.length));
        context.save();
        context.beginPath();
        context.rect(LABELS, RULER, plot, height - RULER);
        context.clip();
        const places = new Map<number, number>();
        rows.forEach((row, place) => {
            places.set(row.node, place);
            this.drawNode(context, row, RULER + 2 + place * each, each, x);
        });
        for (const sample of this.samples)
            this.drawReplay(context, sample, places, each, x, false);
        if (this.chosen)
            this.drawReplay(context, this.chosen, places, each, x, true);
        context.restore();
        this.drawNames(context, rows, each);
    }

    private drawAxis(context: CanvasRenderingContext2D, x: (time: number) => number, width: number, height: number): void {
        const { colors } = this;
        const step = niceStep((110 * this.axis.span) / Math.max(1, width - LABELS));
        context.fillStyle = colors.panel;
        context.fillRect(0, 0, width, RULER);
        for (const time of multiples(step, this.axis.from, this.axis.to)) {
            context.fillStyle = colors.line;
            context.fillRect(Math.round(x(time)), RULER - 8, 1, height);
            context.fillStyle = colors.soft;
            context.fillText(tick(time, step), x(time) + 4, RULER / 2);
        }
        context.fillStyle = colors.soft;
        const { length } = this.inView();
        context.fillText(length ? `${count(length)} nodes, as they begin` : 'time since the replay began', 10, RULER / 2);
        context.fillStyle = colors.line;
        context.fillRect(0, RULER, width, 1);
        context.fillRect(LABELS, 0, 1, height);
    }

    private drawNode(context: CanvasRenderingContext2D, row: GraphNode, y: number, height: number, x: (time: number) => number): void {
        const { colors } = this;
        const bar = Math.max(0.6, height - (height > 6 ? 3 : 0));
        const begin = row.offset[3];
        const from = x(begin);
        if (row.node === this.chosenNode) {
            context.fillStyle = colors.panel;
            context.fillRect(0, y - 1, 10000, height);
        }
        context.fillStyle = colors.names[colorNumber(this.trace.head.texts[row.name])];
        context.globalAlpha = 0.22;
        context.fillRect(x(row.offset[1]), y, Math.max(1, x(row.offset[5] + row.duration[5]) - x(row.offset[1])), bar);
        context.globalAlpha = 1;
        context.fillRect(from, y, Math.max(1.5, x(begin + row.duration[3]) - from), bar);
        if (row.gap[3] > 0) {
            context.fillStyle = colors.bubble;
            const left = x(begin - row.gap[3]);
            context.fillRect(left, y + bar / 2 - Math.min(2, bar / 2), Math.max(0.5, from - left - 1), Math.min(4, Math.max(1, bar)));
        }
    }

    private drawReplay(context: CanvasRenderingContext2D, replay: Replay, places: Map<number, number>, each: number,
                       x: (time: number) => number, chosen: boolean): void {
        const { colors } = this;
        const bar = Math.max(0.6, each - (each > 6 ? 3 : 0));
        context.strokeStyle = colors.accent;
        context.fillStyle = colors.text;
        context.lineWidth = 2;
        for (const slice of replay.slices) {
            const place = places.get(slice.node - 1);
            if (place === undefined)
                continue;
            const y = RULER + 2 + place * each;
            const from = x(slice.start - replay.launch.start);
            const width = Math.max(1, x(slice.start + slice.duration - replay.launch.start) - from);
            if (chosen && each > 6) {
                context.strokeRect(from, y, width, bar);
            } else if (chosen) {
                context.fillStyle = colors.accent;
                context.fillRect(from, y, Math.max(2, width), Math.max(1.5, bar));
            } else {
                context.globalAlpha = 0.12;
                context.fillRect(from, y, 1, bar);
                context.fillRect(from + width, y, 1, bar);
                context.globalAlpha = 1;
            }
        }
    }

    private drawNames(context: CanvasRenderingContext2D, rows: GraphNode[], each: number): void {
        const { colors } = this;
        context.fillStyle = colors.soft;
        const every = each < LEAST_NAMED ? Math.ceil(NAMED / each) : 1; // where there is no room for all
        context.font = `${Math.min(11, Math.max(LEAST_NAMED, each))}px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
        this.named = rows.filter((_, place) => place % every === 0).map((row) => row.node);
        rows.forEach((row, place) => {
            if (place % every)
                return;
            const y = RULER + 1.5 + place * each + Math.max(each, Math.min(NAMED, every * each)) / 2;
            context.fillStyle = colors.soft;
            context.fillText(String(row.node), 10, y);
            context.fillStyle = colors.text;
            context.fillText(fitted(context, this.trace.shortName(row.name, lettersIn(LABELS - 54)), LABELS - 54), 46, y);
        });
    }

    private rowAt(y: number): GraphNode | undefined {
        const rows = this.inView();
        const each = Math.min(ROW, (this.canvas.clientHeight - RULER - 4) / Math.max(1, rows.length));
        return rows[Math.floor((y - RULER - 2) / each)];
    }

    private listen(): void {
        const { canvas } = this;
        let drag: { x: number; from: number; to: number; moved: boolean } | null = null;
        const time = (event: MouseEvent) => this.axis.from +
            ((event.offsetX - LABELS) / Math.max(1, canvas.clientWidth - LABELS)) * this.axis.span;
        canvas.addEventListener('wheel', (event) => {
            event.preventDefault();
            if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
                this.axis.move(((event.deltaX || event.deltaY) / canvas.clientWidth) * this.axis.span);
            else
                this.axis.zoom(Math.exp((event.deltaY * (event.deltaMode === 1 ? 16 : 1)) / 250), time(event));
        }, { passive: false });
        canvas.addEventListener('pointerdown', (event) => {
            canvas.setPointerCapture(event.pointerId);
            drag = { x: event.offsetX, from: this.axis.from, to: this.axis.to, moved: false };
        });
        canvas.addEventListener('pointermove', (event) => {
            this.pointer = event.offsetX > LABELS ? time(event) : null;
            if (drag) {
                drag.moved ||= Math.abs(event.offsetX - drag.x) > 3;
                const ns = ((drag.x - event.offsetX) / Math.max(1, canvas.clientWidth - LABELS)) * (drag.to - drag.from);
                if (drag.moved)
                    this.axis.show(drag.from + ns, drag.to + ns);
                return;
            }
            const row = this.rowAt(event.offsetY);
            if (!row) {
                hideTip();
                return;
            }
            const { duration: length, gap, offset } = row;
            showTip(event.clientX, event.clientY, [`${row.node} · ${this.trace.head.texts[row.name]}`,
                `duration p50 ${duration(length[3])}, p10 to p90 ${duration(length[1])} to ${duration(length[5])}, p99 ${duration(length[6])}, ` +
                `max ${duration(length[7])}`,
                `begins ${duration(offset[3])} after the replay (p50); gap before it p50 ${duration(gap[3])}, p99 ${duration(gap[6])}`]);
        });
        canvas.addEventListener('pointerup', (event) => {
            const row = drag && !drag.moved ? this.rowAt(event.offsetY) : undefined;
            drag = null;
            if (row) {
                this.chosenNode = row.node;
                const slice = this.chosen?.slices.find((item) => item.node - 1 === row.node);
                if (slice && event.detail === 2)
                    this.show(slice);
                this.drawNodes();
                this.draw();
            }
        });
        canvas.addEventListener('pointerleave', () => {
            this.pointer = null;
            hideTip();
        });
    }
}
