// zoom.mjs VIEWER CHROMIUM FOLDER URL PID: opens a page that is served with too little room for its events, and compares what it has of a
// window with what lies in FOLDER (zoom.sh). Ends the server, PID. VIEWER is the folder with playwright-core.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewer, executablePath, folder, url, pid] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(viewer), 'package.json'))('playwright-core');
const read = (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
const wanted = { kernels: read('kernels'), calls: read('calls'), ranges: read('ranges'), copies: read('copies') };
const summary = read('summary');
const { from, to } = read('window');
const patience = { timeout: 120000 }; // for what comes at once on a machine that is not busy
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
async function open(address, requests) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.setDefaultTimeout(patience.timeout);
    page.on('pageerror', (error) => check('errors', error.message, null));
    page.on('request', (request) => requests.push(request.url().split('#')[0]));
    await page.goto(address);
    await page.waitForFunction(() => window.rtlPage?.trace?.complete && document.querySelector('.view'));
    return page;
}
const requests = [];
const page = await open(url, requests);
const zero = BigInt(await page.evaluate(() => rtlPage.trace.head.trace.zero));
const [a, b] = [Number(BigInt(from) - zero), Number(BigInt(to) - zero)];

/** Shows a time, and waits until its events are there and unpacked. */
async function look(from, to) {
    await page.evaluate(([from, to]) => rtlPage.timeline.axis.show(from, to), [from, to]);
    await page.waitForFunction(([from, to]) => rtlPage.trace.at(from, to).has(from, to), [from, to]);
    await page.evaluate(async () => {
        const { from, to } = rtlPage.timeline.axis;
        const source = rtlPage.trace.at(from, to);
        const [first, last] = source.segmentsOf(from, to);
        for (let number = first; number < last; ++number)
            await source.segment(number);
    });
}

hold('the page has too little room for these events', await page.evaluate(([a, b]) => !rtlPage.trace.has(a, b), [a, b]));
await look(a, b);
hold('they have come', await page.evaluate(([a, b]) => rtlPage.trace.at(a, b) === rtlPage.trace.near, [a, b]));

/* What is there is what SQL has, to the nanosecond. */

const got = await page.evaluate(async ([a, b]) => {
    const { trace } = rtlPage;
    const source = trace.at(a, b);
    const lists = { kernels: [], calls: [], ranges: [], copies: [] };
    const take = (slice) => {
        const { lane, item, start, duration } = slice;
        const list = lane.kind === 'queue' ? 'kernels' : lane.kind === 'copies' ? 'copies' : lane.kind !== 'thread' ? '' :
            (item & 3) === 0 ? 'calls' : (item & 3) === 3 ? '' : 'ranges';
        const launch = trace.launchOf(slice);
        if (list && start < b && start + duration > a)
            lists[list].push({ id: slice.id, name: trace.nameOf(slice), start, end: start + duration, gpu: lane.gpu, queue: lane.queue, stream: lane.stream,
                thread: lane.thread, more: slice.more, graph: launch?.graph ?? null, launch: launch?.launch ?? null, node: slice.node ? slice.node - 1 : null });
    };
    for (const lane of trace.lanes)
        source.crossingsOf(lane).forEach(take);
    for (let number = 0; number < source.heads.length; ++number) {
        const segment = await source.segment(number);
        for (const [place, columns] of segment.lanes)
            for (let i = 0; i < columns.size; ++i)
                take(trace.slice(trace.lanes[place], segment, columns, i));
    }
    return lists;
}, [a, b]);
const since = (ns) => Number(BigInt(ns) - zero);
const sorted = (list) => list.sort((x, y) => x[2] - y[2] || x[0] - y[0]);
hold('there are kernels in the window', wanted.kernels.length > 4);
check('kernels', sorted(got.kernels.map((row) => [row.id, row.name, row.start, row.end, row.gpu, row.queue, row.stream, row.graph, row.launch, row.node])),
    sorted(wanted.kernels.map((row) => [row.id, row.name, since(row.start), since(row.end), row.gpu, row.queue, row.stream, row.graph, row.launch, row.node])));
check('calls', sorted(got.calls.map((row) => [row.id, row.name, row.start, row.end, row.thread, row.more])),
    sorted(wanted.calls.map((row) => [row.id, row.name, since(row.start), since(row.end), row.thread, row.result])));
check('ranges', sorted(got.ranges.map((row) => [row.id, row.name, row.start, row.end, row.thread])),
    sorted(wanted.ranges.map((row) => [row.id, row.name, since(row.start), since(row.end), row.thread])));
check('copies', sorted(got.copies.map((row) => [row.id, row.name, row.start, row.end, row.more])),
    sorted(wanted.copies.map((row) => [row.id, row.name, since(row.start), since(row.end), row.bytes])));

/* And what the panel and the picture show. */

const part = await page.evaluate(async ([a, b]) => {
    const window = await rtlPage.readWindow(rtlPage.trace, a, b, false);
    return window.tables?.kernels.map((row) => [rtlPage.trace.head.texts[row[0]], row[1], row[2]]);
}, [a, b]);
check('kernels of the window by name', part?.sort(), summary.kernels.map((row) => [row.name, row.calls, row.total_ns]).sort());
await page.waitForFunction(() => /^Kernels/.test(document.querySelector('.view .blocks section h3')?.textContent ?? ''));

const { id, start, end, name } = wanted.kernels[Math.floor(wanted.kernels.length / 2)];
const [begin, stop] = [since(start), since(end)];
await look(begin - 2 * (stop - begin), stop + 2 * (stop - begin));
const find = () => page.evaluate(async ([id, begin, stop]) => {
    const { timeline, trace } = rtlPage;
    for (const row of timeline.rows) {
        const scroll = document.getElementById('scroll');
        scroll.scrollTop = row.top - 30;
        const x = timeline.x((begin + stop) / 2);
        const y = row.top + row.height / 2 - scroll.scrollTop;
        const slice = row.lane?.kind === 'queue' ? timeline.sliceAt(x, y) : null;
        if (slice?.id === id) {
            timeline.drawNow();
            const canvas = document.getElementById('lanes');
            const { data } = canvas.getContext('2d').getImageData(Math.round(x * devicePixelRatio), Math.round((row.top + 5 - scroll.scrollTop) * devicePixelRatio), 1, 1);
            const back = getComputedStyle(document.documentElement).getPropertyValue('--back').trim();
            const box = canvas.getBoundingClientRect();
            const text = `#${[...data.slice(0, 3)].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
            return { x: box.left + x, y: box.top + y, drawn: text !== back, name: trace.nameOf(slice) };
        }
    }
    return null;
}, [id, begin, stop]);
// An answer that comes meanwhile may move the rows.
let place = await find();
for (let tries = 0; tries < 40 && !(place?.drawn && place.name === name); ++tries) {
    await page.waitForTimeout(250);
    place = await find();
}
hold('a kernel is drawn where it is', place?.drawn && place.name === name);
for (let tries = 0; tries < 40 && (await page.evaluate(() => document.querySelector('.chosen h2')?.textContent)) !== name; ++tries) {
    const { x, y } = (await find()) ?? { x: 0, y: 0 };
    await page.mouse.click(x, y);
    await page.waitForTimeout(250);
}
check('what is chosen', await page.evaluate(() => document.querySelector('.chosen h2')?.textContent), name);
hold('and the details are of it', (await page.locator('.chosen').textContent()).includes(`${start} ns`));

/* The last view wins: of several within a moment one is asked for. */

const before = requests.length;
const left = await page.evaluate(() => rtlPage.trace.heads.find((segment) => !segment.kept));
const piece = (left.to - left.from) / 40;
await page.evaluate(([first, piece]) => [1, 3, 5].forEach((at) => rtlPage.timeline.axis.show(first + at * piece, first + at * piece + piece / 4)), [left.from, piece]);
await page.waitForFunction(() => rtlPage.trace.at(rtlPage.timeline.axis.from, rtlPage.timeline.axis.to).has(rtlPage.timeline.axis.from, rtlPage.timeline.axis.to));
hold('three views within a moment are one request', requests.length <= before + 1);
check('nothing else is asked for', requests.filter((asked) => asked !== url && !asked.startsWith(`${url}window?from=`)), []);

/* Nobody serves any more: the page says so, and works. */

process.kill(Number(pid), 'SIGINT');
for (let gone = false; !gone; await new Promise((done) => setTimeout(done, 50)))
    gone = await fetch(url).then(() => false, () => true);
await page.evaluate(([last, piece]) => rtlPage.timeline.axis.show(last - 2 * piece, last - piece), [left.to, piece]);
await page.waitForFunction(() => /rtl view does not answer any more/.test(document.getElementById('notice').textContent));

/* A file asks nobody. */

const asked = [];
const file = await open(pathToFileURL(resolve(folder, 'file.html')).href, asked);
await file.evaluate(([a, b]) => rtlPage.timeline.axis.show(a, b), [a, b]);
await file.waitForTimeout(500);
check('requests of a file', asked.length, 1);
check('who serves a file', await file.evaluate(() => [rtlPage.server, rtlPage.trace.served]), [null, false]);
hold('a file says what is left out', /are left out of this page/.test(await file.locator('#notice').textContent()));

await browser.close();
if (failures)
    console.error(`${failures} checks failed`);
process.exit(failures ? 1 : 0);
