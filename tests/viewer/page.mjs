// page.mjs VIEWER CHROMIUM FOLDER [PAGE]: opens FOLDER/page.html and compares it with what lies beside it (page.sh); PAGE is of the same
// trace, with too little room for its events. VIEWER is the folder with playwright-core.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewer, executablePath, folder, thinner] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(viewer), 'package.json'))('playwright-core');
const url = pathToFileURL(resolve(folder, 'page.html')).href;
const thin = thinner && pathToFileURL(resolve(thinner)).href;
const read = (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
const wanted = { kernels: read('kernels'), calls: read('calls'), ranges: read('ranges'), copies: read('copies'), launches: read('launches'),
    summary: read('summary'), families: read('families').families, idle: read('idle').gpus };

const patience = { timeout: 240000 }; // for what comes at once on a machine that is not busy
let failures = 0;
function check(what, got, want) {
    const a = JSON.stringify(got), b = JSON.stringify(want);
    if (a !== b) {
        ++failures;
        console.error(`${what}: got ${a?.slice(0, 400)}, want ${b?.slice(0, 400)}`);
    }
}
function hold(what, holds) {
    if (!holds) {
        ++failures;
        console.error(`${what} does not hold`);
    }
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], ...patience });
const strange = []; // messages, errors, and requests that leave the page

async function open(address, options = {}) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', ...options });
    page.setDefaultTimeout(patience.timeout);
    page.on('console', (message) => strange.push(`console: ${message.text()}`));
    page.on('pageerror', (error) => strange.push(`error: ${error.message}`));
    await page.route('**/*', (route) => {
        const asked = route.request().url();
        if ([url, thin].includes(asked.split('#')[0]))
            return route.continue();
        strange.push(`request: ${asked}`);
        return route.abort();
    });
    await page.goto(address);
    await page.waitForFunction(() => window.rtlPage?.trace?.complete);
    return page;
}

const page = await open(url);
/** Waits until the page has drawn twice with the segments that it draws from: what was asked for is there. */
const settle = async () => {
    const draws = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await draws();
    await page.waitForFunction(() => rtlPage.trace.loading.size === 0);
    await draws();
};

// All events, as the page has them.
const all = await page.evaluate(async () => {
    const { trace } = rtlPage;
    const events = [];
    const add = (slice) => {
        const launch = trace.launchOf(slice);
        events.push({ lane: slice.lane.place, kind: slice.lane.kind, process: slice.lane.process, gpu: slice.lane.gpu, queue: slice.lane.queue,
            stream: slice.lane.stream, thread: slice.lane.thread, name: trace.nameOf(slice), start: slice.start, duration: slice.duration,
            id: slice.id, correlation: slice.correlation, range: slice.range, node: slice.node, more: slice.more, item: slice.item,
            launch: launch?.launch ?? null, graph: launch?.graph ?? null, generation: launch?.generation ?? null,
            shape: slice.lane.kind === 'queue' ? trace.head.kernels[slice.item] : null });
    };
    for (const lane of trace.lanes)
        lane.crossings.forEach(add);
    for (let number = 0; number < trace.head.segments.length; ++number) {
        const segment = await trace.segment(number);
        for (const [place, columns] of segment.lanes)
            for (let i = 0; i < columns.size; ++i)
                add(trace.slice(trace.lanes[place], segment, columns, i));
    }
    return { events, lanes: trace.lanes.map(({ place, slices, busy, kind, queue, process }) => ({ place, slices, busy, kind, queue, process })),
        zero: Number(trace.head.trace.zero) };
});
const byId = (a, b) => a.id - b.id || a.process - b.process || (a.kind < b.kind ? -1 : 1);
const of = (kind) => all.events.filter((event) => event.kind === kind);
const clock = (event) => event.start + all.zero;

const kernels = of('queue').sort(byId);
check('kernels', kernels.map((event) => ({ id: event.id, process: event.process, gpu: event.gpu, queue: event.queue, stream: event.stream,
    name: event.name, start: clock(event), duration: event.duration, grid_x: event.shape[2], block_x: event.shape[5],
    correlation: event.correlation || null, graph: event.graph, generation: event.generation, launch: event.launch,
    node: event.node ? event.node - 1 : null, range: event.range || null })),
wanted.kernels.sort(byId).map(({ capture_range: _, ...row }) => row));
const isCall = (event) => (event.item & 3) === 0;
check('host calls', of('thread').filter(isCall).sort(byId).map((event) => ({ id: event.id, process: event.process, thread: event.thread,
    name: event.name, start: clock(event), duration: event.duration, correlation: event.correlation, result: event.more })),
wanted.calls.sort(byId));
const kinds = [null, 'push', 'start', 'mark'];
check('ranges', of('thread').filter((event) => !isCall(event)).map((event) => ({ id: event.id, process: event.process, thread: event.thread,
    name: event.name, start: clock(event), kind: kinds[event.item & 3] })).sort(byId), wanted.ranges.sort(byId));
check('copies', of('copies').sort(byId).map((event) => ({ id: event.id, process: event.process, start: clock(event), duration: event.duration,
    bytes: event.more, kind: event.name })), wanted.copies.sort(byId));
check('replays', of('replays').length, wanted.launches.length);

// Idle times: as long as `rtl idle` has them by cause, and never while a kernel or copy of the GPU runs.
const causes = { submitted: 'submitted and not begun', other_gpu: 'submitted, and another GPU ran',
    no_call: 'in no host call', unknown: 'not known: no host call', stopped: 'recording was stopped' };
for (const gpu of wanted.idle) {
    const is = (event) => event.process === gpu.process && event.gpu === gpu.gpu;
    const idle = of('idle').filter(is);
    const sums = {};
    for (const event of idle)
        sums[event.name] = (sums[event.name] ?? 0) + event.duration;
    check(`idle times of GPU ${gpu.gpu}`, Object.entries(sums).sort(), gpu.causes.filter(({ cause }) => cause !== 'in_graph')
        .map(({ cause, call, ns }) => [call ? `in ${cause}` : causes[cause], ns]).sort());
    const work = [...kernels, ...of('copies')].filter(is).map((event) => [event.start, event.start + event.duration]);
    hold(`GPU ${gpu.gpu} is idle then`, idle.every((event) => work.every(([from, to]) => to <= event.start || from >= event.start + event.duration)));
}
check('processes with idle times', new Set(of('idle').map((event) => event.process)).size <= wanted.idle.length, true);

// Families: as many kernels in each as `rtl summary` counts, and one colour each where that is asked for.
const families = new Map(await page.evaluate(() => rtlPage.trace.head.families.map(([name, family]) => [rtlPage.trace.head.texts[name], family])));
const counts = {};
for (const event of kernels)
    counts[families.get(event.name)] = (counts[families.get(event.name)] ?? 0) + 1;
check('kernels by family', Object.entries(counts).sort(), wanted.families.filter(({ family }) => family !== 'asynchronous copy')
    .map(({ family, calls }) => [family, calls]).sort());
const legend = () => page.$$eval('#families:not([hidden]) span', (list) => list.map((item) => item.textContent));
check('no legend at first', await legend(), []);
await page.keyboard.press('c');
check('the legend has the families', await legend(), [...new Set(families.values())].sort());
const coloured = await page.evaluate(() => rtlPage.trace.head.families.map(([name, family]) => [family, rtlPage.timeline.nameColor[name]]));
hold('a family has one colour', coloured.every(([family, color]) => coloured.every(([other, its]) => family !== other || color === its)));
await page.keyboard.press('c');
check('no legend again', await legend(), []);

// Rows: as many slices as `rtl summary` counts, none over another, and the bins add up.
for (const queue of wanted.summary.queues) {
    const lanes = all.lanes.filter((lane) => lane.kind === 'queue' && lane.queue === queue.queue && lane.process === queue.process);
    check(`slices of queue ${queue.queue}`, lanes.reduce((sum, lane) => sum + lane.slices, 0), queue.kernels);
}
for (const lane of all.lanes) {
    const row = all.events.filter((event) => event.lane === lane.place).sort((a, b) => a.start - b.start || a.duration - b.duration);
    check(`slices of row ${lane.place}`, row.length, lane.slices);
    hold(`row ${lane.place} shows one thing at a time`, row.every((event, i) => i === 0 || row[i - 1].start + row[i - 1].duration <= event.start));
    check(`busy time of row ${lane.place}`, lane.busy, row.reduce((sum, event) => sum + event.duration, 0));
}
const bins = await page.evaluate(() => rtlPage.trace.lanes.map((lane) => lane.levels.map((level) =>
    [level.count[level.size - 1], level.busy[level.size - 1]])));
bins.forEach((levels, place) => levels.forEach((sums, level) =>
    check(`sums of level ${level} of row ${place}`, sums, [all.lanes[place].slices, all.lanes[place].busy])));
const gpus = await page.evaluate(() => rtlPage.trace.head.gpus.map((gpu) => gpu.busy));
check('busy time of the GPUs', gpus.reduce((a, b) => a + b, 0), wanted.summary.gpus.reduce((sum, gpu) => sum + gpu.busy_ns, 0));

/** Shows a time, and the row of an event. */
async function look(event, from, to) {
    await page.evaluate(([lane, ...times]) => {
        const row = rtlPage.timeline.rows.find((item) => item.lane?.place === lane);
        rtlPage.timeline.axis.show(...times);
        document.getElementById('scroll').scrollTop = row.top - 100;
    }, [event.lane, from, to]);
    await settle();
}

// What is drawn: each kernel that is wide enough is where its time says, and the pixel there has its colour.
const inOrder = [...kernels].sort((a, b) => a.start - b.start);
const middle = [0.1, 0.3, 0.5, 0.6, 0.9].map((part) => inOrder[Math.floor(part * inOrder.length)]);
let seen = 0;
for (const one of middle) {
    const [from, to] = [one.start - 6 * one.duration, one.start + 8 * one.duration];
    await look(one, from, to);
    await compareDrawn(kernels.filter((event) => event.start > from && event.start + event.duration < to));
}
hold('kernels are wide enough to be seen', seen >= middle.length);

async function compareDrawn(events) {
    const drawn = await page.evaluate((events) => {
        const { timeline, trace } = rtlPage;
        const canvas = document.getElementById('lanes');
        const copy = new OffscreenCanvas(canvas.width, canvas.height);
        const context = copy.getContext('2d', { willReadFrequently: true });
        const scale = canvas.width / canvas.clientWidth;
        context.drawImage(canvas, 0, 0);
        const empty = context.getImageData(2, canvas.height - 4, 1, 1).data.join();
        return events.map((event) => {
            const width = (event.duration / timeline.axis.span) * canvas.clientWidth;
            const row = timeline.rows.find((item) => item.lane?.place === event.lane);
            const x = ((event.start + 0.75 * event.duration - timeline.axis.from) / timeline.axis.span) * canvas.clientWidth;
            const y = row.top + row.height - 4 - document.getElementById('scroll').scrollTop;
            if (width < 4 || y < 0 || y > canvas.clientHeight)
                return null;
            const color = context.getImageData(Math.floor(x * scale), Math.floor(y * scale), 1, 1).data.join();
            return { id: timeline.sliceAt(x, y)?.id, painted: color !== empty };
        });
    }, events);
    seen += drawn.filter(Boolean).length;
    drawn.forEach((shown, i) => shown && check(`kernel ${events[i].id} in the picture`, shown, { id: events[i].id, painted: true }));
}

// Zoom and pan: keys, wheel, drag.
const view = () => page.evaluate(() => [rtlPage.timeline.axis.from, rtlPage.timeline.axis.to]);
const box = await page.locator('#lanes').boundingBox();
const at = { x: box.x + 500, y: box.y + 60 };
const span = ([from, to]) => to - from;
await page.mouse.move(at.x, at.y);
await page.keyboard.press('0');
await settle();
const whole = await view();
hold('0 shows the whole trace', whole[0] <= Math.min(...all.events.map((event) => event.start)) &&
    whole[1] >= Math.max(...all.events.map((event) => event.start + event.duration)));
const timeAt = ([from, to], x) => from + ((x - box.x) / box.width) * (to - from);
await page.keyboard.press('w');
await settle();
const nearer = await view();
hold('W zooms in', span(nearer) < 0.97 * span(whole));
hold('W keeps the time below the pointer', Math.abs(timeAt(nearer, at.x) - timeAt(whole, at.x)) < span(whole) / 100);
await page.keyboard.press('w');
await page.keyboard.press('w');
await settle();
const before = await view();
await page.keyboard.press('d');
await settle();
const moved = await view();
hold('D moves right', moved[0] > before[0] && Math.abs(span(moved) - span(before)) < span(before) / 100);
await page.keyboard.press('a');
await settle();
hold('A moves left', (await view())[0] < moved[0]);
await page.keyboard.press('s');
await settle();
hold('S zooms out', span(await view()) > span(before) * 1.02);
const unzoomed = await view();
await page.keyboard.down('Control');
await page.mouse.wheel(0, -400);
await page.keyboard.up('Control');
await settle();
const wheeled = await view();
hold('the wheel zooms at the pointer', span(wheeled) < 0.5 * span(unzoomed) &&
    Math.abs(timeAt(wheeled, at.x) - timeAt(unzoomed, at.x)) < span(unzoomed) / 50);
await page.mouse.down();
await page.mouse.move(at.x - 200, at.y, { steps: 5 });
await page.mouse.up();
await settle();
const dragged = await view();
hold('a drag moves what is below the pointer', Math.abs(timeAt(dragged, at.x - 200) - timeAt(wheeled, at.x)) < span(wheeled) / 50);

// A kernel of a graph is chosen by a click; the details are those of SQL.
const replayed = kernels.filter((event) => event.launch !== null && event.node > 0 && event.correlation);
hold('a kernel was replayed', replayed.length > 0);
const target = replayed[Math.floor(replayed.length / 2)];
await look(target, target.start - 3 * target.duration, target.start + 4 * target.duration);
const place = await page.evaluate((event) => {
    const { timeline } = rtlPage;
    const canvas = document.getElementById('lanes').getBoundingClientRect();
    const row = timeline.rows.find((item) => item.lane?.place === event.lane);
    return { x: canvas.left + ((event.start + event.duration / 2 - timeline.axis.from) / timeline.axis.span) * canvas.width,
        y: canvas.top + row.top + row.height / 2 - document.getElementById('scroll').scrollTop };
}, target);
await page.mouse.click(place.x, place.y);
await settle();
await page.waitForFunction(() => !document.getElementById('details').textContent.includes('…'));
check('the chosen kernel', await page.evaluate(() => rtlPage.timeline.selected?.id), target.id);
const facts = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll('#details dt')].map((name) =>
    [name.textContent, name.nextSibling.textContent])));
const call = wanted.calls.find((row) => row.process === target.process && row.correlation === target.correlation);
check('its name', await page.locator('#details .chosen h2').textContent(), target.name);
check('its graph', facts.Graph, `graph ${target.graph}, generation ${target.generation}`);
check('its node', facts.Node, String(target.node - 1));
check('its replay', facts.Replay?.split(' ')[0], String(target.launch));
check('its call', facts.Call, `${call?.name} in thread ${call?.thread}`);
check('its clock', facts.Clock, `${clock(target)} ns`);
check('its grid', facts.Grid?.split(' ')[0], String(target.shape[2]));
await page.waitForFunction(() => rtlPage.timeline.flowCount > 0, null, patience).catch(() => {});
check('arrows from its call', await page.evaluate(() => rtlPage.timeline.flowCount), 1);
const range = wanted.ranges.find((row) => row.process === target.process && row.id === target.range);
check('its range', facts.Range, range ? range.name : 'none');
const recorded = wanted.kernels.find((row) => row.process === target.process && row.id === target.id);
const captured = wanted.ranges.find((row) => row.process === target.process && row.id === recorded.capture_range);
check('what it was captured in', facts['Captured in'], captured?.name);

// The call leads back to all of its kernels.
const same = kernels.filter((event) => event.process === target.process && event.correlation === target.correlation).length +
    of('copies').filter((event) => event.process === target.process && event.correlation === target.correlation).length;
await page.locator('#details dd button', { hasText: call.name }).first().click();
await page.waitForFunction((count) => rtlPage.timeline.flowCount === count, Math.min(64, same), patience).catch(() => {});
check('arrows to the kernels of the call', await page.evaluate(() => rtlPage.timeline.flowCount), Math.min(64, same));
check('the chosen call', await page.evaluate(() => rtlPage.timeline.selected?.correlation), target.correlation);

// Arrow keys: the next and last of the row; F fits it.
await page.evaluate(({ start, lane, id }) => rtlPage.trace.next([rtlPage.trace.lanes[lane]], start - 0.5, true, () => true)
    .then((slice) => rtlPage.timeline.reveal(slice)), target);
const row = kernels.filter((event) => event.lane === target.lane).sort((a, b) => a.start - b.start);
const follows = row[row.findIndex((event) => event.id === target.id) + 1];
if (follows) {
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction((id) => rtlPage.timeline.selected?.id === id, follows.id, patience).catch(() => {});
    check('the next kernel of the row', await page.evaluate(() => rtlPage.timeline.selected.id), follows.id);
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction((id) => rtlPage.timeline.selected?.id === id, target.id, patience).catch(() => {});
}
check('and back', await page.evaluate(() => rtlPage.timeline.selected.id), target.id);
await page.keyboard.press('f');
await settle();
const fitted = await view();
hold('F fits the kernel', fitted[0] < target.start && fitted[1] > target.start + target.duration && span(fitted) < 3 * Math.max(30, target.duration));

// A link restores the view.
await page.waitForFunction(() => location.hash.includes(`from=${Math.round(rtlPage.timeline.axis.from)}&`) &&
    location.hash.includes('event='), null, patience).catch(() => {});
const address = await page.evaluate(() => location.href);
const again = await open(address);
await again.waitForFunction(() => rtlPage.timeline.selected, null, patience).catch(() => {});
check('the event of a link', await again.evaluate(() => rtlPage.timeline.selected?.id), target.id);
const linked = await again.evaluate(() => [rtlPage.timeline.axis.from, rtlPage.timeline.axis.to]);
hold('a link shows the same time', Math.abs(linked[0] - fitted[0]) < 2 && Math.abs(linked[1] - fitted[1]) < 2);
await again.close();

// The overlay: replays aligned at their begin, nodes as SQL has them.
const nearest = (values, part) => values.sort((a, b) => a - b)[Math.max(0, Math.ceil(part * values.length) - 1)];
const close = (got, want) => Math.abs(got - want) <= Math.max(1, want / 64);
await page.locator('#details dd button', { hasText: `graph ${target.graph}, generation` }).click();
await page.waitForFunction((launch) => rtlPage.graphs.chosen?.launch.launch === launch, target.launch, patience).catch(() => {});
check('the view that a graph opens', await page.locator('#tab-graphs').getAttribute('aria-selected'), 'true');
const mine = kernels.filter((event) => event.process === target.process && event.graph === target.graph && event.generation === target.generation);
const graph = await page.evaluate(() => ({ rows: rtlPage.graphs.graph.rows, chosen: rtlPage.graphs.chosen?.slices.length,
    replay: rtlPage.graphs.chosen?.launch.launch }));
check('the replay in front', graph.replay, target.launch);
check('its kernels', graph.chosen, mine.filter((event) => event.launch === target.launch).length);
const starts = new Map(wanted.launches.filter((launch) => launch.process === target.process && launch.graph === target.graph)
    .map((launch) => [launch.launch, launch.start]));
for (const node of graph.rows.filter((item) => item.count > 0)) {
    const runs = mine.filter((event) => event.node - 1 === node.node);
    check(`runs of node ${node.node}`, node.count, runs.length);
    for (const [part, spot] of [[0.1, 1], [0.5, 3], [0.9, 5], [0.99, 6]])
        hold(`p${100 * part} of node ${node.node}`, close(node.duration[spot], nearest(runs.map((event) => event.duration), part)));
    hold(`begin of node ${node.node}`, close(node.offset[3], nearest(runs.map((event) => clock(event) - starts.get(event.launch)), 0.5)));
}
const idle = new Map();
for (const launch of starts.keys()) {
    let end = null;
    for (const event of mine.filter((item) => item.launch === launch).sort((a, b) => a.start - b.start)) {
        const gap = end === null ? 0 : Math.max(0, event.start - end);
        idle.set(event.node, [...(idle.get(event.node) ?? []), gap]);
        end = Math.max(end ?? 0, event.start + event.duration);
    }
}
for (const node of graph.rows.filter((item) => item.count > 0))
    hold(`bubble before node ${node.node}`, close(node.gap[3], nearest(idle.get(node.node + 1), 0.5)));
await page.waitForFunction(() => rtlPage.graphs.samples.length > 0, null, patience).catch(() => {});
hold('replays are laid over each other', await page.evaluate(() => rtlPage.graphs.samples.length) > 0);
const durations = wanted.launches.filter((launch) => launch.process === target.process && launch.graph === target.graph &&
    mine.some((event) => event.launch === launch.launch)).map((launch) => launch.end - launch.start);
const sums = await page.evaluate(() => ({ p50: rtlPage.graphs.sums.p50, most: rtlPage.graphs.sums.most, outliers: rtlPage.graphs.sums.outliers.length,
    limit: rtlPage.graphs.sums.limit }));
check('median and longest of the replays', [sums.p50, sums.most], [nearest([...durations], 0.5), Math.max(...durations)]);
check('outliers', sums.outliers, durations.filter((value) => value > sums.limit).length);
await page.locator('.replays td button').first().click();
const longest = wanted.launches.filter((launch) => launch.process === target.process && launch.graph === target.graph &&
    launch.end - launch.start === Math.max(...durations)).map((launch) => launch.launch);
await page.waitForFunction((ids) => ids.includes(rtlPage.graphs.chosen?.launch.launch), longest, patience).catch(() => {});
hold('the longest replay is chosen', longest.includes(await page.evaluate(() => rtlPage.graphs.chosen?.launch.launch)));
await page.keyboard.press('w');
await settle();
check('charts', await page.locator('.chart canvas').count(), 1);

// Tables: names, calls and totals are those of `rtl summary`.
await page.evaluate(() => rtlPage.timeline.axis.showAll());
await page.keyboard.press('4');
const table = await page.evaluate(() => [...document.querySelectorAll('#view-tables tbody tr')].map((line) =>
    [line.cells[0].title, Number(line.cells[1].textContent.replace(/\D/g, ''))]));
const bySum = new Map();
for (const row of wanted.summary.kernels)
    bySum.set(row.name, (bySum.get(row.name) ?? 0) + row.calls);
check('the table of kernels', table.sort(), [...bySum].sort());
const shownNames = await page.evaluate(() => [...document.querySelectorAll('#view-tables tbody tr')].map((line) =>
    [line.cells[0].title, line.cells[0].textContent]));
check('names that are shown are as different as names', new Set(shownNames.map(([, shown]) => shown)).size,
    new Set(shownNames.map(([whole]) => whole)).size);
const littleNames = await page.evaluate(() => rtlPage.trace.head.tables.kernels.map(([name]) => rtlPage.trace.shortName(name, 1)));
check('those in little room, too', new Set(littleNames).size, bySum.size);
hold('names fit the table', shownNames.every(([whole, shown]) => whole === shown || [...shown].length <= 80));
const rows = await page.evaluate(() => rtlPage.trace.head.tables.kernels.map((row) => [rtlPage.trace.head.texts[row[0]], row[1], row[2], row[3], row[6]]));
check('calls, total, least and most', rows.sort(), wanted.summary.kernels.map((row) => [row.name, row.calls, row.total_ns, row.min_ns, row.max_ns]).sort());
const word = call.name.slice(-5);
await page.locator('#view-tables .set button', { hasText: 'Host calls' }).click();
await page.locator('#view-tables input').fill(word.toUpperCase());
check('names that are searched for', (await page.locator('#view-tables tbody tr').count()),
    new Set(wanted.calls.filter((row) => row.name.toLowerCase().includes(word.toLowerCase())).map((row) => row.name)).size);
const first = wanted.calls.filter((row) => row.name === call.name).reduce((a, b) => (b.duration > a.duration ? b : a));
await page.locator('#view-tables td button').filter({ hasText: call.name }).first().click();
await page.waitForFunction((id) => rtlPage.timeline.selected?.id === id, first.id, patience).catch(() => {});
check('a name leads to its longest event', await page.evaluate(() => rtlPage.timeline.selected?.duration), first.duration);

// Search: the next of that name, again and again.
await page.keyboard.press('Escape');
await page.keyboard.press('0');
await page.keyboard.press('/');
check('/ goes to the search', await page.evaluate(() => document.activeElement.id), 'search');
await page.keyboard.type(target.name);
hold('names are found', await page.locator('#found [role=option]').count() > 0);
check('the name found', await page.locator('#found [role=option] .name').first().textContent(), target.name);
const named = kernels.filter((event) => event.name === target.name).sort((a, b) => a.start - b.start);
for (const event of named.slice(0, 3)) {
    await page.keyboard.press('Enter');
    await page.waitForFunction((start) => rtlPage.timeline.selected?.start === start, event.start, patience).catch(() => {});
    check('the next of that name', await page.evaluate(() => rtlPage.timeline.selected?.start), event.start);
}
await page.keyboard.press('Escape');

// A time that is marked: its kernels are added up.
await page.evaluate(([from, to]) => rtlPage.timeline.axis.show(from, to), [middle[2].start - 20000, middle[2].start + 20000]);
await settle();
await page.keyboard.down('Shift');
await page.mouse.move(box.x + 300, at.y);
await page.mouse.down();
await page.mouse.move(box.x + 700, at.y, { steps: 4 });
await page.mouse.up();
await page.keyboard.up('Shift');
await page.waitForFunction(() => document.querySelector('#details dl'), null, patience).catch(() => {});
const marked = await page.evaluate(() => rtlPage.timeline.area);
const inside = await page.evaluate(([from, to]) => rtlPage.readWindow(rtlPage.trace, from, to, false).then(({ tables, busy }) =>
    ({ count: tables.kernels.reduce((sum, row) => sum + row[1], 0), busy: busy.reduce((sum, part) => sum + part.busy, 0) })), marked);
const partly = kernels.filter((event) => event.start < marked[1] && event.start + event.duration > marked[0]).sort((a, b) => a.start - b.start);
const until = new Map(); // of each GPU of each process
let busyInside = 0;
for (const event of partly) {
    const gpu = `${event.process} ${event.gpu}`, from = Math.max(until.get(gpu) ?? marked[0], event.start);
    busyInside += Math.max(0, Math.min(marked[1], event.start + event.duration) - from);
    until.set(gpu, Math.max(from, event.start + event.duration));
}
check('kernels of a marked time', inside.count, partly.length);
hold('busy time of a marked time', Math.abs(inside.busy - busyInside) < 2); // its ends are whole ns
hold('its details', /^GPU 0.*busy/.test(await page.locator('#details dl').first().textContent()));
await page.keyboard.press('Escape');

// Themes, by the switch and by the system.
const back = (tab) => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
const lightBack = await back(page);
await page.locator('#theme').click();
const darkBack = await back(page);
hold('the switch changes the theme', lightBack !== darkBack);
const ground = await page.evaluate(() => {
    // A line of pixels that is empty but for the lines of the grid, which stand where they like.
    const canvas = document.getElementById('lanes');
    const context = new OffscreenCanvas(canvas.width, 1).getContext('2d', { willReadFrequently: true });
    context.drawImage(canvas, 0, 4 - canvas.height);
    const line = context.getImageData(0, 0, canvas.width, 1).data;
    const colors = new Map();
    for (let at = 0; at < line.length; at += 4) {
        const color = line.subarray(at, at + 3).join(', ');
        colors.set(color, (colors.get(color) ?? 0) + 1);
    }
    return [...colors].sort((a, b) => b[1] - a[1])[0][0];
});
check('the rows are dark too', `rgb(${ground})`, darkBack);
await page.keyboard.press('t');
check('T changes it back', await back(page), lightBack);
const dark = await open(url, { colorScheme: 'dark' });
await dark.evaluate(() => localStorage.clear());
await dark.reload();
await dark.waitForFunction(() => window.rtlPage?.trace?.complete);
check('a dark system', await back(dark), darkBack);
await dark.close();

// Help, and names for those who do not see.
await page.keyboard.press('?');
hold('? shows the help', await page.locator('#help').isVisible());
await page.keyboard.press('Escape');
hold('and Esc closes it', !(await page.locator('#help').isVisible()));
for (const [key, tab] of [['2', 'graphs'], ['3', 'ranges'], ['4', 'tables'], ['5', 'about'], ['1', 'timeline']]) {
    await page.keyboard.press(key);
    check(`${key} shows a view`, await page.locator('[role=tab][aria-selected=true]').getAttribute('id'), `tab-${tab}`);
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, [tabindex="0"], [role=img]')].filter((item) =>
        item.checkVisibility() && !(item.textContent.trim() || item.getAttribute('aria-label') || item.title)).map((item) => item.outerHTML.slice(0, 80)));
    check(`elements without a name in ${tab}`, nameless, []);
}
check('the verdict', await page.locator('#verdict').getAttribute('title'), wanted.summary.completeness);

// A page with too little room says what it leaves out, and the rest of it is the same.
if (thin) {
    const small = await open(thin);
    const kept = await small.evaluate(() => rtlPage.trace.head.segments.map((segment) => [segment.kept, segment.events]));
    const left = kept.filter(([there]) => !there);
    hold('something is left out', left.length > 0);
    const said = (await small.locator('#notice').textContent()).replace(/[^\x20-\x7e]/g, '');
    hold('that is said', said.includes(`${left.length} of ${kept.length} stretches`) &&
        said.includes(`${left.reduce((sum, [, events]) => sum + events, 0)} events`));
    check('tables of a small page', await small.evaluate(() => rtlPage.trace.head.tables.kernels), await page.evaluate(() => rtlPage.trace.head.tables.kernels));
    check('rows of a small page', await small.evaluate(() => rtlPage.trace.lanes.map((lane) => lane.slices)), all.lanes.map((lane) => lane.slices));
    check('a segment that is left out', await small.evaluate((place) => rtlPage.trace.segment(place), kept.findIndex(([there]) => !there)), null);
    await small.close();
}

// Text stays text.
check('elements that a name made', await page.locator('img, svg, b:has(b), iframe, object').count(), 0);
check('scripts that a name ran', await page.evaluate(() => window.hostile ?? null), null);
check('messages, errors and requests', strange, []);

await browser.close();
if (failures)
    console.error(`${failures} checks failed`);
process.exit(failures ? 1 : 0);
