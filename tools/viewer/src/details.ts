// What is known of the event that is chosen.

import { rowOf } from './costs';
import { byId, element, link } from './dom';
import { bytes, count, duration, moment, share } from './format';
import { factsOf } from './ranges';
import { CALL, Graph, GraphNode, Launch, MARK, PUSH, START, Slice, Trace } from './trace';
import { ViewWays, viewOf } from './view';
import { Window, readWindow } from './window';

type Fact = [string, Node | string];

export interface Ways {
    /** Chooses an event in the timeline. */
    show(slice: Slice): void;
    /** Opens a graph, with one replay in front of the others. */
    openGraph(graph: Graph, launch: Launch | null): void;
    laneName(slice: Slice): string;
    /** Opens a range in the list of ranges. */
    openRange(process: number, id: number): void;
    /** What the time in view leads to. */
    view: ViewWays;
}

export class Details {
    private readonly pane = byId('details');
    private readonly chosen = element('div', { class: 'chosen', hidden: true });
    private readonly inView = element('div', {});
    private current: Slice | null = null;
    private window: Window | null = null;
    private wanted = 0;

    constructor(private readonly trace: Trace, private readonly ways: Ways) {
        this.pane.replaceChildren(this.chosen, this.inView);
        new ResizeObserver(() => this.drawView()).observe(this.pane);
    }

    clear(): void {
        this.current = null;
        this.say();
    }

    /** What is known of what is chosen; nothing if nothing is. */
    private say(...parts: (Node | string)[]): void {
        this.chosen.hidden = parts.length === 0;
        this.chosen.replaceChildren(...parts);
    }

    /** The time that is in view is another one. */
    async showView(from: number, to: number, all: boolean): Promise<void> {
        const mine = ++this.wanted;
        const window = await readWindow(this.trace, all ? this.trace.head.first : from, all ? this.trace.head.last : to, all);
        if (mine !== this.wanted)
            return;
        this.window = window;
        this.drawView();
    }

    private drawView(): void {
        if (this.window)
            this.inView.replaceChildren(viewOf(this.trace, this.window, this.pane.clientHeight - this.chosen.offsetHeight, this.ways.view));
    }

    show(slice: Slice | null): void {
        if (!slice) {
            this.clear();
            return;
        }
        this.current = slice;
        const hasOrigin = slice.lane.kind !== 'thread' || (slice.item & 3) === CALL || slice.range;
        const lists = [[...this.times(slice), ...(hasOrigin ? this.origin(slice) : [])]];
        if (slice.lane.kind === 'queue')
            lists.push(this.kernel(slice), this.counters(slice));
        else if (slice.lane.kind === 'copies')
            lists.push(this.copy(slice));
        else if (slice.lane.kind === 'thread')
            lists.push((slice.item & 3) === CALL ? this.call(slice) : this.range(slice));
        if (slice.launch)
            lists.push(this.graph(slice));
        this.say(element('h2', {}, this.trace.nameOf(slice)),
            element('div', { class: 'columns' }, ...lists.filter((list) => list.length).map((list) => this.list(list))));
        if (slice.lane.kind === 'thread' && [PUSH, START].includes(slice.item & 3))
            void this.addCosts(slice);
    }

    /** What a range cost, which is unpacked when it is first asked for. */
    private async addCosts(slice: Slice): Promise<void> {
        const { process } = slice.lane;
        const costs = await this.trace.costs();
        const row = costs ? rowOf(costs.single, process, slice.id) : -1;
        if (!costs || row < 0 || this.current !== slice)
            return;
        const [times, metrics, kernels] = factsOf(costs, costs.single, row);
        const more = link('among all ranges', () => this.ways.openRange(process, slice.id));
        this.chosen.querySelector('.columns')?.append(this.list([...times.slice(1), ['Compare', more]]), this.list(metrics),
            ...(kernels.length ? [this.list(kernels, 'number')] : []));
    }

    /** What kernels did in a time that was marked. */
    async showArea(from: number, to: number): Promise<void> {
        this.current = null;
        const { gpus, processes } = this.trace.head;
        const title = element('h2', {}, `${duration(to - from)} from ${moment(from)}`);
        this.say(title, element('p', { class: 'soft' }, '…'));
        const { tables, busy } = await readWindow(this.trace, from, to, false);
        if (this.chosen.firstChild !== title)
            return;
        const all = tables?.kernels.reduce((sum, row) => sum + row[2], 0) ?? 0;
        const nameOf = (gpu: (typeof gpus)[number]) => `${processes.length > 1 ? `process ${gpu.process}, ` : ''}GPU ${gpu.gpu ?? '?'}`;
        const parts = busy.map((part, place): Fact => [nameOf(gpus[place]),
            `busy ${tables ? '' : 'about '}${duration(part.busy)}, ${share(part.busy / part.time)}`]);
        const kernels = tables?.kernels.slice(0, 50).map(([name, calls, total]): Fact =>
            [share(total / Math.max(1, all)), `${this.trace.tableName(name)} · ${count(calls)}, ${duration(total)}`]) ??
            [['', 'There are too many events in this time to add them up, or not all of them are in this page. Mark a shorter one.']];
        this.say(title, element('div', { class: 'columns' }, this.list(parts), this.list(kernels, 'number')));
    }

    private list(facts: Fact[], type = ''): HTMLElement {
        return element('dl', {}, ...facts.flatMap(([name, value]) =>
            [element('dt', { class: type }, name), element('dd', {}, value)]));
    }

    private times(slice: Slice): Fact[] {
        const instant = slice.lane.kind === 'thread' && (slice.item & 3) === MARK;
        return [
            ['Start', moment(slice.start)],
            ...(instant ? [] : [['Duration', duration(slice.duration)] as Fact]),
            ['Clock', (BigInt(this.trace.head.trace.zero) + BigInt(Math.round(slice.start))).toString() + ' ns'],
            ['Row', this.ways.laneName(slice)],
        ];
    }

    private kernel(slice: Slice): Fact[] {
        const [, mangled, gx, gy, gz, bx, by, bz, group, scratch] = this.trace.head.kernels[slice.item];
        const groups = [[gx, bx], [gy, by], [gz, bz]].map(([grid, block]) => Math.ceil(grid / Math.max(1, block)));
        const facts: Fact[] = [
            ['Grid', `${gx} × ${gy} × ${gz} work-items`],
            ['Block', `${bx} × ${by} × ${bz}`],
            ['Groups', `${groups.join(' × ')} = ${count(groups.reduce((a, b) => a * b))}`],
            ['LDS', group ? bytes(group) : 'none'],
            ['Scratch', scratch ? `${bytes(scratch)} a work-item` : 'none'],
            ['Family', this.trace.families.get(this.trace.head.kernels[slice.item][0]) ?? 'not known'],
            ['Id', String(slice.id)],
        ];
        const text = this.trace.head.texts[mangled];
        if (text && text !== this.trace.nameOf(slice))
            facts.push(['Symbol', text]);
        return facts;
    }

    /** What hardware counters counted. */
    private counters(slice: Slice): Fact[] {
        return slice.counts.map(([counter, value]) => [this.trace.head.counters[counter], count(value)]);
    }

    private copy(slice: Slice): Fact[] {
        const [, engine, src, dst] = this.trace.head.copies[slice.item];
        const agent = (number: number) => {
            const found = this.trace.head.agents.find((item) => item.process === slice.lane.process && item.agent === number);
            return found ? found.gpu === null ? found.type : `GPU ${found.gpu}` : 'not known';
        };
        return [
            ['Bytes', `${bytes(slice.more)} (${count(slice.more)})`],
            ['Rate', slice.duration ? `${(slice.more / slice.duration).toFixed(2)} GB/s` : 'not known'],
            ['From', agent(src)],
            ['To', agent(dst)],
            ['Engine', this.trace.head.texts[engine]],
        ];
    }

    private call(slice: Slice): Fact[] {
        const result: Fact = ['Result', slice.more ? `${slice.more} (failed)` : '0'];
        return [result, ['Arguments', slice.text || 'none'], ['Correlation', String(slice.correlation)]];
    }

    private range(slice: Slice): Fact[] {
        const type = slice.item & 3;
        const kind = type === MARK ? 'mark' : type === START ? 'range, stopped by hand' : 'range';
        return [['Kind', slice.more ? `${kind}, never ended` : kind], ['Id', String(slice.id)]];
    }

    /** The node of a replayed kernel. */
    private nodeOf(slice: Slice): GraphNode | undefined {
        const launch = this.trace.launchOf(slice);
        return launch ? this.trace.graphOf(launch)?.rows.find((row) => row.node === slice.node - 1) : undefined;
    }

    private graph(slice: Slice): Fact[] {
        const launch = this.trace.launchOf(slice) as Launch;
        const graph = this.trace.graphOf(launch);
        const facts: Fact[] = [
            ['Graph', graph ? link(`graph ${launch.graph}, generation ${launch.generation}`,
                () => this.ways.openGraph(graph, launch)) : `graph ${launch.graph}`],
            ['Replay', `${launch.launch} of ${count(graph?.launches ?? 0)}, ${duration(launch.duration)}`],
        ];
        if (slice.lane.kind !== 'queue')
            return launch.cut ? facts : [...facts, ['Kernels', `${count(launch.kernels)} of ${count(launch.expected)}`],
                ['Idle in it', `${duration(launch.idle)} (${share(launch.idle / Math.max(1, launch.duration))})`]];
        facts.push(['Node', slice.node ? String(slice.node - 1) : 'not known']);
        const node = this.nodeOf(slice);
        if (node && node.count > 0) {
            const change = slice.duration / Math.max(1, node.duration[3]) - 1;
            facts.push(['Of this node', `p50 ${duration(node.duration[3])}, p99 ${duration(node.duration[6])}`]);
            facts.push(['This one', `${change < 0 ? '−' : '+'}${share(Math.abs(change))} of p50`]);
        }
        facts.push(['In the replay', `${duration(slice.start - launch.start)} after its begin`]);
        return facts;
    }

    /** The call and the range, which come later where their segment must be unpacked first. */
    private origin(slice: Slice): Fact[] {
        const facts: Fact[] = [];
        const { process, kind } = slice.lane;
        const later = (find: Promise<Slice | null>, none: string, text: (found: Slice) => (Node | string)[]) => {
            const place = element('span', { class: 'soft' }, '…');
            void find.then((found) => {
                if (this.current === slice)
                    place.replaceChildren(...(found ? text(found) : [none]));
                if (found)
                    place.classList.remove('soft');
            });
            return place;
        };
        if (kind === 'idle')
            return [['Ended by', slice.correlation ? later(this.trace.call(process, slice.correlation), 'not in this page', (call) =>
                [link(this.trace.nameOf(call), () => this.ways.show(call)), ` in thread ${call.lane.thread}, which submitted what ran then`]) :
                'work whose call is not recorded']];
        if (kind !== 'thread') {
            facts.push(['Call', slice.correlation ? later(this.trace.call(process, slice.correlation), 'not in this page', (call) =>
                [link(this.trace.nameOf(call), () => this.ways.show(call)), ` in thread ${call.lane.thread}`]) : 'none is recorded']);
            if (slice.correlation)
                facts.push(['Call to begin', later(this.trace.call(process, slice.correlation), 'not known', (call) =>
                    [duration(slice.start - call.start)])]);
        } else if ((slice.item & 3) === CALL) {
            facts.push(['On the GPU', later(this.trace.work(process, slice.correlation, 1).then((list) => list[0] ?? null), 'nothing',
                (work) => [link(this.trace.nameOf(work), () => this.ways.show(work)), ` (${duration(work.start - slice.start)} later)`])]);
        }
        const rangeFact = (id: number) => (id ? later(this.trace.range(process, id), 'not in this page', (range) =>
            [link(this.trace.nameOf(range), () => this.ways.show(range))]) : 'none');
        facts.push(['Range', rangeFact(slice.range)]);
        const captured = kind === 'queue' ? this.nodeOf(slice)?.range : undefined;
        if (captured)
            facts.push(['Captured in', rangeFact(captured)]);
        return facts;
    }
}
