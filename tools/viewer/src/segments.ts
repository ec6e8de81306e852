// Single events of stretches of time, in the order of time, each unpacked when it is wanted.

import { above } from './bins';
import { Reader } from './bytes';
import type { Count, Lane, Slice } from './trace';

/** What the head tells of a segment. */
export interface SegmentHead {
    from: number; // what begins in [from, to) is in it
    to: number;
    events: number;
    kept: boolean; // it is there
    ids: number[][];
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

function readSegment(number: number, bytes: Uint8Array<ArrayBuffer>): Segment {
    const reader = new Reader(bytes);
    const segment: Segment = { number, lanes: new Map(), texts: [], samples: [] };
    for (let left = reader.varint(); left > 0; --left)
        segment.lanes.set(reader.varint(), readColumns(reader));
    for (let left = reader.varint(); left > 0; --left)
        segment.texts.push(reader.text());
    for (let left = reader.varint(); left > 0; --left)
        segment.samples.push(Array.from({ length: reader.varint() }, (): Count => [reader.varint(), reader.varint()]));
    return segment;
}

export abstract class Segments {
    /** Called when a segment has come, or the page has been read to its end. */
    onload: () => void = () => {};
    private readonly loaded = new Map<number, Segment>();
    private readonly loading = new Map<number, Promise<Segment | null>>();
    private readonly starts: Float64Array;

    constructor(readonly heads: SegmentHead[]) {
        this.starts = Float64Array.from(heads, (segment) => segment.from);
    }

    /** The bytes of a segment that is kept; null: they are not there after all. */
    protected abstract bytesOf(number: number): Promise<Uint8Array<ArrayBuffer> | null>;

    /** Numbers rows and items as the page does. */
    protected adapt(segment: Segment): Segment {
        return segment;
    }

    /** Events of a row that are in no segment. */
    abstract crossingsOf(lane: Lane): Slice[];

    /** Numbers of the segments that have events which begin in [from, to), and the one before. */
    segmentsOf(from: number, to: number): [number, number] {
        const first = Math.max(0, above(this.starts, from) - 1);
        return [first, Math.max(first, above(this.starts, to))];
    }

    /** Is no event of [from, to) left out? */
    has(from: number, to: number): boolean {
        const [first, last] = this.segmentsOf(from, to);
        for (let number = first; number < last; ++number)
            if (!this.heads[number].kept)
                return false;
        return true;
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

    /** Unpacks a segment. null: it is not there. */
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
        const bytes = this.heads[number]?.kept ? await this.bytesOf(number) : null;
        if (!bytes)
            return null;
        const segment = this.adapt(readSegment(number, bytes));
        this.loaded.set(number, segment);
        for (const oldest of this.loaded.keys()) {
            if (this.loaded.size <= KEPT)
                break;
            this.loaded.delete(oldest);
        }
        this.onload();
        return segment;
    }
}
