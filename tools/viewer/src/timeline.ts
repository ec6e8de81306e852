// The timeline: rows of events on a canvas, the axis above them, what is chosen there.
//
// One class, since drawing, pointing and choosing all work with the rows and the view of the axis.

import { Axis } from './axis';
import { above, busyWithin, levelFor } from './bins';
import { Look, NEUTRAL, Palette, colorNumber, familyNumber, lookNumber, palette } from './colors';
import { byId, element, fit, fitted, hideTip, lettersIn, showTip } from './dom';
import { Fine } from './fine';
import { count, duration, moment, multiples, niceStep, share, tick } from './format';
import { Overview } from './overview';
import { Columns, Segment } from './segments';
import { CALL, Lane, Slice, Trace, Wanted } from './trace';
import { Gap } from './window';

const LABELS = 230; // px, as in the style sheet
const MOST_SEGMENTS = 32; // that are shown event by event at a time
const MOST_FLOWS = 64;
const ROW = 22; // px at least, of the GPU
const THREAD_ROW = 17; // and of the host
const MOST_ROOM = 1.8; // times that, where there is room
const PANEL = 200; // px at least, below the rows
const BELOW = 8; // px, the last row
const GAP = 3; // px at least, of the next gap

interface Row {
    lane: Lane | null; // null: a heading
    group: string;
    top: number;
    height: number;
    label: string;
    inner: boolean;
}

export class Timeline {
    readonly axis: Axis;
    selected: Slice | null = null;
    /** Events that are not wanted are faded; null: all are shown. */
    wanted: Wanted | null = null;
    onselect: (slice: Slice | null) => void = () => {};
    /** A time was marked. */
    onarea: (from: number, to: number) => void = () => {};
    onview: () => void = () => {};
    /** ms that the last picture took. */
    drawTime = 0;
    private rows: Row[] = [];
    private readonly closed = new Set<string>();
    private flows: [Slice, Slice][] = [];
    private readonly scroll = byId<HTMLDivElement>('scroll');
    private readonly canvas = byId<HTMLCanvasElement>('lanes');
    private readonly ruler = byId<HTMLCanvasElement>('ruler');
    private colors: Palette = palette();
    private pending = false;
    private pointer: { x: number; y: number } | null = null;
    private area: [number, number] | null = null;
    private readonly fine = new Fine();
    private width = 50; // px, of the rows
    private perPixel = 1; // ns
    private wide: (() => void)[] = [];
    private nameColor = new Int16Array(); // of kernels and copies, by the text that names them
    private callColor = new Int16Array(); // of host calls
    private isCall = new Uint8Array(); // texts that name host calls, of bins in threads' rows
    private readonly panel = byId('details');
    private byFamily = false;
    private readonly overview: Overview;

    constructor(private readonly trace: Trace) {
        const { first, last } = trace.head;
        this.readTexts();
        this.axis = new Axis(first, last, first, Math.max(last, first + 100), () => {
            this.draw();
            this.onview();
        });
        this.overview = new Overview(trace, this.axis);
        this.layOut();
        this.listen();
        const observer = new ResizeObserver(() => {
            this.layOut();
            this.drawNow();
        });
        observer.observe(this.scroll);
        observer.observe(byId('view-timeline'));
        this.axis.showAll();
        this.drawNow();
    }

    /** The page has other texts now. */
    private readTexts(): void {
        const { texts, tables } = this.trace.head;
        this.isCall = new Uint8Array(texts.length);
        for (const [name] of tables.calls)
            this.isCall[name] = 1;
        this.callColor = Int16Array.from(texts, (text) => lookNumber('call', text));
        this.colorBy(this.byFamily ? 'family' : 'name');
    }

    /** Texts or rows may have come. */
    grow(): void {
        if (this.isCall.length !== this.trace.head.texts.length)
            this.readTexts();
        this.layOut();
        this.draw();
    }

    /** Asks the page for its layout, which is dear: once a picture. */
    private measure(): void {
        this.width = Math.max(50, this.scroll.clientWidth - LABELS);
        this.perPixel = this.axis.span / this.width;
    }

    private x(time: number): number {
        return (time - this.axis.from) / this.perPixel;
    }

    timeAt(x: number): number {
        return this.axis.from + x * this.perPixel;
    }

    /** Where keys zoom: the pointer, or the middle. */
    get zoomTime(): number {
        return this.pointer ? this.timeAt(this.pointer.x) : (this.axis.from + this.axis.to) / 2;
    }

    /* Rows. */

    private processName(process: number): string {
        const found = this.trace.head.processes.find((item) => item.process === process);
        const command = found?.command.split(' ')[0].split('/').pop() ?? '';
        return `${command || 'process'} · ${found?.pid ?? process}${found?.rank ? ` · rank ${found.rank}` : ''}`;
    }

    gpuName(process: number, gpu: number | null): string {
        const found = this.trace.head.agents.find((agent) => agent.process === process && agent.gpu === gpu && gpu !== null);
        const product = found?.product || found?.name;
        return gpu === null ? 'Host' : `GPU ${gpu}${product ? ` · ${product}` : ''}`;
    }

    laneName(lane: Lane): string {
        const further = lane.number && lane.kind !== 'thread' ? ` (${lane.number + 1})` : '';
        switch (lane.kind) {
        case 'thread':
            return lane.number ? '' : `thread ${lane.thread}${lane.name ? ` · ${lane.name}` : ''}`;
        case 'replays':
            return `graph replays${further}`;
        case 'copies':
            return `copies${further}`;
        case 'idle':
            return 'idle, and what the host did';
        default:
            return `queue ${lane.queue}${lane.stream === null ? '' : ` · stream ${lane.stream}`}` +
                `${lane.name ? ` · ${lane.name}` : ''}${further}`;
        }
    }

    private layOut(): void {
        const order = { thread: 0, replays: 1, idle: 2, queue: 3, copies: 4 };
        const lanes = this.trace.lanes.filter((lane) => lane.slices > 0).sort((a, b) =>
            a.process - b.process ||
            Number(a.kind !== 'thread') - Number(b.kind !== 'thread') ||
            Number(a.kind !== 'replays') - Number(b.kind !== 'replays') ||
            (a.gpu ?? -1) - (b.gpu ?? -1) ||
            order[a.kind] - order[b.kind] ||
            (a.thread ?? 0) - (b.thread ?? 0) || (a.queue ?? 0) - (b.queue ?? 0) || (a.stream ?? -1) - (b.stream ?? -1) ||
            a.number - b.number);
        this.rows = [];
        const needed = lanes.reduce((sum, lane) => sum + (lane.kind === 'thread' ? THREAD_ROW : ROW), 0);
        const room = Math.max(1, Math.min(MOST_ROOM, (this.heightForRows() - 80) / Math.max(1, needed)));
        let top = 0;
        let process = -1;
        let group = '';
        for (const lane of lanes) {
            if (lane.process !== process) {
                process = lane.process;
                top = this.addRow(null, `p${process}`, top, 22, this.processName(process), false);
            }
            if (this.closed.has(`p${process}`))
                continue;
            const inner = lane.kind === 'thread' || lane.kind === 'replays' ? `p${process}` : `p${process}g${lane.gpu}`;
            if (inner !== group && inner !== `p${process}`)
                top = this.addRow(null, inner, top, 20, this.gpuName(process, lane.gpu), true);
            group = inner;
            if (!this.closed.has(inner))
                top = this.addRow(lane, inner, top, Math.floor(room * (lane.kind === 'thread' ? THREAD_ROW : ROW)), this.laneName(lane),
                    false);
        }
        this.showLabels(top);
    }

    /** What the rows may take, of what is not the panel's. */
    private heightForRows(): number {
        const top = this.scroll.offsetTop - byId('view-timeline').offsetTop;
        const panel = this.panel.style.height ? this.panel.offsetHeight : PANEL;
        return byId('view-timeline').clientHeight - top - panel;
    }

    private addRow(lane: Lane | null, group: string, top: number, height: number, label: string, inner: boolean): number {
        this.rows.push({ lane, group, top, height, label, inner });
        return top + height;
    }

    private showLabels(height: number): void {
        const labels = byId('labels');
        byId('rows').style.height = `${height + BELOW}px`;
        this.scroll.style.flexBasis = `${height + BELOW}px`; // what they do not take is the panel's
        labels.replaceChildren(...this.rows.filter((row) => row.label).map((row) => {
            const style = `top:${row.top}px;height:${row.height}px;line-height:${row.height}px`;
            if (row.lane)
                return element('div', { style, title: row.label }, row.label);
            const open = !this.closed.has(row.group);
            return element('button', {
                style, title: row.label, class: row.inner ? 'inner' : '', 'aria-expanded': open, onclick: () => {
                    if (open)
                        this.closed.add(row.group);
                    else
                        this.closed.delete(row.group);
                    this.layOut();
                    this.drawNow();
                },
            }, `${open ? '▾' : '▸'} ${row.label}`);
        }));
    }

    private rowOf(lane: Lane): Row | undefined {
        return this.rows.find((row) => row.lane === lane);
    }

    /* Drawing. */

    /** What has its colours by its name, or kernels alone by their family. */
    colorBy(what: 'name' | 'family'): void {
        const { head, families } = this.trace;
        this.byFamily = what === 'family';
        this.nameColor = Int16Array.from(head.texts, (text, place) => {
            const family = families.get(place);
            return !this.byFamily ? colorNumber(text) : family === undefined ? NEUTRAL : familyNumber(family);
        });
    }

    private lookOf(lane: Lane, item: number): Look {
        switch (lane.kind) {
        case 'thread':
            return (item & 3) === CALL ? 'call' : 'range';
        case 'replays':
            return 'replay';
        case 'idle':
            return 'idle';
        default:
            return 'kernel';
        }
    }

    /** Of what only the segment names. */
    private textColor(text: string): number {
        return this.byFamily ? NEUTRAL : colorNumber(text);
    }

    /** Of an event that the text of that number names, or a bin that it has most of. */
    private numberOf(lane: Lane, name: number): number {
        switch (lane.kind) {
        case 'thread':
            return this.isCall[name] ? this.callColor[name] : this.textColor(this.trace.head.texts[name]);
        case 'idle':
            return lookNumber('idle', '');
        default:
            return this.nameColor[name];
        }
    }

    recolor(): void {
        this.colors = palette();
        this.overview.forget();
        this.drawNow();
    }

    draw(): void {
        if (this.pending)
            return;
        this.pending = true;
        requestAnimationFrame(() => {
            this.pending = false;
            this.drawNow();
        });
    }

    drawNow(): void {
        if (this.scroll.clientHeight === 0)
            return;
        const begin = performance.now();
        this.measure();
        this.drawLanes();
        this.drawRuler();
        this.overview.draw(this.colors, this.width);
        this.drawTime = performance.now() - begin;
    }

    /** Parts of the view: event by event from a segment, or by bins. */
    private parts(): { from: number; to: number; segment: Segment | null; left: boolean }[] {
        const { from, to } = this.axis;
        const source = this.trace.at(from, to);
        const [first, last] = source.segmentsOf(from, to);
        const parts: { from: number; to: number; segment: Segment | null; left: boolean }[] = [];
        if (last - first > MOST_SEGMENTS)
            return [{ from, to, segment: null, left: false }];
        for (let number = first; number < last; ++number) {
            const part = source.heads[number];
            const segment = part.kept ? source.peek(number) : null;
            if (part.kept && !segment)
                void source.segment(number);
            const last = parts[parts.length - 1];
            if (last && !last.segment && !segment && last.left === !part.kept)
                last.to = Math.min(to, part.to);
            else
                parts.push({ from: Math.max(from, part.from), to: Math.min(to, part.to), segment, left: !part.kept });
        }
        return parts;
    }

    private drawLanes(): void {
        const height = this.scroll.clientHeight;
        const width = this.width;
        const context = fit(this.canvas, width, height);
        this.canvas.style.width = `${width}px`;
        this.canvas.style.height = `${height}px`;
        const { colors } = this;
        const top = this.scroll.scrollTop;
        this.fine.provide(width);
        context.fillStyle = colors.back;
        context.fillRect(0, 0, width, height);
        const parts = this.parts();
        context.font = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
        context.textBaseline = 'middle';
        for (const row of this.rows) {
            const y = row.top - top;
            if (y + row.height < 0 || y > height)
                continue;
            if (!row.lane) {
                context.fillStyle = row.inner ? colors.back : colors.panel;
                context.fillRect(0, y, width, row.height);
            } else {
                this.drawRow(context, row.lane, y + 1, row.height - 2, parts);
            }
            context.fillStyle = colors.line;
            context.globalAlpha = 0.5;
            context.fillRect(0, y + row.height - 0.5, width, 0.5);
            context.globalAlpha = 1;
        }
        this.drawGrid(context, height);
        for (const part of parts)
            if (part.left)
                this.drawLeftOut(context, part.from, part.to, height);
        this.drawFlows(context, top);
        this.drawSelection(context, top);
        this.drawArea(context, height);
    }

    private drawGrid(context: CanvasRenderingContext2D, height: number): void {
        context.fillStyle = this.colors.soft;
        context.globalAlpha = 0.15;
        for (const { x } of this.ticks())
            context.fillRect(Math.round(x), 0, 1, height);
        context.globalAlpha = 1;
    }

    private drawRow(context: CanvasRenderingContext2D, lane: Lane, y: number, height: number,
                    parts: { from: number; to: number; segment: Segment | null }[]): void {
        this.fine.clear();
        this.wide = [];
        for (const part of parts) {
            const columns = part.segment?.lanes.get(lane.place);
            if (columns)
                this.drawEvents(context, lane, part.segment as Segment, columns, y, height);
            else if (!part.segment)
                this.drawBins(lane, part.from, part.to);
        }
        const crossings = this.trace.at(this.axis.from, this.axis.to).crossingsOf(lane).filter((slice) => slice.start < this.axis.to && slice.start + slice.duration > this.axis.from);
        const isWanted = (slice: Slice) => !this.wanted || this.wanted(lane, slice.item, () => slice.text);
        const isFine = (slice: Slice) => slice.duration < this.perPixel;
        for (const slice of crossings) // bins have them already
            if (isFine(slice) && parts.some((part) => part.segment && part.from <= slice.start && slice.start < part.to))
                this.addFine(slice.start, slice.start + slice.duration, this.colorOfSlice(slice), isWanted(slice));
        this.fine.draw(context, y, height, this.width, this.colors);
        for (const draw of this.wide)
            draw();
        for (const slice of crossings)
            if (!isFine(slice))
                this.drawEvent(context, lane, slice.item, this.trace.nameOf(slice), slice.start, slice.start + slice.duration,
                    slice.more, y, height, isWanted(slice), this.colorOfSlice(slice));
    }

    private colorOfSlice(slice: Slice): number {
        const name = this.trace.nameNumber(slice.lane, slice.item);
        return name < 0 ? this.textColor(slice.text) : this.numberOf(slice.lane, name);
    }

    private colorOf(lane: Lane, item: number, texts: string[]): number {
        const name = this.trace.nameNumber(lane, item);
        return name < 0 ? this.textColor(texts[Math.floor(item / 4)]) : this.numberOf(lane, name);
    }

    private drawEvents(context: CanvasRenderingContext2D, lane: Lane, segment: Segment, columns: Columns, y: number,
                       height: number): void {
        const { axis, perPixel, wanted } = this;
        const { start, end, item } = columns;
        const last = above(start, axis.to);
        const first = above(end, axis.from);
        const isWanted = (i: number) => !wanted || wanted(lane, item[i], () => segment.texts[Math.floor(item[i] / 4)]);
        const wide = (i: number) => this.wide.push(() => {
            const name = this.trace.nameNumber(lane, item[i]);
            const letters = lettersIn(this.x(end[i]) - this.x(start[i]) - 8);
            this.drawEvent(context, lane, item[i], name < 0 ? segment.texts[Math.floor(item[i] / 4)] : this.trace.shortName(name, letters),
                start[i], end[i], columns.more[i], y, height, isWanted(i), this.colorOf(lane, item[i], segment.texts));
        });
        if (last - first > 4 * (Math.min(axis.to, end[last - 1]) - Math.max(axis.from, start[first])) / perPixel) {
            this.drawMany(lane, segment, columns, first, last, isWanted, wide);
            return;
        }
        for (let i = first; i < last; ++i)
            if (end[i] - start[i] < perPixel)
                this.addFine(start[i], end[i], this.colorOf(lane, item[i], segment.texts), isWanted(i));
            else
                wide(i);
    }

    /** Far more events than pixels: pixel by pixel, from the sums. The colour is that of one of them. */
    private drawMany(lane: Lane, segment: Segment, columns: Columns, first: number, last: number,
                     isWanted: (i: number) => boolean, wide: (i: number) => void): void {
        const { start, end, busy, item } = columns;
        for (let i = first; i < last;) {
            const pixel = Math.floor(this.x(start[i]));
            const limit = this.timeAt(pixel + 1);
            let step = 1;
            while (i + step < last && end[i + step] <= limit)
                step *= 2;
            const next = Math.max(i + 1, above(end, limit, i, Math.min(i + step, last)));
            const sum = busy[next - 1] - (i ? busy[i - 1] : 0);
            const middle = (i + next) >> 1;
            if (next === i + 1 && sum >= this.perPixel)
                wide(i);
            else
                this.addFine(start[i], start[i] + sum, this.colorOf(lane, item[middle], segment.texts), isWanted(middle));
            i = next;
        }
    }

    private addFine(start: number, end: number, color: number, lit: boolean): void {
        this.fine.add(this.x(start), this.x(end), end - start < this.perPixel / 1000, color, lit);
    }

    private drawBins(lane: Lane, from: number, to: number): void {
        const bins = levelFor(lane.levels, this.perPixel);
        for (let i = above(bins.end, from); i < bins.size && bins.start[i] < to; ++i) {
            const start = Math.max(from, bins.start[i]);
            const end = Math.min(to, bins.end[i]);
            const busy = (bins.busy[i] - (i ? bins.busy[i - 1] : 0)) / (bins.end[i] - bins.start[i]);
            this.fine.addBin(this.x(start), this.x(end), busy, this.numberOf(lane, bins.name[i]), this.isWantedName(lane, bins.name[i]));
        }
    }

    private isWantedName(lane: Lane, name: number): boolean {
        return !this.wantedName || this.wantedName(lane, name);
    }

    /** As `wanted`, by the text of the page that names most of a bin. */
    wantedName: ((lane: Lane, name: number) => boolean) | null = null;

    private drawEvent(context: CanvasRenderingContext2D, lane: Lane, item: number, name: string, start: number, end: number,
                      more: number, y: number, height: number, lit: boolean, color: number): void {
        const from = Math.max(-2, this.x(start));
        const to = Math.min(this.width + 2, this.x(end));
        const width = Math.max(1, to - from);
        const gap = width > 4 ? 1 : width > 2 ? 0.5 : 0;
        const look = this.lookOf(lane, item);
        context.globalAlpha = lit ? 1 : 0.18;
        this.drawBox(context, look, color, from, y, width - gap, height);
        if (look === 'call' && more !== 0) {
            context.fillStyle = this.colors.bad;
            context.fillRect(from, y, width - gap, 3);
        }
        const text = fitted(context, name, width - 8);
        if (text) {
            context.fillStyle = look === 'kernel' ? this.colors.ink : look === 'call' ? this.colors.light : this.colors.text;
            if (look === 'idle')
                this.drawPlate(context, text, from + 2, y, height);
            context.fillText(text, from + 4, y + height / 2 + 0.5);
        }
        context.globalAlpha = 1;
    }

    /** What an event is drawn as: by its shape, too, so that no eye needs its hue. */
    private drawBox(context: CanvasRenderingContext2D, look: Look, color: number, x: number, y: number, width: number, height: number): void {
        const { names, tints, edges, bubble } = this.colors;
        context.fillStyle = look === 'range' || look === 'replay' ? tints[color] : look === 'idle' ? this.hatch(context) : names[color];
        context.fillRect(x, y, width, height);
        if (look === 'kernel' || look === 'call')
            return;
        context.fillStyle = look === 'idle' ? bubble : edges[color];
        context.fillRect(x, y, width, look === 'range' ? 3 : 1);
        if (look !== 'range')
            context.fillRect(x, y + height - 1, width, 1);
        if (width < 4)
            return;
        context.fillRect(x, y, 1, height);
        context.fillRect(x + width - 1, y, 1, height);
    }

    /** Text over hatching stands on plain ground. */
    private drawPlate(context: CanvasRenderingContext2D, text: string, x: number, y: number, height: number): void {
        const { fillStyle } = context;
        context.fillStyle = this.colors.back;
        context.fillRect(x, y + height / 2 - 7, context.measureText(text).width + 4, 14);
        context.fillStyle = fillStyle;
    }

    private hatching: { of: string; pattern: CanvasPattern } | null = null;

    /** Lines that rise, of idle times. */
    private hatch(context: CanvasRenderingContext2D): CanvasPattern {
        const { back, bubble } = this.colors;
        const of = `${back}${bubble}`;
        if (this.hatching?.of === of)
            return this.hatching.pattern;
        const size = 6;
        const tile = new OffscreenCanvas(size, size);
        const lines = tile.getContext('2d') as OffscreenCanvasRenderingContext2D;
        lines.fillStyle = back;
        lines.fillRect(0, 0, size, size);
        lines.strokeStyle = bubble;
        for (const shift of [-size, 0, size]) {
            lines.moveTo(shift - 1, size + 1);
            lines.lineTo(shift + size + 1, -1);
        }
        lines.globalAlpha = 0.55;
        lines.stroke();
        const pattern = context.createPattern(tile, 'repeat') as CanvasPattern;
        this.hatching = { of, pattern };
        return pattern;
    }

    private drawLeftOut(context: CanvasRenderingContext2D, from: number, to: number, height: number): void {
        const x = this.x(from);
        const width = this.x(to) - x;
        context.fillStyle = this.colors.bubble;
        context.fillRect(x, 0, width, 2);
        if (width > 210) {
            context.textAlign = 'center';
            context.fillText(this.trace.served ? 'zoom in to see single events: how busy the rows are' :
                'single events are left out here: how busy the rows are', x + width / 2, height - 10);
            context.textAlign = 'left';
        }
    }

    private middleOf(slice: Slice, top: number): number | null {
        const row = this.rowOf(slice.lane);
        return row ? row.top - top + row.height / 2 : null;
    }

    private drawFlows(context: CanvasRenderingContext2D, top: number): void {
        for (const [call, work] of this.flows) {
            const fromY = this.middleOf(call, top);
            const toY = this.middleOf(work, top);
            if (fromY === null || toY === null)
                continue;
            const toX = this.x(work.start);
            const fromX = Math.max(this.x(call.start), Math.min(this.x(call.start + call.duration / 2), toX - 40));
            const bend = Math.max(18, Math.min(120, Math.abs(toX - fromX) / 2));
            context.beginPath();
            context.moveTo(fromX, fromY);
            context.bezierCurveTo(fromX + bend, fromY, toX - bend, toY, toX, toY);
            context.strokeStyle = this.colors.back; // a seam, for rows of any colour
            context.lineWidth = 4;
            context.stroke();
            context.strokeStyle = context.fillStyle = this.colors.accent;
            context.lineWidth = 1.75;
            context.stroke();
            context.beginPath();
            context.moveTo(toX + 1, toY);
            context.lineTo(toX - 6, toY - 4);
            context.lineTo(toX - 6, toY + 4);
            context.fill();
        }
    }

    private drawSelection(context: CanvasRenderingContext2D, top: number): void {
        const row = this.selected && this.rowOf(this.selected.lane);
        if (!this.selected || !row)
            return;
        const x = this.x(this.selected.start);
        const width = Math.max(2, this.x(this.selected.start + this.selected.duration) - x);
        context.strokeStyle = this.colors.text;
        context.lineWidth = 2;
        context.strokeRect(Math.max(-4, x), row.top - top + 1, Math.min(width, this.width + 8 - Math.max(-4, x)), row.height - 2);
    }

    private drawArea(context: CanvasRenderingContext2D, height: number): void {
        if (!this.area)
            return;
        const [a, b] = this.area.map((time) => this.x(time)).sort((one, other) => one - other);
        context.fillStyle = this.colors.accent;
        context.globalAlpha = 0.15;
        context.fillRect(a, 0, b - a, height);
        context.globalAlpha = 1;
        context.fillRect(a, 0, 1, height);
        context.fillRect(b, 0, 1, height);
    }

    /* The axis. */

    private ticks(): { x: number; text: string }[] {
        const step = niceStep(110 * this.perPixel);
        const base = this.base(step);
        const list = [];
        for (const time of multiples(step, this.axis.from, this.axis.to))
            list.push({ x: this.x(time), text: base ? `+${tick(time - base, step)}` : tick(time, step) });
        return list;
    }

    /** The time that ticks count from: 0 unless they would get too many figures. */
    private base(step: number): number {
        if (this.axis.from < 10000 * step)
            return 0;
        const coarse = 1000 * 10 ** Math.floor(Math.log10(step));
        return Math.floor(this.axis.from / coarse) * coarse;
    }

    private drawRuler(): void {
        const context = fit(this.ruler, this.width, 25);
        this.ruler.style.width = `${this.width}px`;
        const base = this.base(niceStep(110 * this.perPixel));
        context.fillStyle = this.colors.panel;
        context.fillRect(0, 0, this.width, 25);
        context.font = '11px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
        context.textBaseline = 'middle';
        for (const { x, text } of this.ticks()) {
            context.fillStyle = this.colors.line;
            context.fillRect(Math.round(x), 16, 1, 10);
            context.fillStyle = this.colors.soft;
            context.fillText(text, x + 4, 13);
        }
        if (this.area) {
            const length = Math.abs(this.area[1] - this.area[0]);
            const x = this.x(Math.min(...this.area));
            context.font = `600 ${context.font}`;
            const text = duration(length);
            const width = context.measureText(text).width + 10;
            context.fillStyle = this.colors.accent;
            context.fillRect(x, 3, width, 20);
            context.fillStyle = this.colors.back;
            context.fillText(text, x + 5, 13);
        }
        byId('base').textContent = base ? `${moment(base)} +` : `${duration(this.axis.span)} in view`;
    }

    /* Pointer. */

    private rowAt(y: number): Row | undefined {
        const at = y + this.scroll.scrollTop;
        return this.rows.find((row) => at >= row.top && at < row.top + row.height);
    }

    /** The event at a place of the canvas: the one there, or the nearest within 3 pixels. */
    sliceAt(x: number, y: number): Slice | null {
        const lane = this.rowAt(y)?.lane;
        if (!lane)
            return null;
        const time = this.timeAt(x);
        const reach = 3 * this.perPixel;
        let best: Slice | null = null;
        let distance = reach;
        const source = this.trace.at(this.axis.from, this.axis.to);
        const [first, last] = source.segmentsOf(time - reach, time + reach);
        for (let number = first; number < last && last - first <= MOST_SEGMENTS; ++number) {
            const segment = source.peek(number);
            const columns = segment?.lanes.get(lane.place);
            if (!columns)
                continue;
            const near = above(columns.start, time) - 1;
            for (let i = Math.max(0, near - 1); i < Math.min(columns.size, near + 3); ++i) {
                const away = Math.max(columns.start[i] - time, time - columns.end[i], 0);
                if (away < distance) {
                    distance = away;
                    best = this.trace.slice(lane, segment as Segment, columns, i);
                }
            }
        }
        for (const slice of source.crossingsOf(lane))
            if (slice.start <= time && slice.start + slice.duration >= time && distance > 0)
                best = slice;
        return best;
    }

    private tipFor(x: number, y: number): string[] | null {
        const lane = this.rowAt(y)?.lane;
        if (!lane)
            return null;
        const slice = this.sliceAt(x, y);
        if (slice && slice.duration >= 0.5 * this.perPixel)
            return [this.trace.nameOf(slice), duration(slice.duration)];
        const time = this.timeAt(x);
        const bins = levelFor(lane.levels, this.perPixel);
        const from = Math.floor(time / bins.width) * bins.width;
        const width = Math.max(bins.width, this.perPixel);
        const busy = busyWithin(bins, from, from + width);
        if (busy === 0)
            return slice ? [this.trace.nameOf(slice), duration(slice.duration)] : null;
        const first = above(bins.end, from);
        const last = above(bins.start, from + width - 0.5);
        const events = (last ? bins.count[last - 1] : 0) - (first ? bins.count[first - 1] : 0);
        return [`${share(Math.min(1, busy / width))} busy in ${duration(width)}`, `${count(events)} begin here; zoom in to see them`];
    }

    private listen(): void {
        const { canvas, scroll } = this;
        let drag: { x: number; y: number; from: number; to: number; scroll: number; moved: boolean; area: boolean } | null = null;
        const place = (event: MouseEvent) => {
            const box = canvas.getBoundingClientRect();
            return { x: event.clientX - box.left, y: event.clientY - box.top };
        };
        canvas.addEventListener('pointerdown', (event) => {
            if (event.button !== 0)
                return;
            scroll.focus({ preventScroll: true });
            const { x, y } = place(event);
            canvas.setPointerCapture(event.pointerId);
            drag = { x, y, from: this.axis.from, to: this.axis.to, scroll: scroll.scrollTop, moved: false, area: event.shiftKey };
        });
        canvas.addEventListener('pointermove', (event) => {
            const { x, y } = place(event);
            this.pointer = { x, y };
            if (drag) {
                drag.moved ||= Math.abs(x - drag.x) + Math.abs(y - drag.y) > 3;
                if (!drag.moved)
                    return;
                hideTip();
                if (drag.area) {
                    this.area = [this.timeAt(drag.x), this.timeAt(x)];
                    this.draw();
                    return;
                }
                canvas.style.cursor = 'grabbing';
                const ns = ((drag.x - x) * (drag.to - drag.from)) / this.width;
                scroll.scrollTop = drag.scroll + drag.y - y;
                this.axis.show(drag.from + ns, drag.to + ns);
                return;
            }
            const tip = this.tipFor(x, y);
            canvas.style.cursor = tip ? 'pointer' : 'default';
            if (tip)
                showTip(event.clientX, event.clientY, tip);
            else
                hideTip();
        });
        canvas.addEventListener('pointerup', (event) => {
            const { x, y } = place(event);
            canvas.style.cursor = 'default';
            if (drag && !drag.moved) {
                this.area = null;
                this.select(this.sliceAt(x, y));
            } else if (drag?.area && this.area) {
                this.onarea(Math.min(...this.area), Math.max(...this.area));
            }
            drag = null;
        });
        canvas.addEventListener('pointerleave', () => {
            this.pointer = null;
            hideTip();
        });
        canvas.addEventListener('dblclick', () => this.focusSelected());
        canvas.addEventListener('wheel', (event) => {
            const { x } = place(event);
            const unit = event.deltaMode === 1 ? 16 : 1;
            hideTip();
            const fits = scroll.scrollHeight <= scroll.clientHeight && !event.deltaX && !event.shiftKey;
            if (event.ctrlKey || event.metaKey || fits) {
                event.preventDefault();
                this.axis.zoom(Math.exp((event.deltaY * unit) / 250), this.timeAt(x));
            } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
                event.preventDefault();
                this.axis.move((event.deltaX || event.deltaY) * unit * this.perPixel);
            }
        }, { passive: false });
        scroll.addEventListener('scroll', () => this.draw());
    }

    /* Choosing. */

    select(slice: Slice | null): void {
        this.selected = slice;
        this.flows = [];
        this.onselect(slice);
        this.draw();
        if (slice)
            void this.loadFlows(slice);
    }

    private async loadFlows(slice: Slice): Promise<void> {
        let flows: [Slice, Slice][] = [];
        const { process, kind } = slice.lane;
        if (kind === 'thread' && (slice.item & 3) === CALL) {
            const work = await this.trace.work(process, slice.correlation, MOST_FLOWS);
            flows = work.map((item) => [slice, item]);
        } else if (kind !== 'thread' && slice.correlation) {
            const call = await this.trace.call(process, slice.correlation);
            flows = call ? [[call, slice]] : [];
        }
        if (this.selected === slice) {
            this.flows = flows;
            this.draw();
        }
    }

    get flowCount(): number {
        return this.flows.length;
    }

    /** Chooses the next (or last) event of the row. */
    async step(forward: boolean): Promise<void> {
        if (!this.selected)
            return;
        const next = await this.trace.next([this.selected.lane], this.selected.start, forward, () => true);
        if (next)
            this.reveal(next);
    }

    /** Shows a gap: the last of its pieces is chosen, which tells what it was waited for. */
    showGap(gap: Gap): void {
        const margin = 0.5 * (gap.to - gap.from);
        this.axis.show(gap.from - margin, gap.to + margin);
        this.showRow(gap.lane);
        void this.trace.next([gap.lane], gap.to, false, () => true).then((slice) => this.select(slice));
    }

    /** Chooses the next (or last) idle time of the GPU, or of any, that is wide enough to be seen; of all, if none is. */
    async stepGap(forward: boolean): Promise<void> {
        const { selected, axis } = this;
        const idle = this.trace.lanes.filter((lane) => lane.kind === 'idle');
        const same = idle.filter((lane) => selected && lane.gpu === selected.lane.gpu && lane.process === selected.lane.process);
        const lanes = same.length ? same : idle;
        const from = selected?.start ?? (forward ? axis.from : axis.to);
        const next = await this.trace.next(lanes, from, forward, () => true, GAP * this.perPixel) ??
            await this.trace.next(lanes, from, forward, () => true);
        if (next)
            this.reveal(next);
    }

    /** Chooses the event of the next row above or below that is nearest in time. */
    async stepRow(down: boolean): Promise<void> {
        const { selected } = this;
        if (!selected)
            return;
        const rows = this.rows.filter((row) => row.lane);
        for (let at = rows.findIndex((row) => row.lane === selected.lane) + (down ? 1 : -1); rows[at]; at += down ? 1 : -1) {
            const lane = rows[at].lane as Lane;
            const next = await this.trace.next([lane], selected.start - 1, true, () => true) ??
                await this.trace.next([lane], selected.start, false, () => true);
            if (next)
                return this.reveal(next);
        }
    }

    /** Chooses an event and brings it into the view. */
    reveal(slice: Slice): void {
        const { axis } = this;
        const end = slice.start + slice.duration;
        if (slice.start < axis.from || end > axis.to || slice.duration < 3 * this.perPixel) {
            const span = slice.duration < 3 * this.perPixel ? Math.max(20 * slice.duration, 1000) :
                Math.max(axis.span, 1.5 * slice.duration);
            axis.show((slice.start + end) / 2 - span / 2, (slice.start + end) / 2 + span / 2);
        }
        this.showRow(slice.lane);
        this.select(slice);
    }

    private showRow(lane: Lane): void {
        if (!this.rowOf(lane) && this.closed.size) {
            this.closed.clear();
            this.layOut();
        }
        const row = this.rowOf(lane);
        if (row && (row.top < this.scroll.scrollTop || row.top + row.height > this.scroll.scrollTop + this.scroll.clientHeight))
            this.scroll.scrollTop = row.top - this.scroll.clientHeight / 2;
    }

    focusSelected(): void {
        const { selected, area } = this;
        if (area)
            this.axis.show(Math.min(...area), Math.max(...area));
        else if (selected)
            this.axis.show(selected.start - 0.3 * Math.max(selected.duration, 30),
                selected.start + selected.duration + 0.3 * Math.max(selected.duration, 30));
    }

    clearArea(): boolean {
        const there = this.area !== null;
        this.area = null;
        this.draw();
        return there;
    }

    scrollRows(by: number): void {
        this.scroll.scrollTop += by;
    }
}
