// Search over all names: kernels, host calls, copies, graphs and ranges.

import { byId, element } from './dom';
import { count } from './format';
import { TableName, Trace } from './trace';

const KINDS: [TableName, string][] = [['kernels', 'kernel'], ['calls', 'host call'], ['ranges', 'range'], ['copies', 'copy']];
const MOST = 60;

export interface Found {
    table: TableName;
    name: number; // a text of the page
}

export class Search {
    private readonly input = byId<HTMLInputElement>('search');
    private readonly list = byId('found');
    private hits: Found[] = [];
    private at = -1;

    constructor(private readonly trace: Trace, private readonly choose: (found: Found, again: boolean, forward: boolean) => void,
                private readonly clear: () => void) {
        this.input.addEventListener('input', () => this.look());
        this.input.addEventListener('focus', () => this.look());
        this.input.addEventListener('blur', () => setTimeout(() => (this.list.hidden = true), 150));
        this.input.addEventListener('keydown', (event) => this.key(event));
    }

    focus(): void {
        this.input.focus();
        this.input.select();
    }

    private key(event: KeyboardEvent): void {
        if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            this.at = Math.max(0, Math.min(this.hits.length - 1, this.at + (event.key === 'ArrowDown' ? 1 : -1)));
            this.mark();
            event.preventDefault();
        } else if (event.key === 'Enter' && this.hits.length) {
            this.take(Math.max(0, this.at), !event.shiftKey);
        } else if (event.key === 'Escape') {
            this.input.value = '';
            this.look();
            this.input.blur();
        }
        event.stopPropagation();
    }

    private last: Found | null = null;

    private take(place: number, forward = true): void {
        const found = this.hits[place];
        const again = this.last?.table === found.table && this.last.name === found.name;
        this.last = found;
        this.at = place;
        this.mark();
        this.choose(found, again, forward);
    }

    private look(): void {
        const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
        const { texts, tables } = this.trace.head;
        this.hits = [];
        this.at = -1;
        this.last = null;
        this.list.hidden = words.length === 0;
        if (words.length === 0) {
            this.list.replaceChildren();
            this.clear();
            return;
        }
        const items: HTMLElement[] = [];
        for (const [table, kind] of KINDS)
            for (const row of tables[table]) {
                const text = texts[row[0]];
                if (this.hits.length === MOST || !words.every((word) => text.toLowerCase().includes(word)))
                    continue;
                const place = this.hits.push({ table, name: row[0] }) - 1;
                items.push(element('div', { role: 'option', 'aria-selected': false, title: text, onpointerdown: (event: Event) => {
                    event.preventDefault();
                    this.take(place);
                } }, element('span', { class: 'name' }, text), element('span', { class: 'soft' }, `${kind}, ${count(row[1])}`)));
            }
        if (items.length === 0)
            items.push(element('div', { class: 'soft' }, 'nothing has such a name'));
        else
            items.push(element('div', { class: 'soft' }, 'Enter: the next one · Shift+Enter: the one before · Esc: done'));
        this.list.replaceChildren(...items);
    }

    private mark(): void {
        this.list.querySelectorAll('[role=option]').forEach((item, place) => {
            item.setAttribute('aria-selected', String(place === this.at));
            if (place === this.at)
                item.scrollIntoView({ block: 'nearest' });
        });
    }
}
