// The tables: where the time went, by name.

import { byId, element, link, partBar } from './dom';
import { bytes, count, duration } from './format';
import { metricText, metricsMenu } from './ranges';
import { TableName, TableRow, Trace } from './trace';
import { Window, readWindow } from './window';

const TITLES: Record<TableName, string> = { kernels: 'Kernels', calls: 'Host calls', copies: 'Copies', ranges: 'Ranges' };
const MOST_ROWS = 500;

/** Heading, place in the row, how it looks; the first column is the name. */
type Column = [string, (row: TableRow) => number, (value: number) => string];

const calls: Column = ['calls', (row) => row[1], count];
const times: Column[] = [
    ['total', (row) => row[2], duration],
    ['mean', (row) => row[2] / row[1], duration],
    ['min', (row) => row[3], duration],
    ['p50', (row) => row[4], duration],
    ['p99', (row) => row[5], duration],
    ['max', (row) => row[6], duration],
];
const more: Record<TableName, Column[]> = {
    kernels: [],
    calls: [['failed', (row) => row[7], (value) => (value ? count(value) : '–')]],
    copies: [['bytes', (row) => row[8], bytes], ['GB/s', (row) => row[8] / Math.max(1, row[2]), (value) => value.toFixed(2)]],
    ranges: [['own', (row) => row[11], duration]],
};

export class Tables {
    private table: TableName = 'kernels';
    private order = 2;
    private rising = false;
    private words = '';
    private readonly shown: Set<string>; // metrics of kernels that have a column
    private readonly counted: Map<number, (number | null)[]>; // by name
    private readonly view = byId('view-tables');
    private window: Window | null = null; // in view; null: all of the page is
    private ofView = true; // the tables are of the time in view
    private told = ''; // which time that is
    private wanted = 0;

    /** `open` is called with a name: its longest event is shown. */
    constructor(private readonly trace: Trace, private readonly open: (table: TableName, row: TableRow) => void) {
        const { metrics, rows } = trace.head.counted;
        this.shown = new Set(metrics.filter((metric) => metric.recorded).map((metric) => metric.name));
        this.counted = new Map(rows.map((row) => [row[0] as number, row.slice(1)]));
    }

    /** Tells of a time, until somebody asks for all. */
    async show(from: number, to: number, all: boolean): Promise<void> {
        const time = `${all} ${from} ${to}`;
        if (time === this.told && this.ofView)
            return; // somebody may be typing
        this.told = time;
        const mine = ++this.wanted;
        this.window = null;
        if (!all) {
            const window = await readWindow(this.trace, from, to, false);
            if (mine !== this.wanted)
                return;
            this.window = window;
        }
        this.ofView = true;
        this.draw();
    }

    /** The window that the tables are of; null: all of the page. */
    private get part(): Window | null {
        return this.ofView ? this.window : null;
    }

    private rows(table: TableName): TableRow[] {
        return this.part ? this.part.tables?.[table] ?? [] : this.trace.head.tables[table];
    }

    private columns(): Column[] {
        return [calls, ...times, ...more[this.table], ...(this.table === 'kernels' && !this.part ? this.counters() : [])];
    }

    /** What shares are of: ranges lie in each other, and a time is to count once. */
    private time(row: TableRow): number {
        return this.table === 'ranges' ? row[11] : row[2];
    }

    /** Of the time in view, or of all. */
    private choice(): HTMLElement | false {
        const { window } = this;
        const way = (ofView: boolean, text: string) => element('button', {
            'aria-pressed': this.ofView === ofView, onclick: () => {
                this.ofView = ofView;
                this.draw();
            },
        }, text);
        return window !== null && element('div', { class: 'set', role: 'group', 'aria-label': 'Time' },
            way(true, `In view: ${duration(window.to - window.from)}`), way(false, 'All of the trace'));
    }

    /** What hardware counters counted during the kernels of a name. */
    private counters(): Column[] {
        const value = (place: number) => (row: TableRow) => this.counted.get(row[0])?.[place] ?? NaN;
        if (this.counted.size === 0)
            return [];
        return [['counted', value(0), (number) => (Number.isNaN(number) ? '–' : count(number))],
            ...this.trace.head.counted.metrics.flatMap((metric, place): Column[] => (this.shown.has(metric.name) ?
                [[metric.name, value(place + 1), (number) => metricText(metric, number)]] : []))];
    }

    private draw(): void {
        const known = !this.part || this.part.tables;
        const there = (name: TableName) => name === this.table || (known ? this.rows(name) : this.trace.head.tables[name]).length > 0;
        const set = element('div', { class: 'set', role: 'group', 'aria-label': 'Tables' },
            ...(Object.keys(TITLES) as TableName[]).filter(there).map((name) => element('button', {
                'aria-pressed': name === this.table, onclick: () => {
                    this.table = name;
                    this.order = 2;
                    this.draw();
                },
            }, `${TITLES[name]} (${count(this.rows(name).length)})`)));
        const filter = element('input', {
            class: 'filter', type: 'search', placeholder: 'Only names with …', 'aria-label': 'Only names with', value: this.words,
            oninput: (event: Event) => {
                this.words = (event.target as HTMLInputElement).value;
                this.drawSheet();
            },
        });
        const menu = this.table === 'kernels' && !this.part && this.counted.size > 0 && metricsMenu(this.trace.head.counted.metrics, this.shown, () => {
            this.order = 2;
            this.drawSheet();
        });
        this.view.replaceChildren(element('div', { class: 'choices' }, this.choice(), set, filter, menu,
            element('span', { class: 'soft', id: 'table-sum', role: 'status' })), element('div', { class: 'sheet', tabindex: 0 }));
        this.drawSheet();
    }

    private heading(text: string, order: number): HTMLElement {
        const active = order === this.order;
        return element('th', { scope: 'col', 'aria-sort': active ? (this.rising ? 'ascending' : 'descending') : undefined },
            element('button', {
                onclick: () => {
                    this.rising = active ? !this.rising : order === 0;
                    this.order = order;
                    this.drawSheet();
                },
            }, `${text}${active ? (this.rising ? ' ▴' : ' ▾') : ''}`));
    }

    private drawSheet(): void {
        const { texts } = this.trace.head;
        const columns = this.columns();
        const words = this.words.toLowerCase().split(/\s+/).filter(Boolean);
        const rows = this.rows(this.table).filter((row) => words.every((word) => texts[row[0]].toLowerCase().includes(word)));
        const all = this.rows(this.table).reduce((sum, row) => sum + this.time(row), 0);
        const key = this.order ? columns[this.order - 1][1] : null;
        const order = (row: TableRow) => (key ? (Number.isNaN(key(row)) ? -1 : key(row)) : 0);
        rows.sort((a, b) => (this.rising ? 1 : -1) * (key ? order(a) - order(b) : texts[a[0]] < texts[b[0]] ? -1 : 1));
        byId('table-sum').textContent = this.sumOf(rows, words.length > 0);
        const head = element('tr', {}, this.heading('name', 0), ...columns.map(([text], place) => this.heading(text, place + 1)),
            element('th', { scope: 'col', title: this.table === 'ranges' ? 'of the time in ranges: what lies in an inner range counts there alone' :
                'of the time of all' }, this.table === 'ranges' ? 'share, without inner' : 'share'));
        const body = rows.slice(0, MOST_ROWS).map((row) => element('tr', {},
            element('td', { class: 'name', title: texts[row[0]] }, link(this.trace.tableName(row[0]), () => this.open(this.table, row))),
            ...columns.map(([, value, show]) => element('td', {}, show(value(row)))), this.shareCell(this.time(row) / Math.max(1, all))));
        (this.view.querySelector('.sheet') as HTMLElement).replaceChildren(element('table', {}, element('thead', {}, head),
            element('tbody', {}, ...body)));
    }

    /** What is listed, in a line. */
    private sumOf(rows: TableRow[], filtered: boolean): string {
        const sum = (place: 1 | 2) => rows.reduce((all, row) => all + row[place], 0);
        if (this.part && !this.part.tables)
            return 'There are too many events in view, or not all of them are in this page.';
        if (rows.length === 0)
            return filtered ? 'nothing of such a name' : 'nothing';
        return `${count(rows.length)} ${rows.length === 1 ? 'name' : 'names'}, ${count(sum(1))} ${sum(1) === 1 ? 'event' : 'events'}, ` +
            `${duration(sum(2))}${rows.length > MOST_ROWS ? `; the first ${MOST_ROWS} are listed` : ''}`;
    }

    private shareCell(value: number): HTMLElement {
        return element('td', { class: 'share' }, partBar(value));
    }
}
