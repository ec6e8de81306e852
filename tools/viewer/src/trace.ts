// The trace in the page: what the head tells at once, and segments of single events that are unpacked when they are wanted.

import { Bins, above, levelsOf, readBins } from './bins';
import { Reader, unpack } from './bytes';
import { Costs, Metric, readCosts } from './costs';

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

interface Head {
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
    segments: { from: number; to: number; events: number; kept: boolean; ids: number[][] }[];
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

/** The events of a row in a segment, column by column. */
export interface Columns {
    size: number;
    start: Float64Array;
    end: Float64Array;
    busy: Float64Array; // ns, of all up to and with this one
    item: Float64Array;
    id: Float64Array;
    correlation: Float64Array;
    range: Float64Array;
    launch: Float64Array;
    node: Float64Array;
    more: Float64Array;
    text: Float64Array;
    sample: Float64Array; // + 1, 0 if none
}

export interface Segment {
    number: number;
    lanes: Map<number, Columns>;
    texts: string[];
    samples: Count[][];
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
}

/** Is an event of a row, of this item, wanted? `text` tells the name of a range. */
export type Wanted = (lane: Lane, item: number, text: () => string) => boolean;

/** Types in the low bits of what a thread's row has. */
export const CALL = 0, PUSH = 1, START = 2, MARK = 3;

const KEPT = 64; // segments that stay unpacked

function readColumn(reader: Reader, size: number): Float64Array {
    const values = new Float64Array(size);
    const varies = reader.varint();
    const first = reader.signed();
    values[0] = first;
    if (varies)
        for (let i = 1; i < size; ++i)
            values[i] = reader.signed();
    else
        values.fill(first);
    return values;
}

function summed(values: Float64Array): Float64Array {
    for (let i = 1; i < values.length; ++i)
        values[i] += values[i - 1];
    return values;
}

function readColumns(reader: Reader): Columns {
    const size = reader.varint();
    const gaps = readColumn(reader, size);
    const lengths = readColumn(reader, size);
    const start = new Float64Array(size);
    const end = new Float64Array(size);
    const busy = new Float64Array(size);
    for (let i = 0, at = 0, sum = 0; i < size; ++i) {
        start[i] = at + gaps[i];
        at = end[i] = start[i] + lengths[i];
        busy[i] = sum += lengths[i];
    }
    const item = readColumn(reader, size);
    const id = summed(readColumn(reader, size));
    const correlation = summed(readColumn(reader, size));
    const range = summed(readColumn(reader, size));
    const launch = summed(readColumn(reader, size));
    const node = summed(readColumn(reader, size));
    const more = readColumn(reader, size);
    const text = readColumn(reader, size);
    const sample = summed(readColumn(reader, size));
    return { size, start, end, busy, item, id, correlation, range, launch, node, more, text, sample };
}

export class Trace {
    readonly lanes: Lane[] = [];
    readonly launches: Launch[] = [];
    readonly gpuBins: Bins[] = [];
    /** Called when a segment has come, or the page has been read to its end. */
    onload: () => void = () => {};
    complete = false;
    private readonly loaded = new Map<number, Segment>();
    private readonly loading = new Map<number, Promise<Segment | null>>();
    private whole: () => void = () => {};
    private readonly wholePage = new Promise<void>((resolve) => (this.whole = resolve));
    private readonly starts: Float64Array;
    private rangeCosts: Promise<Costs | null> | null = null;

    /** Of kernels' names, by their places among the texts. */
    readonly families: Map<number, string>;

    private readonly shortNames: Map<number, [string, string]>;

    private constructor(readonly head: Head, reader: Reader) {
        this.families = new Map(head.families);
        this.shortNames = new Map(head.short_names.map(([name, inTable, inLittle]) => [name, [inTable, inLittle]]));
        this.starts = Float64Array.from(head.segments, (segment) => segment.from);
        head.lanes.forEach((lane, place) => {
            const { bins, shift, ...rest } = lane;
            this.lanes.push({ ...rest, place, levels: levelsOf(readBins(reader, shift, bins)), crossings: [] });
        });
        for (const gpu of head.gpus)
            this.gpuBins.push(readBins(reader, gpu.shift, gpu.bins));
        this.readLaunches(reader);
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

    private readLaunches(reader: Reader): void {
        const size = reader.varint();
        for (let place = 0; place < size; ++place)
            this.launches.push({
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
            });
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
        if (!document.getElementById('rtl-ranges'))
            await this.wholePage;
        const element = document.getElementById('rtl-ranges');
        return element && readCosts(await unpack(element));
    }

    /** Numbers of the segments that have events which begin in [from, to), and the one before. */
    segmentsOf(from: number, to: number): [number, number] {
        const first = Math.max(0, above(this.starts, from) - 1);
        return [first, Math.max(first, above(this.starts, to))];
    }

    /** The segment, if it is unpacked. */
    peek(number: number): Segment | null {
        const segment = this.loaded.get(number);
        if (!segment)
            return null;
        this.loaded.delete(number);
        this.loaded.set(number, segment);
        return segment;
    }

    /** Unpacks a segment. null: the page does not have it. */
    segment(number: number): Promise<Segment | null> {
        const there = this.peek(number);
        if (there)
            return Promise.resolve(there);
        let promise = this.loading.get(number);
        if (!promise) {
            promise = this.load(number).finally(() => this.loading.delete(number));
            this.loading.set(number, promise);
        }
        return promise;
    }

    private async load(number: number): Promise<Segment | null> {
        if (!this.head.segments[number]?.kept)
            return null;
        if (!document.getElementById(`rtl-segment-${number}`))
            await this.wholePage;
        const element = document.getElementById(`rtl-segment-${number}`);
        if (!element)
            return null;
        const reader = new Reader(await unpack(element));
        const segment: Segment = { number, lanes: new Map(), texts: [], samples: [] };
        for (let left = reader.varint(); left > 0; --left)
            segment.lanes.set(reader.varint(), readColumns(reader));
        for (let left = reader.varint(); left > 0; --left)
            segment.texts.push(reader.text());
        for (let left = reader.varint(); left > 0; --left)
            segment.samples.push(Array.from({ length: reader.varint() }, (): Count => [reader.varint(), reader.varint()]));
        this.loaded.set(number, segment);
        for (const oldest of this.loaded.keys()) {
            if (this.loaded.size <= KEPT)
                break;
            this.loaded.delete(oldest);
        }
        this.onload();
        return segment;
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
        return slice.launch ? this.launches[slice.launch - 1] : null;
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
        for (const lane of this.lanes)
            if (lane.process === process && kinds.includes(lane.kind))
                for (const slice of lane.crossings)
                    if (slice[column] === id && is(slice) && found.length < most)
                        found.push(slice);
        for (let number = 0; number < this.head.segments.length && found.length < most; ++number) {
            const ids = this.head.segments[number].ids.find((list) => list[0] === process);
            if (!ids || id < ids[pair] || id > ids[pair + 1])
                continue;
            const segment = await this.segment(number);
            for (const [place, columns] of segment?.lanes ?? []) {
                const lane = this.lanes[place];
                if (lane.process !== process || !kinds.includes(lane.kind))
                    continue;
                for (let i = 0; i < columns.size && found.length < most; ++i)
                    if (columns[column][i] === id) {
                        const slice = this.slice(lane, segment as Segment, columns, i);
                        if (is(slice))
                            found.push(slice);
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
        const [first, last] = this.segmentsOf(launch.start, launch.start + launch.duration);
        for (const lane of this.lanes)
            if (lane.kind === 'queue')
                found.push(...lane.crossings.filter((slice) => slice.launch === launch.place + 1));
        for (let number = first; number < last; ++number) {
            const segment = await this.segment(number);
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
        const better = (a: Slice | null, b: number) => !a || (forward ? b < a.start : b > a.start);
        let crossing: Slice | null = null;
        for (const lane of lanes)
            for (const slice of lane.crossings)
                if ((forward ? slice.start > start : slice.start < start) && better(crossing, slice.start) && slice.duration >= least &&
                    is(lane, slice.item, () => slice.text))
                    crossing = slice;
        const [first, last] = this.segmentsOf(start, start);
        for (let number = forward ? first : last - 1; number >= 0 && number < this.head.segments.length; number += forward ? 1 : -1) {
            const { from, to } = this.head.segments[number];
            if (crossing && (forward ? from > crossing.start : to <= crossing.start))
                break;
            const segment = await this.segment(number);
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
