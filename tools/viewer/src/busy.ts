// How busy a GPU was, and of what that is a part: as `rtl summary` has it, so that page and terminal tell one number.

import { busyWithin } from './bins';
import { Trace } from './trace';

export interface Busy {
    busy: number; // ns
    time: number; // ns that it is a part of, at least 1
}

/** Of all of the page: from the GPU's first kernel to its last, or the window that the page was made for. */
export function busyOfAll(trace: Trace, place: number): Busy {
    const { gpus, window } = trace.head;
    const { busy, first, last } = gpus[place];
    return { busy, time: Math.max(1, window ?? last - first) };
}

/** A time, as far as it was recorded. */
export function recordedPart(trace: Trace, from: number, to: number): [number, number] {
    const [least, most] = trace.head.bounds;
    const begin = Math.min(Math.max(from, least), most);
    return [begin, Math.max(begin, Math.min(to, most))];
}

/** Of a time, by the GPU's bins: about. */
export function busyByBins(trace: Trace, place: number, from: number, to: number): Busy {
    const [begin, end] = recordedPart(trace, from, to);
    return { busy: busyWithin(trace.gpuBins[place], begin, end), time: Math.max(1, end - begin) };
}
