// Events that are narrower than a pixel: how busy each pixel of a row is, and what most of it is.

import { Palette } from './colors';

export class Fine {
    private busy = new Float32Array(0);
    private best = new Float32Array(0);
    private color = new Int16Array(0);
    private lit = new Uint8Array(0);
    private size = 0;
    private strip: ImageData | null = null;

    /** Makes room for rows of so many pixels. */
    provide(width: number): void {
        if (this.size >= width + 1)
            return;
        this.size = Math.ceil(width) + 1;
        this.busy = new Float32Array(this.size);
        this.best = new Float32Array(this.size);
        this.color = new Int16Array(this.size);
        this.lit = new Uint8Array(this.size);
    }

    /** A row begins. */
    clear(): void {
        this.busy.fill(0);
        this.best.fill(0);
    }

    /** Adds an event from pixel to pixel; `point`: too short to be seen by its length. */
    add(from: number, to: number, point: boolean, color: number, lit: boolean): void {
        for (let pixel = Math.max(0, Math.floor(from)); pixel < this.size && pixel <= to; ++pixel) {
            const part = point ? 0.05 : Math.min(to, pixel + 1) - Math.max(from, pixel);
            if (part <= 0)
                continue;
            this.busy[pixel] += part;
            if (part > this.best[pixel]) {
                this.best[pixel] = part;
                this.color[pixel] = color;
                this.lit[pixel] = Number(lit);
            }
        }
    }

    /** Adds a bin that is busy for a part of its time. */
    addBin(from: number, to: number, busy: number, color: number, lit: boolean): void {
        for (let pixel = Math.max(0, Math.floor(from)); pixel < this.size && pixel < to; ++pixel) {
            const part = (Math.min(to, pixel + 1) - Math.max(from, pixel)) * busy;
            this.busy[pixel] += Math.max(part, 1e-3);
            if (part >= this.best[pixel]) {
                this.best[pixel] = part;
                this.color[pixel] = color;
                this.lit[pixel] = Number(lit);
            }
        }
    }

    /** Draws the row: as high as a pixel is busy, over a pale ground. Pixels are written one by one: far faster than
     * rectangles. */
    draw(context: CanvasRenderingContext2D, y: number, height: number, rowWidth: number, colors: Palette): void {
        const scale = context.canvas.width / Math.max(1, rowWidth);
        const top = Math.round(y * scale);
        const width = context.canvas.width;
        const tall = Math.round((y + height) * scale) - top;
        if (this.strip?.width !== width || this.strip.height !== tall)
            this.strip = new ImageData(width, tall);
        const pixels = new Uint32Array(this.strip.data.buffer);
        let some = false;
        pixels.fill(colors.ground);
        for (let column = 0; column < width; ++column) {
            const place = Math.min(this.size - 1, Math.floor(column / scale));
            const busy = this.busy[place];
            if (busy === 0)
                continue;
            some = true;
            const full = (this.lit[place] ? colors.full : colors.fadedFull)[this.color[place]];
            const pale = (this.lit[place] ? colors.pale : colors.fadedPale)[this.color[place]];
            const from = tall - Math.max(1, Math.round(tall * Math.min(1, busy)));
            for (let line = 0, at = column; line < tall; ++line, at += width)
                pixels[at] = line < from ? pale : full;
        }
        if (some)
            context.putImageData(this.strip, 0, top);
    }
}
