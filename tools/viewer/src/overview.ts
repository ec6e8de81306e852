// The overview: how busy each GPU was from begin to end, and which part of that the timeline shows.

import { Axis } from './axis';
import { busyWithin } from './bins';
import { Palette } from './colors';
import { byId, fit } from './dom';
import { duration, share } from './format';
import { Trace } from './trace';

export class Overview {
    private readonly canvas = byId<HTMLCanvasElement>('overview');
    private cache: { key: string; image: HTMLCanvasElement } | null = null;

    constructor(private readonly trace: Trace, private readonly axis: Axis) {
        this.canvas.style.height = `${Math.max(56, Math.min(168, 22 * trace.head.gpus.length))}px`;
        this.listen();
    }

    /** The colours are others now. */
    forget(): void {
        this.cache = null;
    }

    draw(colors: Palette): void {
        const width = this.canvas.clientWidth;
        const height = this.canvas.clientHeight;
        if (width === 0 || height === 0)
            return;
        const context = fit(this.canvas, width, height);
        const key = `${width}x${height}`;
        if (this.cache?.key !== key)
            this.cache = { key, image: this.image(width, height, colors) };
        context.drawImage(this.cache.image, 0, 0, width, height);
        const { first, last } = this.trace.head;
        const x = (time: number) => ((time - first) / Math.max(1, last - first)) * width;
        const from = Math.max(0, x(this.axis.from));
        const to = Math.min(width, Math.max(x(this.axis.to), from + 3));
        context.fillStyle = colors.back;
        context.globalAlpha = 0.6;
        context.fillRect(0, 0, from, height);
        context.fillRect(to, 0, width - to, height);
        context.globalAlpha = 1;
        context.strokeStyle = colors.accent;
        context.lineWidth = 1.5;
        context.strokeRect(from + 0.5, 0.5, to - from - 1, height - 1);
    }

    private image(width: number, height: number, colors: Palette): HTMLCanvasElement {
        const image = document.createElement('canvas');
        const context = fit(image, width, height);
        const { first, last, gpus } = this.trace.head;
        const all = Math.max(1, last - first);
        context.fillStyle = colors.panel;
        context.fillRect(0, 0, width, height);
        const each = height / Math.max(1, gpus.length);
        context.font = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
        const order = gpus.map((gpu, at) => ({ gpu, at })).sort((a, b) => a.gpu.process - b.gpu.process || (a.gpu.gpu ?? -1) - (b.gpu.gpu ?? -1));
        order.forEach(({ gpu, at }, place) => {
            const bins = this.trace.gpuBins[at];
            context.fillStyle = colors.busy;
            for (let pixel = 0; pixel < width; ++pixel) {
                const from = first + (pixel * all) / width;
                const part = Math.min(1, busyWithin(bins, from, from + all / width) / (all / width));
                const bar = part > 0 ? Math.max(1, part * (each - 4)) : 0;
                context.fillRect(pixel, (place + 1) * each - bar, 1, bar);
            }
            if (each < 14)
                return;
            const label = `${this.trace.head.processes.length > 1 ? `process ${gpu.process}, ` : ''}GPU ${gpu.gpu ?? '?'}: ` +
                `busy ${duration(gpu.busy)}, ${share(gpu.busy / all)} of this time`;
            const text = context.measureText(label).width;
            context.globalAlpha = 0.85;
            context.fillStyle = colors.panel;
            context.fillRect(4, place * each + 3, text + 8, 15);
            context.globalAlpha = 1;
            context.fillStyle = colors.text;
            context.fillText(label, 8, place * each + 14);
        });
        return image;
    }

    private listen(): void {
        const { canvas } = this;
        const { first, last } = this.trace.head;
        const time = (event: PointerEvent) =>
            first + ((event.clientX - canvas.getBoundingClientRect().left) / canvas.clientWidth) * (last - first);
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
            else if (Math.abs(now - start) > (last - first) / 400)
                this.axis.show(Math.min(start, now), Math.max(start, now));
        });
        canvas.addEventListener('pointerup', (event) => {
            if (start !== null && !inside && Math.abs(time(event) - start) <= (last - first) / 400)
                this.axis.show(start - this.axis.span / 2, start + this.axis.span / 2);
            start = null;
        });
        canvas.addEventListener('dblclick', () => this.axis.showAll());
    }
}
