// Ranges: what each one cost the GPU, as a tree, one by one or merged by name.

import { Column, Costs, Metric, RangeTable, rowOf } from './costs';
import { byId, element, link } from './dom';
import { bytes, count, duration, moment, share } from './format';
import { Trace } from './trace';

const ROW = 24; // px, as in the style sheet
const OPENED = 200; // rows that are seen at first, about
const INDENTED = 24; // levels
const AROUND = 12; // rows beyond those that are seen

export type Fact = [string, Node | string];

export interface RangeWays {
    /** Shows a time, and the range in it. */
    show(process: number, id: number, start: number, end: number): void;
    chosen(): void;
}

/** Heading, how it looks, what it is ordered by. */
interface Shown {
    title: string;
    hint: string;
    text(row: number): string;
    key(row: number): number;
}

/** A metric's value with its unit. */
export function metricText(metric: Metric, value: number): string {
    if (Number.isNaN(value))
        return '–';
    switch (metric.unit) {
    case 'ns':
        return duration(value);
    case '%':
        return `${value.toFixed(1)}\u00a0%`;
    case 'bytes':
        return bytes(value);
    default:
        return metric.rule === 'ratio of sums' ? String(Number(value.toPrecision(4))) : count(value);
    }
}

/** A menu that chooses which metrics have a column. */
export function metricsMenu(metrics: Metric[], shown: Set<string>, changed: () => void): HTMLElement {
    return element('details', { class: 'menu' }, element('summary', {}, 'Metrics'),
        element('div', {}, ...metrics.map((metric) => element('label', { title: `${metric.rule}: ${metric.formula}` },
            element('input', {
                type: 'checkbox', checked: shown.has(metric.name), onchange: (event: Event) => {
                    if ((event.target as HTMLInputElement).checked)
                        shown.add(metric.name);
                    else
                        shown.delete(metric.name);
                    changed();
                },
            }), metric.name))));
}

/** What is known of a row of a table. */
export function factsOf(costs: Costs, table: RangeTable, row: number): Fact[][] {
    const of = (name: Column) => table.columns[name][row];
    const wall = of('wall');
    const idle = `${duration(of('idle'))}${wall > 0 ? ` (${share(of('idle') / wall)} of wall)` : ''}`;
    const ended = of('open') < of('ranges');
    const times: Fact[] = [
        ['Wall', ended ? duration(wall) : 'it never ended'],
        ['Busy', duration(of('busy'))],
        ...(ended ? [['Idle', idle] as Fact] : []),
        ['Kernels', `${count(of('kernels'))}, ${duration(of('kernelTime'))}`],
    ];
    if (of('overlap'))
        times.push(['Two at once', duration(of('overlap'))]);
    if (of('copies'))
        times.push(['Copies', `${count(of('copies'))}, ${bytes(of('copyBytes'))}, ${duration(of('copyTime'))}`],
            ['Copying', `${duration(of('copying'))}, ${duration(of('copyOverlap'))} of it beside kernels`]);
    if (of('launches'))
        times.push(['Replays', count(of('launches'))]);
    if (of('shared'))
        times.push(['Counters', `${of('ranges') > 1 ? `of ${count(of('shared'))} ranges ` : ''}count other work, too, or may do so`]);
    const places = [...costs.metrics.keys()].sort((a, b) => Number(costs.metrics[b].recorded) - Number(costs.metrics[a].recorded) || a - b);
    const metrics = places.map((place): Fact => {
        const metric = costs.metrics[place];
        return [metric.name, element('span', { title: `${metric.rule}: ${metric.formula}` }, metricText(metric, table.metrics[place][row]))];
    });
    const kernels = table.kernels[row].map(([name, calls, total]): Fact =>
        [share(total / Math.max(1, of('kernelTime'))), `${costs.texts[name]} · ${count(calls)} × ${duration(total / calls)}`]);
    if (table.further[row])
        kernels.push(['', `and ${count(table.further[row])} other names`]);
    return [times, metrics, kernels];
}

export class Ranges {
    costs: Costs | null = null;
    merged = true;
    /** Rows that are to be seen, from the top. */
    rows: number[] = [];
    chosen = -1; // row of the table, -1: none
    private readonly view = byId('view-ranges');
    private readonly sheet = element('div', { class: 'sheet', tabindex: 0, role: 'treegrid', 'aria-label': 'Ranges' });
    private readonly pane = element('aside', { class: 'cost', 'aria-label': 'The chosen range', 'aria-live': 'polite' });
    private opened = new Set<number>();
    private shown = new Set<string>(); // metrics that have a column
    private words: string[] = [];
    private order = 0; // column, 0: as they began
    private rising = false;
    private first = new Int32Array(0); // of a row's inner ones, -1: none; the last is for the outermost
    private next = new Int32Array(0);
    private readonly ready: Promise<void>;

    constructor(private readonly trace: Trace, private readonly ways: RangeWays) {
        this.sheet.addEventListener('scroll', () => this.drawRows());
        this.sheet.addEventListener('keydown', (event) => this.key(event));
        new ResizeObserver(() => this.drawRows()).observe(this.sheet);
        this.view.replaceChildren(element('p', { class: 'soft' }, '…'));
        this.ready = trace.costs().then((costs) => this.begin(costs));
    }

    get table(): RangeTable {
        const costs = this.costs as Costs;
        return this.merged ? costs.merged : costs.single;
    }

    private begin(costs: Costs | null): void {
        this.costs = costs;
        if (!costs) {
            this.view.replaceChildren(element('p', { class: 'soft' },
                'No range was set in this trace. A program sets them by roctxRangePush or rtlRangePush.'));
            return;
        }
        this.merged = costs.single.size > OPENED || costs.leftOut > 0;
        this.shown = new Set(costs.metrics.filter((metric) => metric.recorded).map((metric) => metric.name));
        this.lay();
    }

    /** Chooses a range, one by one, and shows it in the tree. */
    async open(process: number, id: number): Promise<void> {
        await this.ready;
        const row = this.costs ? rowOf(this.costs.single, process, id) : -1;
        if (row < 0)
            return;
        this.merged = false;
        this.words = [];
        this.lay();
        this.choose(row, true);
    }

    /** Process and id of the chosen range; null without, and of merged ones. */
    get chosenId(): [number, number] | null {
        if (!this.costs || this.merged || this.chosen < 0)
            return null;
        const { process, id } = this.table.columns;
        return [process[this.chosen], id[this.chosen]];
    }

    /* The frame. */

    private lay(): void {
        const costs = this.costs as Costs;
        this.chosen = -1;
        this.order = 0;
        const way = (merged: boolean, text: string) => element('button', {
            'aria-pressed': this.merged === merged, onclick: () => {
                this.merged = merged;
                this.lay();
            },
        }, text);
        const filter = element('input', {
            class: 'filter', type: 'search', placeholder: 'Only names with …', 'aria-label': 'Only ranges with', value: this.words.join(' '),
            oninput: (event: Event) => {
                this.words = (event.target as HTMLInputElement).value.toLowerCase().split(/\s+/).filter(Boolean);
                this.list();
            },
        });
        const total = costs.merged.columns.ranges.reduce((sum, value) => sum + value, 0);
        this.view.replaceChildren(element('div', { class: 'choices' },
            element('div', { class: 'set', role: 'group', 'aria-label': 'Ranges' },
                way(true, `By name (${count(costs.merged.size)})`), way(false, `One by one (${count(costs.single.size)})`)),
            filter, this.menu(costs), element('span', { class: 'soft', id: 'range-sum', role: 'status' })),
        element('p', { class: 'soft', hidden: !costs.leftOut }, `Of ${count(total)} ranges the ${count(costs.single.size)} longest are here ` +
            'one by one; by name all are.'), this.sheet, this.pane);
        this.sort();
        this.openSome();
        this.list();
        this.drawPane();
    }

    /** Metrics can be columns. */
    private menu(costs: Costs): HTMLElement {
        return metricsMenu(costs.metrics, this.shown, () => {
            this.order = 0;
            this.sort();
            this.list();
        });
    }

    private columns(): Shown[] {
        const { columns, metrics } = this.table;
        const plain = (title: string, hint: string, name: Column, show: (value: number) => string): Shown =>
            ({ title, hint, text: (row) => show(columns[name][row]), key: (row) => columns[name][row] });
        const some = (show: (value: number) => string) => (value: number) => (value ? show(value) : '–');
        const ended = (row: number, text: string) => (columns.open[row] < columns.ranges[row] ? text : 'open');
        const costs = this.costs as Costs;
        return [
            ...(this.merged ? [plain('ranges', 'how many there are', 'ranges', count)] : []),
            { ...plain('wall', 'from begin to end', 'wall', duration), text: (row) => ended(row, duration(columns.wall[row])) },
            plain('busy', 'a kernel of it ran, or more', 'busy', duration),
            { ...plain('idle', 'of wall, when nothing of it was going on', 'idle', duration),
                text: (row) => ended(row, duration(columns.idle[row])) },
            plain('kernels', 'submitted in it, or in a range within', 'kernels', some(count)),
            plain('copied', 'by copies submitted in it', 'copyBytes', some(bytes)),
            plain('replays', 'of graphs, launched in it', 'launches', some(count)),
            ...costs.metrics.flatMap((metric, place) => (this.shown.has(metric.name) ? [{
                title: metric.name, hint: `${metric.rule}: ${metric.formula}`,
                text: (row: number) => metricText(metric, metrics[place][row]),
                key: (row: number) => (Number.isNaN(metrics[place][row]) ? -1 : metrics[place][row]),
            }] : [])),
        ];
    }

    /* Which rows are to be seen. */

    /** Links the inner ones of each row, in order. */
    private sort(): void {
        const { size, columns } = this.table;
        const rows = Int32Array.from({ length: size }, (_, row) => row);
        if (this.order) {
            const { key } = this.columns()[this.order - 1];
            const keys = Float64Array.from(rows, key);
            rows.sort((a, b) => (this.rising ? keys[a] - keys[b] : keys[b] - keys[a]) || a - b);
        }
        this.first = new Int32Array(size + 1).fill(-1);
        this.next = new Int32Array(size).fill(-1);
        for (let i = size - 1; i >= 0; --i) {
            const around = columns.parent[rows[i]] ? columns.parent[rows[i]] - 1 : size;
            this.next[rows[i]] = this.first[around];
            this.first[around] = rows[i];
        }
    }

    /** As many levels as fit. */
    private openSome(): void {
        const { size, columns, depth } = this.table;
        const levels: number[] = [];
        for (let row = 0; row < size; ++row)
            levels[depth[row]] = (levels[depth[row]] ?? 0) + 1;
        let seen = levels[0];
        let level = 1;
        while (level < levels.length && seen + levels[level] <= OPENED)
            seen += levels[level++];
        this.opened = new Set();
        for (let row = 0; row < size; ++row)
            if (columns.parent[row] && depth[row] < level)
                this.opened.add(columns.parent[row] - 1);
    }

    /** Rows whose names have the words, and those around them; null: all. */
    private wanted(): Uint8Array | null {
        const { size, columns } = this.table;
        const { texts } = this.costs as Costs;
        if (this.words.length === 0)
            return null;
        const fits = texts.map((text) => {
            const lower = text.toLowerCase();
            return this.words.every((word) => lower.includes(word));
        });
        const wanted = new Uint8Array(size);
        let found = 0;
        for (let row = size - 1; row >= 0; --row) {
            if (fits[columns.name[row]]) {
                ++found;
                wanted[row] = 1;
            }
            if (wanted[row] && columns.parent[row])
                wanted[columns.parent[row] - 1] = 1;
        }
        byId('range-sum').textContent = `${count(found)} of such a name`;
        return wanted;
    }

    private list(): void {
        const wanted = this.wanted();
        const costs = this.costs as Costs;
        if (!wanted)
            byId('range-sum').textContent = costs.outside ? `${count(costs.outside)} ${costs.outside === 1 ? 'kernel is' : 'kernels are'} in none` : '';
        this.rows = [];
        const stack = [this.first[this.table.size]];
        while (stack.length) {
            const row = stack.pop() as number;
            if (row < 0)
                continue;
            stack.push(this.next[row]);
            if (wanted && !wanted[row])
                continue;
            this.rows.push(row);
            if (wanted || this.opened.has(row))
                stack.push(this.first[row]);
        }
        this.sheet.setAttribute('aria-rowcount', String(this.rows.length + 1));
        this.drawRows();
    }

    /* The rows that are seen. */

    private heading(text: string, order: number, hint: string): HTMLElement {
        const active = order === this.order;
        const mark = active && order ? (this.rising ? ' ▴' : ' ▾') : '';
        return element('th', { scope: 'col', title: hint, class: order ? '' : 'name', 'aria-sort': mark ?
            (this.rising ? 'ascending' : 'descending') : undefined }, element('button', {
            onclick: () => {
                this.rising = active && !this.rising;
                this.order = order;
                this.sort();
                this.list();
            },
        }, `${text}${mark}`));
    }

    private nameCell(row: number): HTMLElement {
        const { columns, depth } = this.table;
        const inner = this.first[row] >= 0;
        const open = this.opened.has(row) || this.words.length > 0;
        const several = (this.trace.head.processes.length > 1 && !columns.parent[row]) ? `process ${columns.process[row]} · ` : '';
        const text = (this.costs as Costs).texts[columns.name[row]] || '(no name)';
        const cell = element('td', { class: 'name', title: text },
            element('button', { class: 'twist', tabindex: -1, 'aria-label': open ? 'Close' : 'Open', hidden: !inner,
                onclick: () => this.toggle(row) }, open ? '▾' : '▸'),
            several, link(text, () => this.show(row)));
        cell.style.paddingLeft = `${(inner ? 8 : 26) + 16 * Math.min(INDENTED, depth[row])}px`;
        return cell;
    }

    private line(row: number, place: number, columns: Shown[]): HTMLElement {
        const inner = this.first[row] >= 0;
        return element('tr', {
            id: `range-${row}`, role: 'row', 'aria-selected': row === this.chosen, 'aria-level': this.table.depth[row] + 1, 'aria-rowindex': place + 2,
            'aria-expanded': inner ? String(this.opened.has(row) || this.words.length > 0) : undefined,
            onclick: (event: Event) => {
                if (!(event.target as HTMLElement).closest('button'))
                    this.choose(row);
            },
            ondblclick: () => this.show(row),
        }, this.nameCell(row), ...columns.map(({ text }) => element('td', {}, text(row))));
    }

    private drawRows(): void {
        if (!this.costs || this.view.hidden)
            return;
        const columns = this.columns();
        const from = Math.max(0, Math.floor(this.sheet.scrollTop / ROW) - AROUND);
        const to = Math.min(this.rows.length, Math.ceil((this.sheet.scrollTop + this.sheet.clientHeight) / ROW) + AROUND);
        const space = (rows: number) => {
            const line = element('tr', { class: 'space', 'aria-hidden': true });
            line.style.height = `${rows * ROW}px`;
            return line;
        };
        this.sheet.replaceChildren(element('table', {},
            element('thead', {}, element('tr', {}, this.heading('range', 0, 'in the order in which they began'),
                ...columns.map(({ title, hint }, place) => this.heading(title, place + 1, hint)))),
            element('tbody', {}, space(from), ...this.rows.slice(from, to).map((row, i) => this.line(row, from + i, columns)),
                space(this.rows.length - to))));
    }

    drawNow(): void {
        this.drawRows();
    }

    /* What is chosen. */

    private toggle(row: number): void {
        if (!this.opened.delete(row))
            this.opened.add(row);
        this.list();
    }

    private show(row: number): void {
        const { columns } = this.table;
        this.choose(row);
        const start = columns.start[row];
        const end = this.merged ? columns.last[row] : start + columns.wall[row];
        this.ways.show(columns.process[row], columns.id[row], start, columns.open[row] < columns.ranges[row] ? end : this.trace.head.last);
    }

    /** Opens what is around a row and scrolls to it, if it is wanted to be seen. */
    private choose(row: number, reveal = false): void {
        this.chosen = row;
        if (reveal) {
            const { parent } = this.table.columns;
            for (let around = parent[row]; around; around = parent[around - 1])
                this.opened.add(around - 1);
            this.list();
            this.scrollTo(this.rows.indexOf(row));
        }
        for (const line of this.sheet.querySelectorAll('tr[aria-selected]'))
            line.setAttribute('aria-selected', String(line.id === `range-${row}`));
        this.sheet.setAttribute('aria-activedescendant', `range-${row}`);
        this.drawPane();
        this.ways.chosen();
    }

    private scrollTo(place: number): void {
        const { sheet } = this;
        const room = sheet.clientHeight - ROW; // below the heading
        if (place * ROW < sheet.scrollTop)
            sheet.scrollTop = place * ROW;
        else if ((place + 1) * ROW > sheet.scrollTop + room)
            sheet.scrollTop = (place + 1) * ROW - room;
        else
            return;
        this.drawRows();
    }

    private drawPane(): void {
        const { chosen, table } = this;
        if (chosen < 0) {
            this.pane.replaceChildren(element('p', { class: 'soft' },
                'Choose a range to see what it cost. A name, or Enter, leads to it in the timeline' +
                `${this.merged ? ' (to the longest of them)' : ''}; arrows choose, open and close.`));
            return;
        }
        const costs = this.costs as Costs;
        const { columns } = table;
        const names = [];
        for (let row = chosen + 1; row; row = columns.parent[row - 1])
            names.unshift(costs.texts[columns.name[row - 1]] || '(no name)');
        const what: Fact[] = this.merged ? [['Ranges', count(columns.ranges[chosen])],
            ...(columns.open[chosen] ? [['Never ended', count(columns.open[chosen])] as Fact] : [])] :
            [['Begin', moment(columns.start[chosen])], ['Id', String(columns.id[chosen])], ['Thread', String(columns.thread[chosen])],
                ['Kind', columns.kind[chosen] ? 'range, stopped by hand' : 'range'],
                ['Its work', columns.last[chosen] > columns.start[chosen] || columns.kernels[chosen] ?
                    `from ${duration(columns.first[chosen] - columns.start[chosen])} to ` +
                    `${duration(columns.last[chosen] - columns.start[chosen])} after its begin` : 'none']];
        const [times, metrics, kernels] = factsOf(costs, table, chosen);
        const list = (facts: Fact[], type = '') => element('dl', {}, ...facts.flatMap(([name, value]) =>
            [element('dt', { class: type }, name), element('dd', {}, value)]));
        this.pane.replaceChildren(element('h2', {}, names.join(' › ')), element('div', { class: 'columns' },
            list([...what, ...times]), list(metrics), ...(kernels.length ? [list(kernels, 'number')] : [])));
    }

    private key(event: KeyboardEvent): void {
        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        const place = this.rows.indexOf(this.chosen);
        const page = Math.max(1, Math.floor(this.sheet.clientHeight / ROW) - 2);
        const steps: Record<string, number> = {
            ArrowDown: place + 1, ArrowUp: Math.max(0, place - 1), PageDown: place + page, PageUp: Math.max(0, place - page), Home: 0,
            End: this.rows.length - 1,
        };
        const acts: Record<string, () => void> = {
            Enter: () => this.show(this.chosen),
            ArrowRight: () => (this.opened.has(this.chosen) ? this.step(place + 1) : this.toggle(this.chosen)),
            ArrowLeft: () => (this.opened.has(this.chosen) ? this.toggle(this.chosen) :
                this.step(this.rows.indexOf(this.table.columns.parent[this.chosen] - 1))),
        };
        if (event.key in steps)
            this.step(steps[event.key]);
        else if (acts[event.key] && place >= 0 && !(event.target as HTMLElement).closest('button'))
            acts[event.key]();
        else
            return;
        event.preventDefault();
        event.stopPropagation();
    }

    private step(place: number): void {
        const to = Math.min(this.rows.length - 1, place);
        if (to < 0)
            return;
        this.scrollTo(to);
        this.choose(this.rows[to]);
    }
}
