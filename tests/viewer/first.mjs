// first.mjs VIEWER CHROMIUM FOLDER URL PID: the first page of a trace whose page is being made by PID, which is stopped, against what
// rtl summary and rtl timeline say (FOLDER's summary.json and timeline.json); then lets PID go on, and waits for the page.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [viewer, executablePath, folder, url, maker] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(viewer), 'package.json'))('playwright-core');
const read = (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
const summary = read('summary'), timeline = read('timeline');
const patience = { timeout: 120000 };
let failures = 0;
function check(what, got, want) {
    const a = JSON.stringify(got), b = JSON.stringify(want);
    if (a !== b) {
        ++failures;
        console.error(`${what}: got ${a?.slice(0, 400)}, want ${b?.slice(0, 400)}`);
    }
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], ...patience });
const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
page.setDefaultTimeout(patience.timeout);
page.on('pageerror', (error) => check('errors', error.message, null));
page.on('console', (message) => message.type() === 'error' && check('errors', message.text(), null));
await page.goto(`${url}#1000,2000`);
await page.waitForFunction(() => window.rtlFirst?.complete && document.querySelector('.row'));
if (process.env.RTL_TEST_PICTURES)
    await page.screenshot({ path: join(process.env.RTL_TEST_PICTURES, 'first.png'), fullPage: true });

const digits = (text) => text.replace(/\D/g, '');
const shown = await page.evaluate(() => ({
    tiles: [...document.querySelectorAll('.tile')].map((tile) => tile.textContent),
    rows: [...document.querySelectorAll('.row')].map((row) => [...row.querySelectorAll('i')].map((bar) => parseFloat(bar.style.height))),
    names: [...document.querySelectorAll('.rows > span')].map((name) => name.textContent),
    kernels: [...document.querySelectorAll('#kernels tbody tr')].map((row) => [...row.cells].slice(0, 2).map((cell) => cell.textContent)),
    graphs: [...document.querySelectorAll('#graphs tbody tr')].map((row) => [...row.cells].slice(0, 3).map((cell) => cell.textContent)),
    verdict: document.getElementById('verdict').title,
    progress: document.getElementById('progress').value,
    done: document.getElementById('done').textContent,
    filter: document.getElementById('filter')?.textContent ?? null,
    others: document.querySelector('#kernels .soft')?.textContent ?? '',
}));
check('kernels', digits(shown.tiles[0]), String(summary.kernel_count));
check('what rtl check says', shown.verdict, summary.completeness);
check('kernels by name', shown.kernels.map(([name, calls]) => [name, Number(digits(calls))]),
    summary.kernels.map((row) => [row.name, row.calls]));
check('graphs', shown.graphs.map(([name, launches, kernels]) => [name, Number(digits(launches)), Number(digits(kernels))]),
    summary.graphs.map((row) => [`${row.process}:${row.graph}`, row.launches, row.kernels]));
check('rows', shown.names, timeline.lanes.map((lane) => `GPU ${lane.gpu}, queue ${lane.queue}`));
const width = (timeline.to_ns - timeline.from_ns) / timeline.columns;
const apart = shown.rows.map((row, lane) => row.map((height, column) =>
    Math.abs(height - 100 * Math.min(1, timeline.lanes[lane].column_busy_ns[column] / width))));
check('columns', shown.rows.map((row) => row.length), timeline.lanes.map(() => timeline.columns));
check('heights of bars', apart.flat().filter((difference) => !(difference < 0.01)), []);
check('the page is not there yet', shown.progress < 1, true);
check('of how many kernels', digits(shown.done.split(' of ')[1] ?? ''), String(summary.kernel_count));
check('that it is a part', shown.filter && shown.filter.split(':')[0], summary.filter && summary.filter.text);
const others = summary.kernel_count - summary.kernels.reduce((sum, row) => sum + row.calls, 0);
check('kernels of other names', digits(shown.others), others ? String(others) : '');

process.kill(Number(maker), 'SIGCONT');
await page.waitForFunction(() => window.rtlPage?.trace?.complete && document.querySelector('.view'));
check('kernels of the page', await page.evaluate(() => window.rtlPage.trace.head.trace.kernels),
    summary.filter ? summary.filter.all : summary.kernel_count);
check('the address', new URL(page.url()).hash.startsWith('#'), true);
await browser.close();
process.exit(failures ? 1 : 0);
