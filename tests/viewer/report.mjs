// report.mjs VIEWER CHROMIUM FOLDER: compares FOLDER/report.json with what lies beside it (report.sh), and opens
// FOLDER/report.html. VIEWER is the folder with playwright-core.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewer, executablePath, folder] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(viewer), 'package.json'))('playwright-core');
const url = pathToFileURL(resolve(folder, 'report.html')).href;
const read = (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
const report = read('report');

let failures = 0;
function check(what, got, want) {
    const a = JSON.stringify(got), b = JSON.stringify(want);
    if (a !== b) {
        let at = 0;
        while (a?.[at] === b?.[at] && at < (a?.length ?? 0))
            ++at;
        const from = Math.max(0, at - 100);
        ++failures;
        console.error(`${what}: from ${from} on got ${a?.slice(from, from + 400)}, want ${b?.slice(from, from + 400)}`);
    }
}
function hold(what, holds) {
    if (!holds) {
        ++failures;
        console.error(`${what} does not hold`);
    }
}

/* What it holds. */

const info = read('info');
for (const what of ['kernels', 'copies', 'calls', 'ranges', 'command', 'host', 'mode'])
    check(`recording: ${what}`, report.recording[what], info[what]);
check('recorded', report.recording.recorded_ns, info.end_ns - info.start_ns);
const verdict = read('check');
for (const what of ['complete', 'completeness', 'damage', 'graphs', 'total'])
    check(`verdict: ${what}`, report.verdict[what], verdict[what]);
// Of the hostile names the trace's digests know that they are no names of its.
check('whose verdict', [verdict.complete, verdict.damage.length > 0], folder === 'plain' ? [true, false] : [false, true]);

const { threads } = read('steps');
check('threads with steps', threads.length, 1);
const [thread] = threads;
check('phases', report.steps.phases.map(({ phase }) => phase).sort(), thread.phases.map(({ phase }) => phase).sort());
for (const phase of report.steps.phases) {
    const steps = thread.steps.filter((step) => step.phase === phase.phase);
    const took = steps.map((step) => step.end_ns - step.start_ns);
    const sorted = [...took].sort((a, b) => a - b);
    const middle = sorted[Math.ceil(0.5 * sorted.length) - 1];
    check('steps', phase.steps, steps.length);
    check('p50', phase.step_ns.p50, middle);
    check('a point for each step', phase.points, { each: 1, at: steps.map((step) => step.start_ns - info.start_ns), least: took, median: took, most: took });
    const away = sorted.map((value) => Math.abs(value - middle)).sort((a, b) => a - b)[Math.ceil(0.5 * sorted.length) - 1];
    const limit = middle + Math.max(Math.floor(5 * 1.4826 * away), Math.floor(middle / 20));
    const long = steps.filter((step) => step.end_ns - step.start_ns > limit);
    check('outliers', [phase.outliers.limit, phase.outliers.count], [limit, long.length]);
    check('the longest', phase.outliers.longest.map((step) => step.took),
        long.map((step) => step.end_ns - step.start_ns).sort((a, b) => b - a).slice(0, 10));
    check('what all steps did adds up', ['graphs_ns', 'eager_ns', 'copies_ns', 'idle_ns'].reduce((sum, kind) => sum + phase[kind].total, 0),
        took.reduce((sum, value) => sum + value, 0));
}

const kernels = read('kernels');
check('names', report.kernels.names, kernels.length);
check('kernels', report.kernels.kernels.map(({ name, calls, total, min, max }) => [name, calls, total, min, max]).sort(),
    kernels.map(({ name, calls, total, min, max }) => [name, calls, total, min, max]).sort());
check('families', report.kernels.families.map(({ family, ns, kernels: count }) => [family, ns, count]).sort(),
    read('families').families.filter(({ family }) => family !== 'asynchronous copy')
        .map(({ family, total_ns, calls }) => [family, total_ns, calls]).sort());

const { layers } = read('graph');
check('graphs with layers', report.layers.length, 1);
for (const what of ['count', 'length', 'launches', 'p50_ns', 'outlying', 'layers'])
    check(`layers: ${what}`, report.layers[0][what], layers[what]);
check('the demo has 25 layers', report.layers[0].count, 25);
check('idle', report.idle, read('idle').gpus);

/* What the page shows. */

const patience = { timeout: 240000 };
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], ...patience });
const strange = [];
const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
page.setDefaultTimeout(patience.timeout);
page.on('console', (message) => strange.push(`console: ${message.text()}`));
page.on('pageerror', (error) => strange.push(`error: ${error.message}`));
await page.route('**/*', (route) => {
    const asked = route.request().url();
    if (asked.split('#')[0] === url)
        return route.continue();
    strange.push(`request: ${asked}`);
    return route.abort();
});
await page.goto(url);
await page.waitForFunction(() => window.rtlReport?.complete);
// Letters that turn others around are written as numbers.
const plain = JSON.parse(JSON.stringify(report), (_, item) => (typeof item === 'string' ? item.replaceAll('\u202e', '\\u202e') : item));
check('what the page holds', await page.evaluate(() => rtlReport.report), plain);
check('the badge', await page.locator('#verdict').textContent(), folder === 'plain' ? 'complete' : 'DAMAGED');
check('sections', await page.$$eval('section', (list) => list.map((item) => item.id)),
    ['steps', 'kernels', 'layers', 'idle', 'completeness', 'recording']);
check('rows of kernels', await page.$$eval('#kernels tbody tr', (rows) => rows.map((row) => row.lastElementChild.textContent)),
    plain.kernels.kernels.map(({ name }) => name));
check('bars of layers', await page.locator('#layers .layers i').count(), report.layers[0].layers.length);
hold('the chart is drawn', await page.locator('#steps .chart canvas').count() === 1);
for (const width of [700, 1280, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    check(`nothing sticks out at ${width}`, await page.evaluate(() => document.documentElement.scrollWidth - innerWidth <= 0), true);
}
check('the theme', await page.evaluate(() => document.documentElement.dataset.theme), 'light');
const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const light = await back();
await page.locator('#theme').click();
hold('the other theme has another ground', await back() !== light);
check('no script of a name ran', await page.evaluate(() => window.hostile), undefined);
check('no element of a name', await page.locator('img, svg').count(), 0);
check('strange', strange, []);
await browser.close();
process.exit(failures ? 1 : 0);
