// The overview: how busy each GPU was from begin to end, and which part of that the timeline shows. Its axis is as wide as that of the
// rows, so that a time stands at the same place in both when all is in view.

import { Axis } from './axis';
import { busyWithin } from './bins';
import { busyOfAll } from './busy';
import { Palette } from './colors';
import { byId, element, fit } from './dom';
import { duration, share } from './format';
import { Trace } from './trace';

const LEAST = 44; // px

export class Overview {
    private readonly canvas = byId<HTMLCanvasElement>('overview');
    private readonly height: number;
    private width = 50;
    private cache: { key: string; image: HTMLCanvasElement } | null = null;
    private readonly order: number[]; // places of GPUs

    constructor(private readonly trace: Trace, private readonly axis: Axis) {
        const { gpus } = trace.head;
        this.height = Math.max(LEAST, Math.min(168, 22 * gpus.length));
        this.order = [...gpus.keys()].sort((a, b) => gpus[a].process - gpus[b].process || (gpus[a].gpu ?? -1) - (gpus[b].gpu ?? -1));
        this.label();
        this.listen();
    }

    /** How busy each is, beside its picture: of what `rtl summary` takes it of. */
    private label(): void {
        const { processes, window } = this.trace.head;
        const each = this.height / Math.max(1, this.order.length);
        const of = window === null ? 'from its first kernel to its last' : 'of the time that was chosen';
        byId('gpus').replaceChildren(...(each < 14 ? [] : this.order.map((place) => {
            const { process, gpu } = this.trace.head.gpus[place];
            const { busy, time } = busyOfAll(this.trace, place);
            const name = `${processes.length > 1 ? `process ${process}, ` : ''}GPU ${gpu ?? '?'}`;
            return element('div', { style: `height:${each}px`, title: `${name}: busy ${duration(busy)}, ${share(busy / time)} ${of}` },
                element('span', {}, name), element('b', {}, share(busy / time)), element('span', { class: 'soft' }, `busy ${duration(busy)}`));
        })));
    }

    /** The colours are others now. */
    forget(): void {
        this.cache = null;
    }

    /** Where a time stands, px. */
    x(time: number): number {
        const [from, to] = this.axis.all;
        return ((time - from) / (to - from)) * this.width;
    }

    /** As wide as the rows. */
    draw(colors: Palette, width: number): void {
        const { height } = this;
        const context = fit(this.canvas, (this.width = width), height);
        this.canvas.style.width = `${width}px`;
        this.canvas.style.height = `${height}px`;
        const key = `${width}x${height}`;
        if (this.cache?.key !== key)
            this.cache = { key, image: this.image(width, height, colors) };
        context.drawImage(this.cache.image, 0, 0, width, height);
        const from = Math.max(0, this.x(this.axis.from));
        const to = Math.min(width, Math.max(this.x(this.axis.to), from + 3));
        context.fillStyle = colors.back;
        context.globalAlpha = 0.6;
        context.fillRect(0, 0, from, height);
        context.fillRect(to, 0, width - to, height);
        context.globalAlpha = 1;
        context.strokeStyle = colors.accent;
        context.lineWidth = 1.5;
        context.strokeRect(from + 0.75, 0.75, to - from - 1.5, height - 1.5);
    }

    private image(width: number, height: number, colors: Palette): HTMLCanvasElement {
        const image = document.createElement('canvas');
        const context = fit(image, width, height);
        const [first, last] = this.axis.all;
        const perPixel = (last - first) / width;
        context.fillStyle = colors.panel;
        context.fillRect(0, 0, width, height);
        const each = height / Math.max(1, this.order.length);
        context.fillStyle = colors.busy;
        this.order.forEach((at, place) => {
            for (let pixel = 0; pixel < width; ++pixel) {
                const from = first + pixel * perPixel;
                const part = Math.min(1, busyWithin(this.trace.gpuBins[at], from, from + perPixel) / perPixel);
                const bar = part > 0 ? Math.max(1, part * (each - 4)) : 0;
                context.fillRect(pixel, (place + 1) * each - bar, 1, bar);
            }
        });
        return image;
    }

    private listen(): void {
        const { canvas } = this;
        const [first, last] = this.axis.all;
        const least = (last - first) / 400; // a shorter drag is a click
        const time = (event: PointerEvent) => first + ((event.clientX - canvas.getBoundingClientRect().left) / this.width) * (last - first);
        let start: number | null = null;
        let inside: { from: number; to: number } | null = null;
        canvas.addEventListener('pointerdown', (event) => {
            canvas.setPointerCapture(event.pointerId);
            start = time(event);
            const within = start > this.axis.from && start < this.axis.to && this.axis.span < 0.9 * (last - first);
            inside = within ? { from: this.axis.from, to: this.axis.to } : null;
        });
        canvas.addEventListener('pointermove', (event) => {
            if (start === null)
                return;
            const now = time(event);
            if (inside)
                this.axis.show(inside.from + now - start, inside.to + now - start);
            else if (Math.abs(now - start) > least)
                this.axis.show(Math.min(start, now), Math.max(start, now));
        });
        canvas.addEventListener('pointerup', (event) => {
            if (start !== null && !inside && Math.abs(time(event) - start) <= least)
                this.axis.show(start - this.axis.span / 2, start + this.axis.span / 2);
            start = null;
        });
        canvas.addEventListener('dblclick', () => this.axis.showAll());
    }
}
