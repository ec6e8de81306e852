// How busy a row is, at several widths (tools/export/html_bins.h).

import { Reader } from './bytes';

/** Stretches of time in order, each with how long it is busy. */
export interface Bins {
    width: number; // ns, the narrowest
    size: number;
    start: Float64Array;
    end: Float64Array;
    busy: Float64Array; // ns, of all up to and with this one
    count: Float64Array; // of things that begin, of all up to and with this one
    name: Uint32Array;
}

function make(size: number, width: number): Bins {
    return {
        width,
        size,
        start: new Float64Array(size),
        end: new Float64Array(size),
        busy: new Float64Array(size),
        count: new Float64Array(size),
        name: new Uint32Array(size),
    };
}

export function readBins(reader: Reader, shift: number, size: number): Bins {
    const width = 2 ** shift;
    const bins = make(size, width);
    let at = 0;
    let busy = 0;
    let count = 0;
    for (let i = 0; i < size; ++i) {
        const first = at + reader.varint();
        at = first + reader.varint();
        busy += reader.varint();
        count += reader.varint();
        bins.start[i] = first * width;
        bins.end[i] = at * width;
        bins.busy[i] = busy;
        bins.count[i] = count;
        bins.name[i] = reader.varint();
    }
    return bins;
}

/** The same at a greater width: what lies in one wider bin becomes one. */
function coarser(fine: Bins, width: number): Bins {
    const to = make(fine.size, width);
    let size = 0;
    let best = 0;
    let before = 0;
    for (let i = 0; i < fine.size; ++i) {
        const busy = fine.busy[i] - (i ? fine.busy[i - 1] : 0);
        const joins = size > 0 && fine.end[i] <= (Math.floor(to.start[size - 1] / width) + 1) * width;
        if (!joins) {
            to.start[size] = fine.start[i];
            before = size++;
            best = -1;
        }
        if (busy > best) {
            best = busy;
            to.name[before] = fine.name[i];
        }
        to.end[before] = fine.end[i];
        to.busy[before] = fine.busy[i];
        to.count[before] = fine.count[i];
    }
    return {
        width,
        size,
        start: to.start.slice(0, size),
        end: to.end.slice(0, size),
        busy: to.busy.slice(0, size),
        count: to.count.slice(0, size),
        name: to.name.slice(0, size),
    };
}

/** From the finest on, each with far fewer than the one before. */
export function levelsOf(finest: Bins): Bins[] {
    const levels = [finest];
    let last = finest;
    for (let width = 4 * finest.width; last.size > 256 && width < last.end[last.size - 1]; width *= 4) {
        const next = coarser(last, width);
        if (next.size < 0.7 * last.size)
            levels.push((last = next));
    }
    return levels;
}

/** The coarsest level whose bins are no wider than `width` ns, or the finest. */
export function levelFor(levels: Bins[], width: number): Bins {
    let best = levels[0];
    for (const level of levels)
        if (level.width <= width)
            best = level;
    return best;
}

/** The first place in `sorted` (of `size`) whose value is above `value`. */
export function above(sorted: Float64Array, value: number, low = 0, high = sorted.length): number {
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (sorted[middle] > value)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/** ns that are busy in [from, to): the bins at the ends count by the part of them that is inside. */
export function busyWithin(bins: Bins, from: number, to: number): number {
    let sum = 0;
    for (let i = above(bins.end, from); i < bins.size && bins.start[i] < to; ++i) {
        const busy = bins.busy[i] - (i ? bins.busy[i - 1] : 0);
        const length = bins.end[i] - bins.start[i];
        sum += (busy * (Math.min(to, bins.end[i]) - Math.max(from, bins.start[i]))) / length;
    }
    return sum;
}
