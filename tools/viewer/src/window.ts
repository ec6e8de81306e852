// What there was in a time: names with their calls and times, how busy GPUs were, and when they were idle for longest. Kernels count whole, also
// where they begin before, and busy times are of what is inside: as in `rtl summary --from --to`.

import { above } from './bins';
import { Busy, busyByBins, busyOfAll, recordedPart } from './busy';
import { CALL, Lane, MARK, TableName, TableRow, Trace } from './trace';

const MOST_SEGMENTS = 32; // that are added up

/** A time in which a GPU was idle. */
export interface Gap {
    lane: Lane;
    from: number;
    to: number;
    cause: number; // a text of the page: what the host did at its end
}

export interface Window {
    from: number;
    to: number;
    all: boolean; // it is all of the page
    busy: Busy[]; // as head.gpus
    /** null: there are too many events in it, or the page does not have all of them. */
    tables: Record<TableName, TableRow[]> | null;
    gaps: Gap[]; // the longest first
    someGaps: boolean; // they are of the longest of all of the page
}

type Interval = [start: number, end: number, name: number];

/** Events of a name. */
interface Sum {
    durations: number[];
    failed: number;
    bytes: number;
    lane: number;
    start: number; // of the longest
    most: number;
    own: number;
}

function quantile(sorted: Float64Array, part: number): number {
    return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)];
}

function rowOf(name: number, sum: Sum): TableRow {
    const sorted = Float64Array.from(sum.durations).sort();
    const total = sum.durations.reduce((a, b) => a + b, 0);
    return [name, sorted.length, total, sorted[0], quantile(sorted, 0.5), quantile(sorted, 0.99), sorted[sorted.length - 1], sum.failed,
        sum.bytes, sum.lane, sum.start, sum.own];
}

/** How long [from, to) is covered by intervals. */
function covered(list: Interval[], from: number, to: number): number {
    let until = from;
    return list.sort((a, b) => a[0] - b[0]).reduce((sum, [start, end]) => {
        const part = Math.min(to, end) - Math.max(until, start);
        until = Math.max(until, end);
        return sum + Math.max(0, part);
    }, 0);
}

/** Gives each time of a thread to the range that began last of those that are open, as tools/export/html_own.h does. */
function ownTimes(ranges: Interval[], from: number, to: number, add: (name: number, ns: number) => void): void {
    const open: Interval[] = [];
    let at = from;
    const advance = (until: number) => {
        for (let last = open[open.length - 1]; last; last = open[open.length - 1]) {
            const end = Math.min(last[1], until);
            if (end > at)
                add(last[2], end - at);
            at = Math.max(at, end);
            if (last[1] > until)
                return;
            open.pop();
        }
    };
    for (const range of ranges.sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
        advance(Math.min(range[0], to));
        at = Math.max(at, Math.min(range[0], to));
        open.push(range);
    }
    advance(to);
}

class Reading {
    readonly busy: Interval[][];
    readonly idle = new Map<Lane, Interval[]>();
    private readonly sums: Record<TableName, Map<number, Sum>> = { kernels: new Map(), calls: new Map(), copies: new Map(), ranges: new Map() };
    private readonly ranges = new Map<string, Interval[]>(); // by thread
    private readonly rangeNames: Map<string, number>;

    constructor(private readonly trace: Trace, private readonly from: number, private readonly to: number) {
        this.busy = trace.head.gpus.map(() => []);
        this.rangeNames = new Map(trace.head.tables.ranges.map((row) => [trace.head.texts[row[0]], row[0]]));
    }

    /** An event, if it is in the time. `range`: the name of one. */
    take(lane: Lane, item: number, start: number, end: number, more: number, range: string): void {
        const { trace } = this;
        if (start >= this.to || (end <= this.from && start < this.from))
            return;
        switch (lane.kind) {
        case 'queue':
            this.busy[trace.head.gpus.findIndex((gpu) => gpu.process === lane.process && gpu.gpu === lane.gpu)]?.push([start, end, 0]);
            this.add('kernels', trace.nameNumber(lane, item), lane, start, end, 0, 0);
            return;
        case 'copies':
            this.add('copies', trace.nameNumber(lane, item), lane, start, end, 0, more);
            return;
        case 'idle':
            this.of(this.idle, lane).push([start, end, item]);
            return;
        case 'thread':
            if ((item & 3) === CALL)
                this.add('calls', trace.nameNumber(lane, item), lane, start, end, Number(more !== 0), 0);
            else
                this.addRange(lane, item, start, end, range);
        }
    }

    private of<K>(map: Map<K, Interval[]>, key: K): Interval[] {
        let list = map.get(key);
        if (!list)
            map.set(key, (list = []));
        return list;
    }

    private addRange(lane: Lane, item: number, start: number, end: number, text: string): void {
        const { tables } = this.trace.head;
        const name = this.rangeNames.get(text) ?? tables.ranges[tables.ranges.length - 1][0];
        this.add('ranges', name, lane, start, end, 0, 0);
        if ((item & 3) !== MARK)
            this.of(this.ranges, `${lane.process} ${lane.thread}`).push([start, end, name]);
    }

    private add(table: TableName, name: number, lane: Lane, start: number, end: number, failed: number, bytes: number): void {
        let sum = this.sums[table].get(name);
        if (!sum)
            this.sums[table].set(name, (sum = { durations: [], failed: 0, bytes: 0, lane: 0, start: 0, most: -1, own: 0 }));
        sum.durations.push(end - start);
        sum.failed += failed;
        sum.bytes += bytes;
        if (end - start > sum.most)
            [sum.most, sum.lane, sum.start] = [end - start, lane.place, start];
    }

    tables(): Record<TableName, TableRow[]> {
        for (const list of this.ranges.values())
            ownTimes(list, this.from, this.to, (name, ns) => ((this.sums.ranges.get(name) as Sum).own += ns));
        const rows = (table: TableName) => [...this.sums[table]].map(([name, sum]) => rowOf(name, sum)).sort((a, b) => b[2] - a[2]);
        return { kernels: rows('kernels'), calls: rows('calls'), copies: rows('copies'), ranges: rows('ranges') };
    }

    /** Pieces of one gap follow each other at once. */
    gaps(): Gap[] {
        const gaps: Gap[] = [];
        for (const [lane, pieces] of this.idle) {
            pieces.sort((a, b) => a[0] - b[0]).forEach(([from, to, cause], i) => {
                const last = gaps[gaps.length - 1];
                if (i > 0 && last.to === from)
                    [last.to, last.cause] = [to, cause];
                else
                    gaps.push({ lane, from, to, cause });
            });
        }
        for (const gap of gaps)
            [gap.from, gap.to] = [Math.max(gap.from, this.from), Math.min(gap.to, this.to)];
        return gaps.sort((a, b) => b.to - b.from - (a.to - a.from));
    }
}

/** Those that the head tells of, which are the longest of the page. */
function longestGaps(trace: Trace, from: number, to: number): Gap[] {
    return trace.head.gaps.flatMap(([process, gpu, begin, end, cause]) => {
        const lane = trace.lanes.find((item) => item.kind === 'idle' && item.process === process && item.gpu === gpu);
        return lane && begin < to && end > from ? [{ lane, from: begin, to: end, cause }] : [];
    });
}

async function read(trace: Trace, from: number, to: number): Promise<Reading | null> {
    const source = trace.at(from, to);
    const [first, last] = source.segmentsOf(from, to);
    if (last - first > MOST_SEGMENTS || !source.has(from, to))
        return null;
    const reading = new Reading(trace, from, to);
    for (const lane of trace.lanes)
        for (const slice of source.crossingsOf(lane))
            reading.take(lane, slice.item, slice.start, slice.start + slice.duration, slice.more, slice.text);
    for (let number = first; number < last; ++number) {
        const segment = await source.segment(number);
        if (!segment)
            return null;
        for (const [place, { size, start, end, item, more }] of segment.lanes)
            for (let i = Math.max(0, above(end, from - 1)); i < size && start[i] < to; ++i)
                reading.take(trace.lanes[place], item[i], start[i], end[i], more[i], item[i] & 3 ? segment.texts[Math.floor(item[i] / 4)] ?? '' : '');
    }
    return reading;
}

/** What there is in [from, to); `all`: that is all of the page. */
export async function readWindow(trace: Trace, from: number, to: number, all: boolean): Promise<Window> {
    const places = [...trace.head.gpus.keys()];
    if (all)
        return { from, to, all, busy: places.map((place) => busyOfAll(trace, place)), tables: trace.head.tables, gaps: longestGaps(trace, from, to),
            someGaps: true };
    const [begin, end] = recordedPart(trace, Math.round(from), Math.round(to));
    const reading = await read(trace, begin, end);
    if (!reading)
        return { from: begin, to: end, all, busy: places.map((place) => busyByBins(trace, place, begin, end)), tables: null,
            gaps: longestGaps(trace, begin, end), someGaps: true };
    return { from: begin, to: end, all, tables: reading.tables(), gaps: reading.gaps(), someGaps: false,
        busy: reading.busy.map((list) => ({ busy: covered(list, begin, end), time: Math.max(1, end - begin) })) };
}
