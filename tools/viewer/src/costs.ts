// What ranges cost: the part of the page that is unpacked when ranges are looked at (tools/export/html_ranges.c).

import { Reader } from './bytes';

export interface Metric {
    name: string;
    unit: string;
    rule: string;
    formula: string;
    recorded: boolean; // the trace was made for it
}

/** Kernels of one name in a range: name (a text of the costs), how many, ns. */
export type RangeKernels = [number, number, number];

/** Columns of a table, in the order in which they are written; the first five as differences. */
const COLUMNS = ['id', 'start', 'first', 'last', 'parent', 'name', 'process', 'thread', 'kind', 'ranges', 'open', 'shared', 'wall', 'kernels',
    'kernelTime', 'busy', 'overlap', 'copies', 'copyBytes', 'copyTime', 'copying', 'copyOverlap', 'active', 'idle', 'launches'] as const;
const DIFFERENCES = 5;

export type Column = (typeof COLUMNS)[number];

/** Ranges one by one (an outer one before its inner ones, `parent` is its place + 1), or merged by their path of names. Times in ns;
 * of merged ones sums, but `start`, `last` and `id` are those of the longest. */
export interface RangeTable {
    size: number;
    columns: Record<Column, Float64Array>;
    depth: Uint16Array;
    metrics: Float64Array[]; // NaN: it has no value
    kernels: RangeKernels[][];
    further: Float64Array; // names of kernels that are not among `kernels`
}

export interface Costs {
    metrics: Metric[];
    texts: string[];
    outside: number; // kernels in no range
    leftOut: number; // ranges that are only among the merged ones
    single: RangeTable;
    merged: RangeTable;
}

function readColumn(reader: Reader, size: number, differences: boolean): Float64Array {
    const values = new Float64Array(size);
    if (!reader.varint())
        return values.fill(reader.varint());
    for (let i = 0, before = 0; i < size; ++i)
        values[i] = differences ? before += reader.signed() : reader.varint();
    return values;
}

function readTable(reader: Reader, metrics: Metric[]): RangeTable {
    const size = reader.varint();
    const columns = {} as Record<Column, Float64Array>;
    COLUMNS.forEach((name, place) => (columns[name] = readColumn(reader, size, place < DIFFERENCES)));
    const values = metrics.map(({ rule }) => Float64Array.from({ length: size }, () => reader.optional(rule !== 'ratio of sums')));
    const further = new Float64Array(size);
    const kernels = Array.from({ length: size }, (_, row) => {
        const shown = reader.varint();
        further[row] = reader.varint();
        return Array.from({ length: shown }, (): RangeKernels => [reader.varint(), reader.varint(), reader.varint()]);
    });
    const depth = new Uint16Array(size);
    for (let row = 0; row < size; ++row)
        depth[row] = columns.parent[row] ? depth[columns.parent[row] - 1] + 1 : 0;
    return { size, columns, depth, metrics: values, kernels, further };
}

export function readCosts(bytes: Uint8Array<ArrayBuffer>): Costs {
    const reader = new Reader(bytes);
    const head = JSON.parse(reader.text()) as { metrics: Metric[]; texts: string[]; outside: number; left_out: number };
    return {
        metrics: head.metrics, texts: head.texts, outside: head.outside, leftOut: head.left_out,
        single: readTable(reader, head.metrics), merged: readTable(reader, head.metrics),
    };
}

/** The row of a range, -1 if it is not there. */
export function rowOf(table: RangeTable, process: number, id: number): number {
    for (let row = 0; row < table.size; ++row)
        if (table.columns.id[row] === id && table.columns.process[row] === process)
            return row;
    return -1;
}
