// counters.mjs VIEWER CHROMIUM FOLDER: what hardware counters counted during the kernels of FOLDER/page.html is what SQL's kernel_counters has,
// with the kernel's name in `of` (FOLDER/counters.json).
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewer, executablePath, folder] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(viewer), 'package.json'))('playwright-core');
const url = pathToFileURL(resolve(folder, 'page.html')).href;
const wanted = JSON.parse(readFileSync(join(folder, 'counters.json'), 'utf8'));
const patience = { timeout: 30000 };

let failures = 0;
function check(what, got, want) {
    const a = JSON.stringify(got), b = JSON.stringify(want);
    if (a !== b && ++failures <= 20)
        console.error(`${what}: got ${a?.slice(0, 400)}, want ${b?.slice(0, 400)}`);
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const strange = [];
const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
page.on('console', (message) => strange.push(`console: ${message.text()}`));
page.on('pageerror', (error) => strange.push(`error: ${error.message}`));
await page.goto(url);
await page.waitForFunction(() => window.rtlPage?.trace?.complete);

// Kernel by kernel, those between two segments too.
const of = new Map();
for (const row of wanted)
    of.set(row.kernel, [...(of.get(row.kernel) ?? []), [row.name, row.value]]);
const got = await page.evaluate(async () => {
    const { trace } = rtlPage;
    const kernels = [];
    const add = (slice, crossing) => kernels.push([slice.id, slice.counts.map(([counter, value]) => [trace.head.counters[counter], value]), crossing,
        slice.lane.place, slice.start]);
    for (const lane of trace.lanes.filter(({ kind }) => kind === 'queue'))
        lane.crossings.forEach((slice) => add(slice, true));
    for (let number = 0; number < trace.head.segments.length; ++number) {
        const segment = await trace.segment(number);
        for (const [place, columns] of segment.lanes)
            for (let i = 0; trace.lanes[place].kind === 'queue' && i < columns.size; ++i)
                add(trace.slice(trace.lanes[place], segment, columns, i), false);
    }
    return kernels;
});
for (const [id, counts] of got)
    check(`kernel ${id}`, counts, of.get(id) ?? []);
check('kernels that were counted', got.filter(([, counts]) => counts.length).length, of.size);
if (await page.evaluate(() => rtlPage.trace.head.segments.length) > 1)
    check('a kernel between segments was counted', got.some(([, counts, crossing]) => crossing && counts.length > 0), true);

// One that is chosen shows them.
const chosen = [...of.keys()][Math.floor(of.size / 2)];
const [, , , lane, start] = got.find(([id]) => id === chosen);
await page.evaluate(([place, time]) => rtlPage.trace.next([rtlPage.trace.lanes[place]], time - 0.5, true, () => true)
    .then((slice) => rtlPage.timeline.reveal(slice)), [lane, start]);
await page.waitForFunction((id) => rtlPage.timeline.selected?.id === id, chosen, patience).catch(() => {});
const facts = await page.evaluate(() => [...document.querySelectorAll('#details dt')].map((name) => [name.textContent, name.nextSibling.textContent]));
for (const [name, value] of of.get(chosen))
    check(`${name} in the details`, facts.find(([key]) => key === name)?.[1].replace(/\D/g, ''), String(value));

// By name: sums, and ratios of sums.
const sums = new Map();
for (const row of wanted) {
    const sum = sums.get(row.of) ?? { kernels: new Set(), counts: new Map() };
    sum.kernels.add(row.kernel);
    sum.counts.set(row.name, (sum.counts.get(row.name) ?? 0) + row.value);
    sums.set(row.of, sum);
}
await page.keyboard.press('4');
const table = await page.evaluate(() => {
    const { texts, counted } = rtlPage.trace.head;
    return { metrics: counted.metrics, rows: counted.rows.map(([name, ...rest]) => [texts[name], ...rest]) };
});
check('names that were counted', table.rows.map(([name]) => name).sort(), [...sums.keys()].sort());
const percent = (counts, over, under) => 100 * counts.get(over) / under.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0);
const ratios = { gpu_busy: ['GRBM_GUI_ACTIVE', ['GRBM_COUNT']], l2_hit: ['TCC_HIT', ['TCC_HIT', 'TCC_MISS']] };
for (const [name, kernels, ...values] of table.rows) {
    const { kernels: counted, counts } = sums.get(name);
    check(`counted kernels of ${name}`, kernels, counted.size);
    table.metrics.forEach((metric, place) => {
        const want = counts.get(metric.name) ?? (metric.name === 'waves' ? counts.get('SQ_WAVES') :
            ratios[metric.name] && percent(counts, ...ratios[metric.name]));
        if (want !== undefined)
            check(`${metric.name} of ${name} is ${want}, as ${values[place]}`, Math.abs(values[place] - want) <= 1e-9 * Math.max(1, want), true);
    });
}
for (const name of new Set(wanted.map((row) => row.name)))
    check(`${name} is there`, table.metrics.some((metric) => metric.name === name), true);
const whole = page.locator('#view-tables button', { hasText: 'All of the trace' });
await page.waitForFunction(() => document.querySelector('#view-tables tbody'));
if (await whole.count())
    await whole.click(); // metrics are of all
const shown = table.metrics.filter((metric) => metric.recorded).map((metric) => metric.name);
const heads = await page.evaluate(() => [...document.querySelectorAll('#view-tables th')].map((cell) => cell.textContent.replace(/ [▴▾]/, '')));
check('columns', heads.slice(heads.indexOf('max') + 1, -1), ['counted', ...shown]);
const cells = await page.evaluate(() => [...document.querySelectorAll('#view-tables tbody tr')].map((line) => [line.cells[0].title, ...[...line.cells].slice(1).map((cell) => cell.textContent)]));
for (const line of cells)
    check(`counted kernels of ${line[0]} as they are seen`, line[heads.indexOf('counted')].replace(/\D/g, ''), String(sums.get(line[0]).kernels.size));

check('elements that a name made', await page.locator('img, svg, b:has(b), iframe, object').count(), 0);
check('scripts that a name ran', await page.evaluate(() => window.hostile ?? null), null);
check('messages and errors', strange, []);
await browser.close();
if (failures)
    console.error(`${failures} checks failed`);
process.exit(failures ? 1 : 0);
