// pictures.mjs VIEWER CHROMIUM PAGES FOLDER: the pictures of docs/viewer.md and docs/steps.md in FOLDER, from the pages
// demo.html, ranges.html and report.html (pictures.sh).
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewer, executablePath, pages, folder] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(viewer), 'package.json'))('playwright-core');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

async function open(name, colorScheme, height = 700) {
    const page = await browser.newPage({ viewport: { width: 1280, height }, colorScheme });
    await page.goto(pathToFileURL(resolve(pages, `${name}.html`)).href);
    await page.waitForFunction(() => window.rtlPage?.trace?.complete);
    return page;
}

async function take(page, name) {
    const draws = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await draws();
    await page.waitForFunction(() => rtlPage.trace.loading.size === 0);
    await draws();
    await page.screenshot({ path: join(folder, `viewer-${name}.png`) });
    await page.close();
}

// A kernel of a replay, with the call that launched it.
const timeline = await open('demo', 'dark', 900);
await timeline.evaluate(async () => {
    const { trace, timeline } = rtlPage;
    const launches = trace.launchesOf(trace.head.graphs[0]);
    const launch = launches[Math.floor(launches.length / 3)];
    const lanes = trace.lanes.filter((lane) => lane.kind === 'queue');
    let slice = null;
    for (let i = 0, after = launch.start - 0.5; i < 3; ++i, after = slice.start)
        slice = await trace.next(lanes, after, true, () => true);
    timeline.axis.show(launch.start - 1e5, launch.start + 1e5);
    timeline.select(slice);
});
await timeline.waitForFunction(() => rtlPage.timeline.flowCount > 0 && document.querySelector('.view h2')?.textContent.startsWith('In view'));
await take(timeline, 'timeline');

// An outlier over the others, and the first nodes.
const graphs = await open('demo', 'light');
await graphs.keyboard.press('2');
await graphs.evaluate(() => {
    const { trace, graphs } = rtlPage;
    const graph = trace.head.graphs[0];
    const launches = [...trace.launchesOf(graph)].sort((a, b) => b.duration - a.duration);
    graphs.open(graph, launches[Math.floor(launches.length / 20)]);
});
await graphs.waitForFunction(() => rtlPage.graphs.chosen?.slices.length > 0);
await graphs.evaluate(() => rtlPage.graphs.axis.show(-500, 62000));
await take(graphs, 'graphs');

// What a step cost.
const ranges = await open('ranges', 'light');
await ranges.keyboard.press('3');
await ranges.waitForFunction(() => rtlPage.ranges?.costs);
await ranges.getByText(/^One by one/).click();
await ranges.evaluate(() => {
    const { single } = rtlPage.ranges.costs;
    const row = single.columns.kernels.indexOf(10);
    rtlPage.ranges.open(single.columns.process[row], single.columns.id[row]);
});
await take(ranges, 'ranges');

// Where the time of one replay went.
const tables = await open('demo', 'light');
await tables.evaluate(() => {
    const launch = rtlPage.trace.launches[Math.floor(rtlPage.trace.launches.length / 3)];
    rtlPage.timeline.axis.show(launch.start, launch.start + launch.duration);
});
await tables.keyboard.press('4');
await tables.waitForSelector('#view-tables tbody');
await take(tables, 'tables');

// What a report begins with.
const report = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
await report.goto(pathToFileURL(resolve(pages, 'report.html')).href);
await report.waitForFunction(() => window.rtlReport?.complete);
await report.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
await report.screenshot({ path: join(folder, 'report.png') });
await browser.close();
