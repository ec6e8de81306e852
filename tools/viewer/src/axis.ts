// A stretch of time that is looked at, moved by keys, wheel and pointer: the same in the timeline and in replays.

export class Axis {
    constructor(public from: number, public to: number, private least: number, private most: number,
                private readonly changed: () => void) {}

    get span(): number {
        return this.to - this.from;
    }

    /** Sets what may be seen, and shows all of it. */
    bound(least: number, most: number): void {
        this.least = least;
        this.most = most;
        this.show(least, most);
    }

    /** Shows [from, to], as far as it may be seen. */
    show(from: number, to: number): void {
        const all = Math.max(1, this.most - this.least);
        const span = Math.min(Math.max(to - from, 20), all * 1.02);
        const middle = (from + to) / 2;
        const edge = span * 0.5;
        const center = Math.min(Math.max(middle, this.least - 0.01 * all + Math.min(edge, all * 0.51)),
            this.most + 0.01 * all - Math.min(edge, all * 0.51));
        this.from = center - span / 2;
        this.to = center + span / 2;
        this.changed();
    }

    /** All that may be seen, with a margin. */
    get all(): [number, number] {
        const margin = 0.01 * Math.max(1, this.most - this.least);
        return [this.least - margin, this.most + margin];
    }

    /** Is all of it in view? */
    get isAll(): boolean {
        return this.from <= this.least && this.to >= this.most;
    }

    showAll(): void {
        this.show(...this.all);
    }

    move(ns: number): void {
        this.show(this.from + ns, this.to + ns);
    }

    /** Zooms by a factor (below 1: in); the time `at` stays where it is. */
    zoom(factor: number, at: number): void {
        const share = (at - this.from) / this.span;
        const span = Math.max(20, Math.min(this.span * factor, 1.02 * Math.max(1, this.most - this.least)));
        this.show(at - share * span, at + (1 - share) * span);
    }
}

/** Keys that are held move and zoom an axis smoothly: W S A D and the arrows that the caller leaves to it. */
export class Motion {
    private readonly held = new Set<string>();
    private last = 0;

    constructor(private readonly axis: () => { axis: Axis; at: number } | null) {
        window.addEventListener('blur', () => this.held.clear());
        window.addEventListener('keyup', (event) => this.held.delete(event.key.toLowerCase()));
    }

    /** True if the key is one of these. */
    press(key: string): boolean {
        if (!['w', 'a', 's', 'd'].includes(key))
            return false;
        if (!this.held.has(key)) {
            this.held.add(key);
            this.step(1 / 30);
            if (this.held.size === 1)
                requestAnimationFrame((now) => this.run((this.last = now)));
        }
        return true;
    }

    private run(now: number): void {
        if (this.held.size === 0)
            return;
        this.step(Math.min(0.05, (now - this.last) / 1000));
        this.last = now;
        requestAnimationFrame((next) => this.run(next));
    }

    private step(seconds: number): void {
        const target = this.axis();
        if (!target)
            return;
        const { axis, at } = target;
        const move = (this.held.has('d') ? 1 : 0) - (this.held.has('a') ? 1 : 0);
        const zoom = (this.held.has('s') ? 1 : 0) - (this.held.has('w') ? 1 : 0);
        if (move)
            axis.move(1.2 * move * axis.span * seconds);
        if (zoom)
            axis.zoom(6 ** (zoom * seconds), at);
    }
}
