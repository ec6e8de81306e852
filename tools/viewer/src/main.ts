// The page: reads the head, shows the views, and keeps what is seen in the address, so that links restore it.

import './style.css';
import { Motion } from './axis';
import { familyNumber, palette } from './colors';
import { byId, element, hideTip } from './dom';
import { count, duration } from './format';
import { Details } from './details';
import { Graphs } from './graphs';
import { Ranges } from './ranges';
import { Found, Search } from './search';
import { Server } from './server';
import { Tables } from './tables';
import { startTheme, toggleTheme } from './theme';
import { Timeline } from './timeline';
import { readWindow } from './window';
import { Kind, Lane, Slice, TableName, TableRow, Trace, Wanted } from './trace';

const TABS = ['timeline', 'graphs', 'ranges', 'tables', 'about'] as const;
type Tab = (typeof TABS)[number];

/** What tests and people at the console look at. */
export let trace: Trace;
export let timeline: Timeline;
export let graphs: Graphs;
export let ranges: Ranges | null = null;
/** Who gives what is not in the page; null: the page is a file. */
export let server: Server | null = null;
export { readWindow };
/** ms from the begin of the page to its first picture. */
export let firstPicture = 0;

let tab: Tab = 'timeline';
let tables: Tables | null = null;
let details: Details;
let ended = false;

const KINDS: Record<TableName, Kind> = { kernels: 'queue', calls: 'thread', ranges: 'thread', copies: 'copies' };

/** The events that a table's name stands for. */
function wantedOf({ table, name }: Found): Wanted {
    const text = trace.head.texts[name];
    return (lane, item, rangeName) => {
        if (lane.kind !== KINDS[table])
            return false;
        if (table === 'ranges')
            return (item & 3) !== 0 && rangeName() === text;
        return trace.nameNumber(lane, item) === name;
    };
}

function light(found: Found | null): void {
    timeline.wanted = found ? wantedOf(found) : null;
    timeline.wantedName = found ? (lane: Lane, name: number) => lane.kind === KINDS[found.table] && name === found.name : null;
    timeline.draw();
}

async function find(found: Found, again: boolean, forward: boolean): Promise<void> {
    light(found);
    showTab('timeline');
    const lanes = trace.lanes.filter((lane) => lane.kind === KINDS[found.table]);
    const from = again && timeline.selected ? timeline.selected.start : forward ? timeline.axis.from : timeline.axis.to;
    const next = await trace.next(lanes, from, forward, wantedOf(found)) ??
        await trace.next(lanes, forward ? trace.head.first - 1 : trace.head.last + 1, forward, wantedOf(found));
    if (next)
        timeline.reveal(next);
}

/** Shows the longest event of a row of a table, and the others of its name. */
function openName(table: TableName, row: TableRow): void {
    const found = { table, name: row[0] };
    light(found);
    showTab('timeline');
    void there(row[10], row[10] + row[6]).then(() => trace.next([trace.lanes[row[9]]], row[10] - 0.5, true, wantedOf(found)))
        .then((slice) => slice && timeline.reveal(slice));
}

/** Has single events of [from, to] come, where they can be had. */
async function there(from: number, to: number): Promise<void> {
    const margin = 0.25 * Math.max(1000, to - from);
    await server?.bring(from - margin, to + margin);
}

/** The ranges, which are unpacked when they are first looked at. */
function rangesView(): Ranges {
    ranges ??= new Ranges(trace, {
        show: (process, id, start, end) => {
            showTab('timeline');
            const margin = 0.05 * Math.max(10, end - start);
            const fit = () => timeline.axis.show(start - margin, end + margin);
            fit();
            void there(start, end).then(() => trace.range(process, id)).then((slice) => {
                if (!slice)
                    return;
                timeline.reveal(slice);
                fit();
            });
        },
        chosen: remember,
    });
    return ranges;
}

function showTab(name: Tab): void {
    tab = name;
    for (const other of TABS) {
        byId(`tab-${other}`).setAttribute('aria-selected', String(other === name));
        byId(`tab-${other}`).tabIndex = other === name ? 0 : -1;
        byId(`view-${other}`).hidden = other !== name;
    }
    hideTip();
    if (name === 'ranges')
        rangesView().drawNow();
    if (name === 'tables')
        void (tables ??= new Tables(trace, openName)).show(timeline.axis.from, timeline.axis.to, timeline.axis.isAll);
    if (name === 'timeline')
        timeline.drawNow();
    if (name === 'about')
        showAbout();
    remember();
}

/* The address. */

let remembering = 0;

function remember(): void {
    clearTimeout(remembering);
    remembering = window.setTimeout(() => {
        const state = new URLSearchParams();
        state.set('view', tab);
        state.set('from', String(Math.round(timeline.axis.from)));
        state.set('to', String(Math.round(timeline.axis.to)));
        const { selected } = timeline;
        if (selected)
            state.set('event', `${selected.lane.place}.${selected.start}.${selected.id}`);
        if (graphs.graph)
            state.set('graph', String(trace.head.graphs.indexOf(graphs.graph)));
        if (graphs.chosen)
            state.set('replay', String(graphs.chosen.launch.launch));
        const range = ranges?.chosenId;
        if (range)
            state.set('range', range.join('.'));
        history.replaceState(null, '', `#${state.toString()}`);
    }, 120);
}

async function restoreEvent(text: string): Promise<void> {
    const [place, start, id] = text.split('.').map(Number);
    const lane = trace.lanes[place];
    await there(start, start);
    const slice = lane && await trace.next([lane], start - 0.5, true, () => true);
    if (slice && slice.start === start && slice.id === id)
        timeline.select(slice);
}

function restore(): void {
    const state = new URLSearchParams(location.hash.slice(1));
    const from = Number(state.get('from') ?? NaN);
    const to = Number(state.get('to') ?? NaN);
    if (to > from)
        timeline.axis.show(from, to);
    const event = state.get('event');
    if (event)
        void restoreEvent(event);
    const graph = trace.head.graphs[Number(state.get('graph') ?? NaN)];
    const replay = Number(state.get('replay') ?? NaN);
    if (graph)
        graphs.open(graph, trace.launchesOf(graph).find((launch) => launch.launch === replay) ?? null);
    const range = state.get('range')?.split('.').map(Number);
    if (range)
        void rangesView().open(range[0], range[1]);
    const view = TABS.find((name) => name === state.get('view'));
    if (view)
        showTab(view);
}

/* Theme. */

function recolor(): void {
    timeline?.recolor();
    graphs?.recolor();
    drawFamilies();
}

/* Colours of kernels. */

let byFamily = false;

/** Which colour is which family, where kernels have their colours by that. */
function drawFamilies(): void {
    const place = byId('families');
    place.hidden = !byFamily;
    if (!byFamily || !trace)
        return;
    const { names } = palette();
    place.replaceChildren(...[...new Set(trace.families.values())].sort().map((family) => element('span', {},
        element('i', { style: `background:${names[familyNumber(family)]}` }), family)));
}

function toggleFamilies(): void {
    byFamily = !byFamily;
    byId('colors').setAttribute('aria-pressed', String(byFamily));
    timeline.colorBy(byFamily ? 'family' : 'name');
    drawFamilies();
    timeline.drawNow();
}

/* Help, about and notices. */

const KEYS: [string, string][][] = [
    [['W S', 'zoom in, out (at the pointer)'], ['A D', 'move left, right'], ['← →', 'event before, after in the row'],
        ['↑ ↓', 'event in the row above, below'], ['G, Shift + G', 'next gap of a GPU, the one before'], ['F', 'fit the chosen event, or the marked time'], ['0', 'the whole trace'],
        ['/', 'search names'], ['Esc', 'choose nothing'], ['T', 'dark or light'], ['C', 'colours of kernels by name or by family'], ['1 … 5', 'the views'], ['?', 'this help']],
    [['Drag', 'move'], ['Wheel', 'scroll the rows, or zoom if all are seen'], ['Ctrl + wheel', 'zoom at the pointer'],
        ['Shift + wheel', 'move'], ['Shift + drag', 'measure a time, and what is in it; F fits it'], ['Click', 'choose an event; arrows lead from its call'],
        ['Double click', 'fit the event'], ['Overview', 'drag a window, or move it']],
];

function showHelp(): void {
    const help = byId<HTMLDialogElement>('help');
    const list = (keys: [string, string][]) => element('dl', {}, ...keys.flatMap(([key, text]) =>
        [element('dt', {}, element('kbd', {}, key)), element('dd', {}, text)]));
    help.replaceChildren(element('h2', {}, 'Keys and mouse'), element('div', { class: 'columns' }, ...KEYS.map(list)),
        element('p', { class: 'soft' }, 'Where events are narrower than a pixel, the height of a bar tells how busy that pixel is.'),
        element('button', { onclick: () => help.close() }, 'Close'));
    help.showModal();
}

function leftOutReplays(): string {
    const every = trace.head.replays_every;
    return every > 1 ? `One of ${count(every)} replays is here by itself, evenly over time; nodes and rows are of all. ` +
        'rtl export --page-size gives them more room.' : '';
}

function leftOut(): string {
    const left = trace.head.segments.filter((segment) => !segment.kept);
    if (left.length === 0)
        return '';
    const events = left.reduce((sum, segment) => sum + segment.events, 0);
    if (server)
        return `Single events of ${count(left.length)} of ${count(trace.head.segments.length)} stretches of time (${count(events)} events) come ` +
            'where you zoom in; the rows show how busy they are.';
    return `Single events of ${count(left.length)} of ${count(trace.head.segments.length)} stretches of time (${count(events)} events) are ` +
        'left out of this page; there the rows show how busy they are. rtl export --page-size or --detail gives them more room, --from and --to choose a part.';
}

/** What may have run while a GPU seems idle. */
function absent(): string {
    const { absent: what, idle_known: known } = trace.head;
    if (!what)
        return '';
    return known ? `${what}, and may have run while a GPU seems idle.` : `${what}: busy times are of the others, and idle times are not known.`;
}

function showAbout(): void {
    const { head } = trace;
    const info = head.trace;
    const began = new Date(Number((BigInt(info.zero) + BigInt(info.realtime_offset)) / 1000000n));
    const facts: [string, string][] = [
        ['Command', info.command || 'not known'], ['Host', info.host], ['Mode', info.mode], ['Written by', info.creator],
        ['File', info.file], ['Began', began.toString() === 'Invalid Date' ? 'not known' : began.toISOString().replace('T', ' ')],
        ['Recorded', duration(info.recorded)], ['Verdict', info.verdict],
        ['Ended', info.finished ? (info.exit_status > 255 ? `by signal ${info.exit_status - 256}` : `with status ${info.exit_status}`) :
            'the recording had not ended in order'],
        ['Kernels', count(info.kernels)], ['Copies', count(info.copies)], ['Host calls', count(info.calls)], ['Ranges', count(info.ranges)],
    ];
    const events = head.segments.reduce((sum, segment) => sum + (segment.kept ? segment.events : 0), head.crossings.length);
    const list = (pairs: [string, string][]) => element('dl', {}, ...pairs.flatMap(([name, value]) =>
        [element('dt', {}, name), element('dd', {}, value)]));
    const stretches = head.segments.filter((segment) => segment.kept).length;
    byId('view-about').replaceChildren(
        element('h2', {}, 'The trace'), list(facts),
        element('h2', {}, 'Processes'), list(head.processes.map((process) => [`${process.pid}`,
            `${process.command}${process.rank ? `, rank ${process.rank}` : ''} (${process.mode}, ${process.state})`])),
        ...(head.notes.length ? [element('h2', {}, 'Notes'), ...head.notes.map((note) => element('p', {}, note))] : []),
        element('h2', {}, 'This page'),
        element('p', {}, `${count(events)} single events in ${count(stretches)} ${stretches === 1 ? 'stretch' : 'stretches'} of time. ` +
            `${leftOut() || 'No event was left out.'} ${leftOutReplays()}`),
        head.untimed ? element('p', {}, `${count(head.untimed)} copies are not shown: nobody took their times.`) : '',
        head.idle_least ? element('p', {}, `Not all idle times below ${duration(head.idle_least)} are events: there are too many. Rows of ` +
            'idle times have them all.') : '',
        info.part ? element('p', {}, `The page shows a part of the trace: ${info.part}. The counts above are of the whole trace.`) : '',
        element('p', {}, 'Times count from the begin of the recording. Counts, sums, minima, maxima and means are exact; p50, p90 and p99 of ' +
            `names and nodes are right to 0.8 %, those of replays are exact${head.replays_every > 1 ? ' for those that are here' : ''}.`));
}

function notice(trouble = ''): void {
    const info = trace.head.trace;
    const text = [trouble && `${trouble}.`, info.complete ? '' : `${info.verdict}.`, info.part ? `A part of the trace: ${info.part}.` : '', absent(), leftOut(), leftOutReplays()]
        .filter(Boolean).join(' ');
    byId('notice').textContent = text;
    byId('notice').hidden = !text;
    const name = info.command.split(' ')[0].split('/').pop() || info.file;
    document.title = `${name} · RTL`;
    byId('title').textContent = info.command || info.file;
    byId('title').title = info.command;
    const badge = byId('verdict');
    const missing = info.verdict.startsWith('UNKNOWN') ? 'not known to be complete' : 'not complete';
    badge.textContent = info.complete ? `complete · ${count(info.kernels)} kernels${trace.head.idle_known ? '' : ', others left out'}` : missing;
    badge.title = info.verdict;
    badge.classList.add(info.complete ? 'good' : 'bad');
}

/* Keys. */

function listen(search: Search): void {
    const motion = new Motion(() => tab === 'timeline' ? { axis: timeline.axis, at: timeline.zoomTime } :
        tab === 'graphs' ? { axis: graphs.axis, at: graphs.zoomTime } : null);
    const keys: Record<string, () => void> = {
        '/': () => search.focus(),
        '?': showHelp,
        t: toggleTheme,
        c: toggleFamilies,
        f: () => timeline.focusSelected(),
        0: () => (tab === 'graphs' ? graphs.axis : timeline.axis).showAll(),
        escape: () => {
            if (!timeline.clearArea())
                timeline.select(null);
            light(null);
        },
        g: () => void timeline.stepGap(true),
        G: () => void timeline.stepGap(false),
        arrowright: () => void timeline.step(true),
        arrowleft: () => void timeline.step(false),
        arrowdown: () => (timeline.selected ? void timeline.stepRow(true) : timeline.scrollRows(44)),
        arrowup: () => (timeline.selected ? void timeline.stepRow(false) : timeline.scrollRows(-44)),
        1: () => showTab('timeline'), 2: () => showTab('graphs'), 3: () => showTab('ranges'), 4: () => showTab('tables'),
        5: () => showTab('about'),
    };
    document.addEventListener('keydown', (event) => {
        const target = event.target as HTMLElement;
        if (event.ctrlKey || event.metaKey || event.altKey || target.matches('input, select') ||
            byId<HTMLDialogElement>('help').open)
            return;
        const key = event.key.toLowerCase();
        const arrow = key.startsWith('arrow');
        if (arrow && (tab !== 'timeline' || target.matches('[role=tab], [role=separator]')))
            return;
        const act = keys[event.shiftKey ? event.key : key] ?? keys[key];
        if (motion.press(key) || act) {
            act?.();
            event.preventDefault();
        }
    });
    for (const name of TABS)
        byId(`tab-${name}`).addEventListener('click', () => showTab(name));
    byId('tab-timeline').parentElement?.addEventListener('keydown', (event) => {
        const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
        if (step) {
            showTab(TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length]);
            byId(`tab-${tab}`).focus();
        }
    });
    byId('colors').addEventListener('click', toggleFamilies);
    byId('theme').addEventListener('click', toggleTheme);
    byId('help-open').addEventListener('click', showHelp);
    window.addEventListener('hashchange', restore);
    listenDivide();
}

/** The line between timeline and details can be moved. */
function listenDivide(): void {
    const divide = byId('divide');
    const pane = byId('details');
    const set = (height: number) => {
        pane.style.height = `${Math.max(40, Math.min(innerHeight - 220, height))}px`;
        pane.style.flex = 'none'; // the rows get the rest
        byId('scroll').style.flexGrow = '1';
    };
    divide.addEventListener('pointerdown', (event) => divide.setPointerCapture(event.pointerId));
    divide.addEventListener('pointermove', (event) => {
        if (divide.hasPointerCapture(event.pointerId))
            set(innerHeight - event.clientY);
    });
    divide.addEventListener('keydown', (event) => {
        if (event.key === 'ArrowUp' || event.key === 'ArrowDown')
            set(pane.clientHeight + (event.key === 'ArrowUp' ? 24 : -24));
    });
}

/* What is said of the time in view. */

let reading = 0;

function readView(): void {
    clearTimeout(reading);
    reading = window.setTimeout(() => {
        const { axis } = timeline;
        server?.view(axis.from, axis.to);
        void details.showView(axis.from, axis.to, axis.isAll);
        if (tab === 'tables')
            void tables?.show(axis.from, axis.to, axis.isAll);
    }, 120);
}

/* What the page's data calls. */

function ask(path: string): void {
    server = new Server(trace, path);
    server.ontrouble = notice;
    server.onanswer = () => {
        timeline.grow();
        readView();
    };
}

/** The head is there. `path`: where there is more than the page has. */
export async function start(path = ''): Promise<void> {
    startTheme(recolor);
    try {
        trace = await Trace.read(document.getElementById('rtl-head') as Element);
    } catch (error) {
        byId('notice').textContent = `This page cannot be shown: ${(error as Error).message}.`;
        byId('notice').hidden = false;
        throw error;
    }
    if (path)
        ask(path);
    notice();
    timeline = new Timeline(trace);
    firstPicture = performance.now();
    const showSlice = (slice: Slice) => {
        showTab('timeline');
        timeline.reveal(slice);
    };
    graphs = new Graphs(trace, showSlice, (from, to) => {
        showTab('timeline');
        timeline.axis.show(from - 0.05 * (to - from), to + 0.05 * (to - from));
    });
    details = new Details(trace, {
        show: showSlice,
        openGraph: (graph, launch) => {
            graphs.open(graph, launch);
            showTab('graphs');
        },
        view: {
            openName,
            showGap: (gap) => timeline.showGap(gap),
        },
        openRange: (process, id) => {
            showTab('ranges');
            void rangesView().open(process, id);
        },
        laneName: (slice) => {
            const name = timeline.laneName(slice.lane);
            return slice.lane.gpu === null ? name || `thread ${slice.lane.thread}` : `GPU ${slice.lane.gpu}, ${name}`;
        },
    });
    timeline.onselect = (slice: Slice | null) => {
        details.show(slice);
        remember();
    };
    timeline.onarea = (from, to) => void details.showArea(from, to);
    timeline.onview = () => {
        remember();
        readView();
    };
    readView();
    graphs.onchange = remember;
    trace.onload = () => timeline.draw();
    listen(new Search(trace, (found, again, forward) => void find(found, again, forward), () => light(null)));
    if (location.hash)
        restore();
    if (ended)
        trace.end();
}

/** All segments are there. */
export function complete(): void {
    ended = true;
    trace?.end();
}
