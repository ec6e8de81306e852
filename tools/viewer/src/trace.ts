// The trace in the page: what the head tells at once, and segments of single events.

import { Bins, above, levelsOf, readBins } from './bins';
import { Reader, unpack } from './bytes';
import { Costs, Metric, readCosts } from './costs';
import type { Near } from './near';
import { Columns, Segment, SegmentHead, Segments } from './segments';

export type Kind = 'thread' | 'queue' | 'copies' | 'replays' | 'idle';

/** least, p10, p25, p50, p75, p90, p99, most, mean, deviation */
export type Spread = [number, number, number, number, number, number, number, number, number, number];

export interface GraphNode {
    node: number;
    type: string;
    name: number;
    count: number;
    gpu: number | null;
    queue: number | null;
    waits: number[];
    range?: number; // that it was captured in
    duration: Spread;
    offset: Spread;
    gap: Spread;
}

export interface Graph {
    process: number;
    graph: number;
    generation: number;
    source: string;
    nodes: number | null;
    launches: number;
    kernels: number;
    expected: number;
    unknown: number;
    rows: GraphNode[];
}

/** name, calls, total, least, p50, p99, most, failed, bytes, lane and start of the longest, of ranges the time in none within */
export type TableRow = [number, number, number, number, number, number, number, number, number, number, number, number];

export type TableName = 'kernels' | 'calls' | 'copies' | 'ranges';

export interface Head {
    version: number;
    trace: {
        file: string; command: string; host: string; mode: string; creator: string; zero: string; realtime_offset: string;
        recorded: number; verdict: string; complete: boolean; kernels: number; copies: number; calls: number; ranges: number;
        exit_status: number; finished: boolean; part: string; partial_why: string;
    };
    first: number;
    last: number;
    untimed: number;
    processes: { process: number; pid: number; command: string; rank: string; mode: string; state: string }[];
    agents: { process: number; agent: number; gpu: number | null; type: string; name: string; product: string }[];
    texts: string[];
    kernels: number[][];
    copies: number[][];
    lanes: {
        process: number; kind: Kind; gpu: number | null; queue: number | null; stream: number | null; thread: number | null;
        name: string; number: number; slices: number; busy: number; shift: number; bins: number;
    }[];
    gpus: { process: number; gpu: number | null; first: number; last: number; busy: number; shift: number; bins: number }[];
    segments: SegmentHead[];
    crossings: [number, number, number, number, number, number, number, number, number, number, string | null, Count[] | null][];
    tables: Record<TableName, TableRow[]>;
    counters: string[];
    counted: { metrics: Metric[]; rows: (number | null)[][] }; // name, kernels that were counted, a value for each metric
    graphs: Graph[];
    notes: string[];
    families: [number, string][]; // of kernels' names
    replays_every: number; // launches are those of every so many
    idle_least: number; // ns; shorter idle times are not all events, but in the bins of their rows
    absent: string; // work that may have run in idle times, '': none
    short_names: [number, string, string][]; // of long kernels' names: in a table, and in little room
    window: number | null; // ns that busy times are parts of, where a window was chosen
    bounds: [number, number]; // of what was recorded, or chosen
    gaps: [number, number | null, number, number, number][]; // the longest: process, GPU, begin, end, cause
    idle_known: boolean; // false: the mode left work out, there are no idle times
}

/** What a hardware counter (a place in `head.counters`) counted. */
export type Count = [number, number];

/** One event of a row. */
export interface Slice {
    lane: Lane;
    start: number;
    duration: number;
    item: number;
    id: number;
    correlation: number;
    range: number;
    launch: number; // place in the launches + 1, 0 if none
    node: number; // + 1, 0 if none
    more: number;
    text: string; // name of a range, arguments of a call
    counts: Count[]; // during a kernel
}

export interface Lane {
    place: number;
    process: number;
    kind: Kind;
    gpu: number | null;
    queue: number | null;
    stream: number | null;
    thread: number | null;
    name: string;
    number: number;
    slices: number;
    busy: number;
    levels: Bins[];
    crossings: Slice[];
}

export interface Launch {
    place: number;
    process: number;
    graph: number;
    generation: number;
    launch: number;
    start: number;
    duration: number;
    idle: number;
    kernels: number;
    expected: number;
    correlation: number;
    thread: number;
    /** kernels of it are missing in the trace, or may be */
    partial: boolean;
    /** not all of it is here: its kernels and idle times are not known */
    cut: boolean;
}

export function readLaunches(reader: Reader): Launch[] {
    return Array.from({ length: reader.varint() }, (_, place) => ({
        place,
        process: reader.varint(),
        graph: reader.varint(),
        generation: reader.varint(),
        launch: reader.varint(),
        start: reader.signed(),
        duration: reader.varint(),
        idle: reader.varint(),
        kernels: reader.varint(),
        expected: reader.varint(),
        correlation: reader.varint(),
        thread: reader.varint(),
        partial: reader.varint() !== 0,
        cut: false,
    }));
}

/** Is an event of a row, of this item, wanted? `text` tells the name of a range. */
export type Wanted = (lane: Lane, item: number, text: () => string) => boolean;

/** Types in the low bits of what a thread's row has. */
export const CALL = 0, PUSH = 1, START = 2, MARK = 3;

export class Trace extends Segments {
    readonly lanes: Lane[] = [];
    readonly launches: Launch[];
    /** Replays that are not among those of the page; their numbers go on behind those. */
    readonly further: Launch[] = [];
    readonly gpuBins: Bins[] = [];
    /** Somebody serves the page, and gives what is not in it. */
    served = false;
    /** What was given last. */
    near: Near | null = null;
    complete = false;
    private whole: () => void = () => {};
    private readonly wholePage = new Promise<void>((resolve) => (this.whole = resolve));
    private rangeCosts: Promise<Costs | null> | null = null;

    /** Of kernels' names, by their places among the texts. */
    readonly families: Map<number, string>;

    readonly shortNames: Map<number, [string, string]>;

    private constructor(readonly head: Head, reader: Reader) {
        super(head.segments);
        this.families = new Map(head.families);
        this.shortNames = new Map(head.short_names.map(([name, inTable, inLittle]) => [name, [inTable, inLittle]]));
        head.lanes.forEach((lane, place) => {
            const { bins, shift, ...rest } = lane;
            this.lanes.push({ ...rest, place, levels: levelsOf(readBins(reader, shift, bins)), crossings: [] });
        });
        for (const gpu of head.gpus)
            this.gpuBins.push(readBins(reader, gpu.shift, gpu.bins));
        this.launches = readLaunches(reader);
        for (const [lane, start, duration, item, id, correlation, range, launch, node, more, text, counts] of head.crossings)
            this.lanes[lane].crossings.push({
                lane: this.lanes[lane], start, duration, item, id, correlation, range, launch, node, more, text: text ?? '',
                counts: counts ?? [],
            });
    }

    static async read(element: Element): Promise<Trace> {
        const reader = new Reader(await unpack(element));
        const head = JSON.parse(reader.text()) as Head;
        return new Trace(head, reader);
    }

    /** The page has been read: what is not there now does not come. */
    end(): void {
        this.complete = true;
        this.whole();
        this.onload();
    }

    /** What ranges cost, unpacked when it is first asked for. null: the page has no range. */
    costs(): Promise<Costs | null> {
        this.rangeCosts ??= this.loadCosts();
        return this.rangeCosts;
    }

    private async loadCosts(): Promise<Costs | null> {
        const element = await this.elementOf('rtl-ranges');
        return element && readCosts(await unpack(element));
    }

    protected async bytesOf(number: number): Promise<Uint8Array<ArrayBuffer> | null> {
        const element = await this.elementOf(`rtl-segment-${number}`);
        return element && unpack(element);
    }

    /** An element of the page, once the browser has read it to its end: something is behind it then. */
    private async elementOf(id: string): Promise<Element | null> {
        if (!document.getElementById(id)?.nextSibling)
            await this.wholePage;
        return document.getElementById(id);
    }

    crossingsOf(lane: Lane): Slice[] {
        return lane.crossings;
    }

    /** Where single events of [from, to] are to be taken from: the page, or what was asked for where the page leaves some out. */
    at(from: number, to: number): Segments {
        return this.near?.spans(from, to) && !this.has(from, to) ? this.near : this;
    }

    /** All that there are. */
    private get sources(): Segments[] {
        return this.near ? [this.near, this] : [this];
    }

    slice(lane: Lane, segment: Segment, columns: Columns, i: number): Slice {
        const item = columns.item[i];
        const text = lane.kind !== 'thread' ? '' : item & 3 ? segment.texts[Math.floor(item / 4)] : columns.text[i] ?
            segment.texts[columns.text[i] - 1] : '';
        return {
            lane,
            start: columns.start[i],
            duration: columns.end[i] - columns.start[i],
            item,
            id: columns.id[i],
            correlation: columns.correlation[i],
            range: columns.range[i],
            launch: columns.launch[i],
            node: columns.node[i],
            more: columns.more[i],
            text,
            counts: columns.sample[i] ? segment.samples[columns.sample[i] - 1] : [],
        };
    }

    /** The text of the page that names an event of a row; -1 where only the segment has it. */
    nameNumber(lane: Lane, item: number): number {
        switch (lane.kind) {
        case 'queue':
            return this.head.kernels[item][0];
        case 'copies':
            return this.head.copies[item][0];
        case 'thread':
            return item & 3 ? -1 : Math.floor(item / 4);
        default:
            return item;
        }
    }

    /** A text as it fits into so many letters: of a kernel's name what tells it apart stays, as in tables of a terminal. */
    shortName(name: number, letters: number): string {
        const text = this.head.texts[name];
        const [inTable, inLittle] = this.shortNames.get(name) ?? [text, text];
        return [text, inTable].find((choice) => choice.length <= letters) ?? inLittle;
    }

    /** A text as a table of the page's width shows it. */
    tableName(name: number): string {
        return this.shortNames.get(name)?.[0] ?? this.head.texts[name];
    }

    nameOf(slice: Slice): string {
        if (slice.lane.kind === 'thread' && slice.item & 3)
            return slice.text;
        const name = this.head.texts[this.nameNumber(slice.lane, slice.item)];
        return slice.lane.kind === 'replays' ? `${name} · replay ${slice.id}` : name;
    }

    launchOf(slice: Slice): Launch | null {
        return this.launches[slice.launch - 1] ?? this.further[slice.launch - 1 - this.launches.length] ?? null;
    }

    graphOf(launch: Launch): Graph | null {
        return this.head.graphs.find((graph) => graph.process === launch.process && graph.graph === launch.graph &&
            graph.generation === launch.generation) ?? null;
    }

    launchesOf(graph: Graph): Launch[] {
        return this.launches.filter((launch) => launch.process === graph.process && launch.graph === graph.graph &&
            launch.generation === graph.generation);
    }

    /** Slices of a process for which `is` holds, of rows of these kinds, in the segments whose ids (three pairs from `pair`)
     * have `id`; at most `most`. */
    private async find(process: number, kinds: Kind[], pair: number, id: number, is: (slice: Slice) => boolean,
                       column: 'id' | 'correlation', most: number): Promise<Slice[]> {
        const found: Slice[] = [];
        const take = (slice: Slice) => {
            if (slice[column] === id && is(slice) && found.length < most &&
                !found.some((other) => other.lane.kind === slice.lane.kind && other.id === slice.id && other.start === slice.start))
                found.push(slice);
        };
        const lanes = this.lanes.filter((lane) => lane.process === process && kinds.includes(lane.kind));
        for (const source of this.sources) {
            lanes.forEach((lane) => source.crossingsOf(lane).forEach(take));
            for (let number = 0; number < source.heads.length && found.length < most; ++number) {
                const ids = source.heads[number].ids.find((list) => list[0] === process);
                if (!ids || id < ids[pair] || id > ids[pair + 1])
                    continue;
                const segment = await source.segment(number);
                for (const lane of lanes) {
                    const columns = segment?.lanes.get(lane.place);
                    for (let i = 0; columns && i < columns.size && found.length < most; ++i)
                        if (columns[column][i] === id)
                            take(this.slice(lane, segment as Segment, columns, i));
                }
            }
        }
        return found;
    }

    /** The host call of a correlation. */
    async call(process: number, correlation: number): Promise<Slice | null> {
        const found = await this.find(process, ['thread'], 1, correlation, (slice) => (slice.item & 3) === CALL, 'correlation', 1);
        return found[0] ?? null;
    }

    async range(process: number, id: number): Promise<Slice | null> {
        const found = await this.find(process, ['thread'], 3, id, (slice) => (slice.item & 3) !== CALL, 'id', 1);
        return found[0] ?? null;
    }

    /** Kernels and copies of a host call, at most `most`. */
    work(process: number, correlation: number, most: number): Promise<Slice[]> {
        return this.find(process, ['queue', 'copies'], 5, correlation, () => true, 'correlation', most);
    }

    /** Kernels of a launch. */
    async kernelsOf(launch: Launch): Promise<Slice[]> {
        const found: Slice[] = [];
        const source = this.at(launch.start, launch.start + launch.duration);
        const [first, last] = source.segmentsOf(launch.start, launch.start + launch.duration);
        for (const lane of this.lanes)
            if (lane.kind === 'queue')
                found.push(...source.crossingsOf(lane).filter((slice) => slice.launch === launch.place + 1));
        for (let number = first; number < last; ++number) {
            const segment = await source.segment(number);
            for (const [place, columns] of segment?.lanes ?? []) {
                if (this.lanes[place].kind !== 'queue')
                    continue;
                const end = above(columns.start, launch.start + launch.duration);
                for (let i = above(columns.start, launch.start - 1); i < end; ++i)
                    if (columns.launch[i] === launch.place + 1)
                        found.push(this.slice(this.lanes[place], segment as Segment, columns, i));
            }
        }
        return found.sort((a, b) => a.start - b.start);
    }

    /** The next event of these rows after (or before) `start` that `is` one of those wanted, of `least` ns. */
    async next(lanes: Lane[], start: number, forward: boolean, is: Wanted, least = 0): Promise<Slice | null> {
        let found: Slice | null = null;
        for (const source of this.sources)
            found = await this.nextIn(source, lanes, start, forward, is, least, found);
        return found;
    }

    /** `known`: one that has been found elsewhere, which may be nearer. */
    private async nextIn(source: Segments, lanes: Lane[], start: number, forward: boolean, is: Wanted, least: number,
                         known: Slice | null): Promise<Slice | null> {
        const better = (a: Slice | null, b: number) => !a || (forward ? b < a.start : b > a.start);
        let crossing = known;
        for (const lane of lanes)
            for (const slice of source.crossingsOf(lane))
                if ((forward ? slice.start > start : slice.start < start) && better(crossing, slice.start) && slice.duration >= least &&
                    is(lane, slice.item, () => slice.text))
                    crossing = slice;
        const [first, last] = source.segmentsOf(start, start);
        for (let number = forward ? first : last - 1; number >= 0 && number < source.heads.length; number += forward ? 1 : -1) {
            const { from, to } = source.heads[number];
            if (crossing && (forward ? from > crossing.start : to <= crossing.start))
                break;
            const segment = await source.segment(number);
            let best: Slice | null = null;
            for (const lane of segment ? lanes : []) {
                const texts = (segment as Segment).texts;
                const columns = (segment as Segment).lanes.get(lane.place);
                if (!columns)
                    continue;
                let i = forward ? above(columns.start, start) : above(columns.start, start - 0.5) - 1;
                while (i >= 0 && i < columns.size && better(best, columns.start[i])) {
                    if (columns.end[i] - columns.start[i] >= least && is(lane, columns.item[i], () => texts[Math.floor(columns.item[i] / 4)]))
                        best = this.slice(lane, segment as Segment, columns, i);
                    i += forward ? 1 : -1;
                }
            }
            if (best)
                return crossing && !better(best, crossing.start) ? best : crossing ?? best;
        }
        return crossing;
    }
}
