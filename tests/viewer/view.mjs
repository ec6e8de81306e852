// view.mjs VIEWER CHROMIUM FOLDER: opens FOLDER/page.html and compares what it says of all of the trace and of a window with what lies
// beside it (view.sh); FOLDER/part.html is of that window. Measures how it looks. VIEWER is the folder with playwright-core.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewer, executablePath, folder] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(viewer), 'package.json'))('playwright-core');
const read = (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
const wanted = { all: { summary: read('summary'), idle: read('idle') }, part: { summary: read('summary-part'), idle: read('idle-part') },
    window: read('window'), ranges: read('ranges') };
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

function grouped(list, key) {
    const groups = new Map();
    for (const item of list)
        groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
    return groups;
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], ...patience });
async function open(name, width = 1280, height = 800, colorScheme = 'light') {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    page.setDefaultTimeout(patience.timeout);
    page.on('pageerror', (error) => check('errors', error.message, null));
    await page.goto(pathToFileURL(resolve(folder, name)).href);
    await page.waitForFunction(() => window.rtlPage?.trace?.complete && document.querySelector('.view'));
    return page;
}
const settle = async (page) => {
    const draws = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await draws();
    await page.waitForFunction(() => rtlPage.trace.loading.size === 0);
    await draws();
};

/** Shows a time, and waits until the panel tells of it. */
async function look(page, from, to) {
    await page.evaluate(([a, b]) => {
        document.querySelector('.view').remove();
        rtlPage.timeline.axis.show(a, b);
    }, [from, to]);
    await page.waitForSelector('.view');
    await settle(page);
}

const page = await open('page.html');
const zero = await page.evaluate(() => Number(rtlPage.trace.head.trace.zero));
const part = [wanted.window.from - zero, wanted.window.to - zero];
const plain = (text) => text.replace(/\u202f/g, '').replace(/\u00a0/g, ' ');

/* Busy times are those of rtl summary: of all, and of a window. */

const inPanel = (page) => page.$$eval('.view .busy', (list) => list.map((item) => item.textContent)).then((list) => list.map((text) => plain(text)));
const percent = (ns, of) => (ns > 0 && ns / of < 0.0005 ? '< 0.1 %' : `${(100 * ns / of).toFixed(1)} %`);
const shares = (list) => list.map((text) => /busy (.*? %)/.exec(text)[1]);
const { gpus } = wanted.all.summary;
const used = gpus.filter((gpu) => gpu.kernels);
const sharesOfAll = used.map((gpu) => percent(gpu.busy_ns, gpu.last_ns - gpu.first_ns));
check('busy, of all', shares(await inPanel(page)), sharesOfAll);
check('and beside the overview', await page.$$eval('#gpus b', (list) => list.map((item) => item.textContent.replace(/\u00a0/g, ' '))), sharesOfAll);
check('busy_ns + idle_ns is what it is of', used.map((gpu) => gpu.busy_ns + gpu.idle_ns), used.map((gpu) => gpu.last_ns - gpu.first_ns));

await look(page, ...part);
const window = await page.evaluate(([from, to]) => rtlPage.readWindow(rtlPage.trace, from, to, false), part);
const { summary } = wanted.part;
const usedThen = summary.gpus.filter((gpu) => gpu.kernels);
check('busy ns of a window', window.busy.filter(({ busy }) => busy).map(({ busy, time }) => [busy, time]),
    usedThen.map((gpu) => [gpu.busy_ns, summary.window_ns]));
check('busy, of a window', shares(await inPanel(page)).filter((text) => text !== '0.0 %'),
    usedThen.map((gpu) => percent(gpu.busy_ns, summary.window_ns)));
hold('the panel tells which time is in view', /^In view: /.test(await page.locator('.view h2').textContent()));

const made = await open('part.html');
check('busy, of a page of that window', shares(await inPanel(made)), usedThen.map((gpu) => percent(gpu.busy_ns, summary.window_ns)));
await made.close();

/* Names of a window are those of rtl summary, in the panel and when one goes to the tables. */

const rowsOf = (list) => list.map((row) => [row.name, row.calls, row.total_ns]).sort();
const { texts } = await page.evaluate(() => ({ texts: rtlPage.trace.head.texts }));
for (const table of ['kernels', 'calls'])
    check(`${table} of a window`, window.tables[table].map((row) => [texts[row[0]], row[1], row[2]]).sort(), rowsOf(summary[table]));
check('kernels in the panel', await page.$$eval('.blocks section:first-child tr', (lines) => lines.map((line) =>
    [line.cells[1].querySelector('[title]').title, Number(line.cells[2].textContent.replace(/\D/g, ''))])),
[...window.tables.kernels].sort((a, b) => b[2] - a[2]).slice(0, await page.locator('.blocks section:first-child tr').count())
    .map((row) => [texts[row[0]], row[1]]));
await page.keyboard.press('4');
await page.waitForFunction(() => document.querySelector('#view-tables tbody'));
const table = () => page.$$eval('#view-tables tbody tr', (lines) => lines.map((line) =>
    [line.cells[0].title, Number(line.cells[1].textContent.replace(/\D/g, ''))]).sort());
const calls = (list) => list.map((row) => [row.name, row.calls]).sort();
check('the table of a window', await table(), calls(summary.kernels));
await page.locator('#view-tables button', { hasText: 'All of the trace' }).click();
check('and of all', await table(), calls(wanted.all.summary.kernels));
await page.keyboard.press('1');
await page.keyboard.press('4');
await page.waitForFunction((count) => document.querySelectorAll('#view-tables tbody tr').length === count, summary.kernels.length, patience).catch(() => {});
check('on a switch it tells of the window again', await table(), calls(summary.kernels));
await page.keyboard.press('1');

/* Ranges: no time counts twice. Each moment of a thread is that of the range which began last of those that are open. */

function ownOf(from, to) {
    const own = {};
    const threads = grouped(wanted.ranges.filter((range) => range.kind !== 'mark'), (range) => `${range.process} ${range.thread}`);
    for (const list of threads.values()) {
        const ranges = list.map((range, place) => ({ name: range.name, start: range.start - zero, end: (range.end ?? Infinity) - zero, place }))
            .map((range) => ({ ...range, start: Math.max(range.start, from), began: range.start, end: Math.min(range.end, to) }))
            .filter((range) => range.end > range.start);
        const edges = [...new Set(ranges.flatMap((range) => [range.start, range.end]))].sort((a, b) => a - b);
        for (let i = 1; i < edges.length; ++i) {
            const open = ranges.filter((range) => range.start <= edges[i - 1] && range.end >= edges[i]);
            const last = open.sort((a, b) => a.began - b.began || a.place - b.place).pop();
            if (last)
                own[last.name] = (own[last.name] ?? 0) + edges[i] - edges[i - 1];
        }
    }
    return Object.entries(own).sort();
}
const head = await page.evaluate(() => ({ last: rtlPage.trace.head.last, ranges: rtlPage.trace.head.tables.ranges }));
const owns = (rows) => rows.filter((row) => row[11]).map((row) => [texts[row[0]], row[11]]).sort();
check('own times of ranges', owns(head.ranges), ownOf(0, head.last));
check('own times in a window', owns(window.tables.ranges), ownOf(...part));
if (head.ranges.length) {
    await page.keyboard.press('4');
    await page.waitForFunction(() => document.querySelector('#view-tables tbody'));
    await page.locator('#view-tables button', { hasText: 'All of the trace' }).click();
    await page.locator('#view-tables button', { hasText: 'Ranges' }).click();
    const parts = await page.$$eval('#view-tables td.share', (list) => list.map((cell) => cell.textContent.replace(/[^\d.<]/g, '')));
    const whole = parts.reduce((sum, text) => sum + (text.startsWith('<') ? 0.05 : Number(text)), 0);
    hold('shares of ranges are one whole', Math.abs(whole - 100) <= 0.06 * parts.length + 0.1);
    await page.keyboard.press('1');
}

/* Gaps: the longest are those of rtl idle; a click goes there, and so does a key. */

const gapsOf = (idle) => idle.gpus.flatMap((gpu) => gpu.longest).filter((gap) => gap.cause !== 'in_graph').sort((a, b) => b.ns - a.ns || a.start_ns - b.start_ns);
const some = (list) => list.slice(0, 8).map((gap) => [gap.start_ns - zero, gap.ns]);
const listed = (list) => list.map((gap) => [gap.from, gap.to - gap.from]).sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 8);
const all = await page.evaluate(() => rtlPage.readWindow(rtlPage.trace, rtlPage.trace.head.first, rtlPage.trace.head.last, true));
check('the longest gaps', listed(all.gaps), some(gapsOf(wanted.all.idle)));
check('the longest of a window', listed(window.gaps), some(gapsOf(wanted.part.idle)));
const gaps = gapsOf(wanted.all.idle);
hold('there are gaps', gaps.length > 2);
await page.evaluate(() => rtlPage.timeline.axis.showAll());
await page.waitForFunction(() => /^All of/.test(document.querySelector('.view h2').textContent));
const row = page.locator('.blocks section', { hasText: 'Longest gaps' }).locator('tr').nth(1);
await row.locator('button').click();
await page.waitForFunction(() => rtlPage.timeline.selected?.lane.kind === 'idle', null, patience).catch(() => {});
const shown = await page.evaluate(() => [rtlPage.timeline.axis.from, rtlPage.timeline.axis.to, rtlPage.timeline.selected?.start]);
hold('a click shows the gap', shown[0] <= all.gaps[1].from && shown[1] >= all.gaps[1].to);
hold('and chooses its end', shown[2] >= all.gaps[1].from && shown[2] < all.gaps[1].to);

const idle = await page.evaluate(async () => {
    const { trace } = rtlPage;
    const list = [];
    for (let number = 0; number < trace.head.segments.length; ++number)
        for (const [place, { size, start, end }] of (await trace.segment(number)).lanes)
            for (let i = 0; trace.lanes[place].kind === 'idle' && i < size; ++i)
                list.push([start[i], end[i] - start[i]]);
    for (const lane of trace.lanes.filter(({ kind }) => kind === 'idle'))
        list.push(...lane.crossings.map((slice) => [slice.start, slice.duration]));
    return list.sort((a, b) => a[0] - b[0]);
});
await page.keyboard.press('Escape');
if (used.length === 1) {
    // So near that the three longest can be seen.
    const three = [...idle].sort((a, b) => b[1] - a[1]).slice(0, 3);
    await page.evaluate(([begin, length]) => {
        const { axis, width } = rtlPage.timeline;
        axis.show(begin - 10, begin - 10 + (width * length) / 4);
    }, [Math.min(...three.map(([start]) => start)), Math.min(...three.map(([, length]) => length))]);
    await settle(page);
    const now = () => page.evaluate(() => ({ from: rtlPage.timeline.axis.from, least: 3 * rtlPage.timeline.perPixel, at: rtlPage.timeline.selected?.start }));
    const press = async (key, forward, what) => {
        const { from, least, at = from } = await now();
        const wide = idle.filter(([start, length]) => length >= least && (forward ? start > at : start < at));
        const want = forward ? wide[0]?.[0] : wide.pop()?.[0];
        hold(`${what} is there`, want !== undefined);
        await page.keyboard.press(key);
        await page.waitForFunction((start) => rtlPage.timeline.selected?.start === start, want, { timeout: 20000 }).catch(() => {});
        await settle(page);
        check(what, (await now()).at, want);
    };
    await press('g', true, 'the first gap that can be seen');
    await press('g', true, 'the next one');
    await press('Shift+G', false, 'the one before');
}
await page.keyboard.press('Escape');
await page.keyboard.press('?');
hold('the help tells of the keys', /G, Shift \+ G.*next gap/.test(await page.locator('#help').textContent()));
await page.keyboard.press('Escape');

/* Nothing is said of what there is none of. */

await page.keyboard.press('3');
await page.waitForFunction(() => !document.querySelector('#view-ranges').textContent.startsWith('…'));
const outside = await page.evaluate(() => rtlPage.ranges.costs?.outside ?? 0);
check('kernels in no range', plain(await page.locator('#view-ranges').textContent()).includes('in none'), outside > 0);

if (head.ranges.length) {
    const said = (outside) => page.evaluate((count) => {
        rtlPage.ranges.costs.outside = count;
        rtlPage.ranges.list();
        return document.getElementById('range-sum').textContent;
    }, outside);
    check('of no kernel, of one, of two in no range', [await said(0), await said(1), await said(2)], ['', '1 kernel is in none', '2 kernels are in none']);
}

/* Names of nodes, and a legend of what is drawn. */

await page.keyboard.press('2');
const graph = await page.evaluate(() => rtlPage.graphs.graph && { nodes: rtlPage.graphs.nodes.map((row) => row.node),
    names: [...new Set(rtlPage.graphs.nodes.map((row) => row.name))].length });
if (graph?.nodes.length > 1) {
    await settle(page);
    check('all nodes have their names', await page.evaluate(() => rtlPage.graphs.named), graph.nodes);
    const legend = await page.locator('#view-graphs .legend').textContent();
    hold('a legend', ['median begin and duration', 'p10', 'begin and end in', 'bubble'].every((text) => legend.includes(text)));
    check('colours of kernels in it', await page.locator('#view-graphs .legend .kernel').count(), Math.min(8, graph.names));
}
await page.keyboard.press('1');

/* How it looks, at several sizes. */

for (const [width, height] of [[1280, 720], [1920, 1080], [2560, 1440]]) {
    const sized = await open('page.html', width, height, width === 1920 ? 'dark' : 'light');
    await settle(sized);
    const place = await sized.evaluate(() => {
        const box = (id) => document.getElementById(id).getBoundingClientRect();
        const { timeline } = rtlPage;
        const last = timeline.rows[timeline.rows.length - 1];
        const cells = [...document.querySelectorAll('.blocks td, .view .busy')];
        const blocks = [...document.querySelectorAll('.blocks section')].map((item) => item.getBoundingClientRect());
        const top = Math.min(...blocks.map((item) => item.top));
        const firstLine = blocks.filter((item) => item.top < top + 2);
        const times = [0.1, 0.5, 0.9].map((share) => timeline.axis.from + share * timeline.axis.span);
        return { overview: box('overview').left, lanes: box('lanes').left, widths: [box('overview').width, box('lanes').width],
            times: times.map((time) => timeline.overview.x(time) - timeline.x(time)),
            below: box('details').top - (box('labels').top + last.top + last.height), panel: box('details').bottom - innerHeight,
            tall: cells.filter((cell) => cell.getBoundingClientRect().height > 25).map((cell) => cell.textContent),
            filled: Math.max(...firstLine.map((item) => item.right)) - Math.min(...firstLine.map((item) => item.left)), inner: box('details').width,
            empty: timeline.rows.filter((item) => item.lane && !item.lane.slices).length,
            more: document.getElementById('scroll').scrollHeight - document.getElementById('scroll').clientHeight };
    });
    const at = `${width}: `;
    check(`${at}the overview begins where the rows do`, [place.overview, place.widths[0]], [place.lanes, place.widths[1]]);
    hold(`${at}a time stands at the same place in both`, place.times.every((away) => Math.abs(away) < 0.5));
    hold(`${at}the panel begins where the rows end`, place.more > 0 || (place.below >= 0 && place.below <= 20));
    hold(`${at}and ends where the page ends`, Math.abs(place.panel) < 1);
    check(`${at}lines of the panel that wrap`, place.tall, []);
    hold(`${at}the panel uses its width`, place.filled > 0.93 * place.inner);
    check(`${at}rows with nothing`, place.empty, 0);
    await sized.close();
}

/* Kernels, host calls, ranges and idle times differ in more than hue. */

// Machado, Oliveira, Fernandes: A Physiologically-based Model for Simulation of Color Vision Deficiency (2009), severity 1; on linear light.
const EYES = {
    usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const linear = (color) => [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
const luminance = (color, eye) => eye.map((line) => Math.min(1, Math.max(0, line.reduce((sum, k, i) => sum + k * linear(color)[i], 0))))
    .reduce((sum, c, i) => sum + [0.2126, 0.7152, 0.0722][i] * c, 0);
const contrast = (a, b, eye) => {
    const [low, high] = [luminance(a, eye), luminance(b, eye)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
};

/** Points of an event in the picture: at its upper edge, and along a line through its lower half. */
function sample(kind) {
    return page.evaluate(async (kind) => {
        const { timeline, trace } = rtlPage;
        const is = (lane, item) => (kind === 'call' ? (item & 3) === 0 : kind === 'range' ? [1, 2].includes(item & 3) : true);
        const lanes = trace.lanes.filter((lane) => lane.kind === (kind === 'kernel' ? 'queue' : kind === 'idle' ? 'idle' : 'thread'));
        const slice = await trace.next(lanes, -1, true, is, 100);
        if (!slice)
            return null;
        timeline.axis.show(slice.start - 0.1 * slice.duration, slice.start + 1.1 * slice.duration);
        const row = timeline.rows.find((item) => item.lane === slice.lane);
        document.getElementById('scroll').scrollTop = row.top - 30;
        timeline.drawNow();
        const canvas = document.getElementById('lanes');
        const copy = new OffscreenCanvas(canvas.width, canvas.height);
        const context = copy.getContext('2d', { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const top = row.top - document.getElementById('scroll').scrollTop;
        const color = (x, y) => `#${[...context.getImageData(x, y, 1, 1).data.slice(0, 3)].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
        const middle = Math.floor((slice.start + 0.9 * slice.duration - timeline.axis.from) / timeline.perPixel);
        const line = (y) => Array.from({ length: 24 }, (_, i) => color(middle - 12 + i, y));
        return { edge: line(top + 2), line: line(top + row.height - 5) };
    }, kind);
}
/** The colour that most points of a line have: lines of the grid do not matter. */
const most = (line) => [...grouped(line, (color) => color)].sort((a, b) => b[1].length - a[1].length)[0][0];
for (const theme of ['light', 'dark']) {
    const drawn = { kernel: await sample('kernel'), call: await sample('call'), range: await sample('range'), idle: await sample('idle') };
    const palette = await page.evaluate(() => ({ kernels: rtlPage.timeline.colors.names.slice(0, 33), calls: rtlPage.timeline.colors.names.slice(33, 37) }));
    hold(`${theme}: a kernel has one of these colours`, palette.kernels.includes(most(drawn.kernel.line)));
    hold(`${theme}: a host call has a colour of its own`, !drawn.call || palette.calls.includes(most(drawn.call.line)));
    for (const [name, eye] of Object.entries(EYES)) {
        const least = Math.min(...palette.kernels.flatMap((kernel) => palette.calls.map((call) => contrast(kernel, call, eye))));
        hold(`${theme}, ${name}: kernels are lighter than host calls (${least.toFixed(2)})`, least >= 1.5);
        hold(`${theme}, ${name}: the hatching can be seen`, Math.max(...drawn.idle.line.map((color) => contrast(color, most(drawn.idle.line), eye))) >= 1.5);
        if (drawn.range)
            hold(`${theme}, ${name}: a range has an edge above`, contrast(most(drawn.range.edge), most(drawn.range.line), eye) >= 1.5);
    }
    hold(`${theme}: a kernel has none`, most(drawn.kernel.edge) === most(drawn.kernel.line));
    hold(`${theme}: an idle time is hatched`, drawn.idle.line.filter((color, i, line) => i && color !== line[i - 1]).length >= 4);
    await page.locator('#theme').click();
}
check('what looks how', (await page.$$eval('.view .legend span', (list) => list.map((item) => item.textContent))),
    ['kernel, copy', 'host call', 'range', 'graph replay', 'idle']);

await browser.close();
if (failures)
    console.error(`${failures} checks failed`);
process.exit(failures ? 1 : 0);
