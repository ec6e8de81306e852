// Asks whoever serves the page for what is in view and not in the page: the last view wins, one at a time.

import { Near } from './near';
import { Trace } from './trace';

const PAUSE = 150; // ms that the view stands still before it is asked for
const MOST_SEGMENTS = 32; // of the page, that are shown event by event
const MARGIN = 0.5; // of the view, on both sides, so that a small move asks for nothing

export class Server {
    /** Something has come. */
    onanswer: () => void = () => {};
    /** A question was not answered, and why; '': one was again. */
    ontrouble: (why: string) => void = () => {};
    /** Answers that have come, for tests. */
    answers = 0;
    private waiting = 0;
    private asking: { abort: AbortController; done: Promise<void>; from: number; to: number } | null = null;

    constructor(private readonly trace: Trace, private readonly path: string) {
        trace.served = true;
    }

    /** [from, to] is in view. */
    view(from: number, to: number): void {
        clearTimeout(this.waiting);
        if (this.isWanting(from, to))
            this.waiting = window.setTimeout(() => void this.ask(from, to), PAUSE);
    }

    /** Asks at once for what is not there of [from, to]; over when it is there, or cannot be had. */
    async bring(from: number, to: number): Promise<void> {
        clearTimeout(this.waiting);
        if (this.isWanting(from, to))
            await this.ask(from, to);
    }

    /** Would an answer show more of it? */
    private isWanting(from: number, to: number): boolean {
        const { trace } = this;
        const [first, last] = trace.segmentsOf(from, to);
        if (last - first > MOST_SEGMENTS || trace.at(from, to).has(from, to))
            return false;
        const near = trace.near?.spans(from, to) ? trace.near : null;
        return !near || to - from < 0.7 * (near.to - near.from);
    }

    /** What is asked for: more than the view, unless that was too much. */
    private stretch(from: number, to: number): [number, number] {
        const { trace } = this;
        const { first, last } = trace.head;
        const margin = trace.near?.spans(from, to) ? 0 : MARGIN * (to - from);
        const [a, b] = trace.segmentsOf(from - margin, to + margin);
        const more = b - a > MOST_SEGMENTS ? 0 : margin;
        const begin = Math.max(first, Math.floor(from - more));
        return [begin, Math.max(begin + 1, Math.min(last + 1, Math.ceil(to + more)))];
    }

    private ask(from: number, to: number): Promise<void> {
        const [begin, end] = this.stretch(from, to);
        if (this.asking?.from === begin && this.asking.to === end)
            return this.asking.done;
        this.asking?.abort.abort();
        const abort = new AbortController();
        const mine = { abort, from: begin, to: end, done: Promise.resolve() };
        this.asking = mine;
        mine.done = this.get(begin, end, abort.signal).then((near) => {
            this.trace.near = near;
            near.onload = () => this.trace.onload();
            ++this.answers;
            this.ontrouble('');
            this.onanswer();
        }).catch((error: Error) => {
            if (!abort.signal.aborted)
                this.ontrouble(error instanceof TypeError ? 'rtl view does not answer any more: it has ended, or cannot be reached' : error.message);
        }).finally(() => {
            if (this.asking === mine)
                this.asking = null;
        });
        return mine.done;
    }

    private async get(from: number, to: number, signal: AbortSignal): Promise<Near> {
        const response = await fetch(`${this.path}?from=${from}&to=${to}`, { signal });
        if (!response.ok)
            throw new Error(await response.text());
        const near = await Near.read(this.trace, new Uint8Array(await response.arrayBuffer()), from, to);
        if (signal.aborted)
            throw new Error('it is not wanted any more');
        return near;
    }
}
