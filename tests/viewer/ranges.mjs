// ranges.mjs VIEWER CHROMIUM FOLDER: the ranges of FOLDER/page.html are those of FOLDER/ranges.json, which `rtl ranges --json --metrics all` wrote.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewer, executablePath, folder] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(viewer), 'package.json'))('playwright-core');
const url = pathToFileURL(resolve(folder, 'page.html')).href;
const said = JSON.parse(readFileSync(join(folder, 'ranges.json'), 'utf8'));
const MOST = 131072, MERGED = 32768, NAMES = 8; // what a page holds (docs/viewer.md)
const patience = { timeout: 30000 };

let failures = 0;
function fail(text) {
    if (++failures <= 20)
        console.error(text);
}
function check(what, got, want) {
    const a = JSON.stringify(got), b = JSON.stringify(want);
    if (a !== b)
        fail(`${what}: got ${a?.slice(0, 400)}, want ${b?.slice(0, 400)}`);
}
function hold(what, holds) {
    if (!holds)
        fail(`${what} does not hold`);
}
/** As a float has it; null is NaN. */
function near(what, got, want, part = 1e-6) {
    if (want === null || want === undefined || Number.isNaN(want) ? !Number.isNaN(got) : !(Math.abs(got - want) <= part * Math.max(1, Math.abs(want))))
        fail(`${what}: got ${got}, want ${want}`);
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const strange = [];
async function open(address, options = {}) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light', ...options });
    page.on('console', (message) => strange.push(`console: ${message.text()}`));
    page.on('pageerror', (error) => strange.push(`error: ${error.message}`));
    await page.route('**/*', (route) => {
        if (route.request().url().split('#')[0] === url)
            return route.continue();
        strange.push(`request: ${route.request().url()}`);
        return route.abort();
    });
    await page.goto(address);
    await page.waitForFunction(() => window.rtlPage?.trace?.complete);
    return page;
}
const page = await open(url);
await page.keyboard.press('3');
await page.waitForFunction(() => rtlPage.ranges?.costs, null, patience);
check('the view', await page.locator('[role=tab][aria-selected=true]').getAttribute('id'), 'tab-ranges');

/* All that the page holds. */

const columns = { kernels: 'kernels', kernelTime: 'kernel_ns', busy: 'busy_ns', overlap: 'overlap_ns', copies: 'copies', copyBytes: 'copy_bytes',
    copyTime: 'copy_ns', copying: 'copying_ns', copyOverlap: 'copy_overlap_ns', active: 'active_ns', launches: 'graph_launches' };
const held = await page.evaluate(() => {
    const { costs } = rtlPage.ranges;
    const plain = (table) => ({ size: table.size, columns: Object.fromEntries(Object.entries(table.columns).map(([name, values]) => [name, [...values]])),
        depth: [...table.depth], metrics: table.metrics.map((values) => [...values].map((value) => (Number.isNaN(value) ? null : value))),
        kernels: table.kernels, further: [...table.further] });
    return { metrics: costs.metrics, texts: costs.texts, outside: costs.outside, leftOut: costs.leftOut, zero: Number(rtlPage.trace.head.trace.zero),
        single: plain(costs.single), merged: plain(costs.merged) };
});
const nan = (value) => (value === null ? NaN : value);
const { texts, single, merged } = held;
const key = (process, id) => `${process}.${id}`;
const wanted = new Map(said.ranges.map((range) => [key(range.process, range.id), range]));
check('kernels in no range', held.outside, said.kernels_outside);
check('ranges one by one', single.size, Math.min(MOST, said.range_count));
check('ranges that are left out', held.leftOut, Math.max(0, said.range_count - MOST));
check('ranges by name', merged.columns.ranges.reduce((a, b) => a + b, 0), said.range_count);

/** The range in which one is, of those that the page has one by one. */
const rows = new Map(single.columns.id.map((id, row) => [key(single.columns.process[row], id), row]));
function around(range) {
    for (let id = range.parent; id; id = wanted.get(key(range.process, id)).parent)
        if (rows.has(key(range.process, id)))
            return rows.get(key(range.process, id)) + 1;
    return 0;
}
const valued = held.metrics.map((metric) => metric.name);
/** A metric, or what a hardware counter counted. */
const valueOf = (range, name) => range.metrics[name] ?? range.counters?.[name] ?? null;
const values = (range) => valued.map((name) => valueOf(range, name));
for (let row = 0; row < single.size; ++row) {
    const of = (name) => single.columns[name][row];
    const range = wanted.get(key(of('process'), of('id')));
    if (!range) {
        fail(`the page has a range ${of('id')} that is none`);
        continue;
    }
    const what = `range ${range.id}`;
    check(what, { name: texts[of('name')], thread: of('thread'), kind: of('kind') ? 'start' : 'push', start: of('start') + held.zero, ranges: of('ranges'),
        open: of('open'), shared: Boolean(of('shared')), parent: of('parent') }, { name: range.name, thread: range.thread, kind: range.kind, start: range.start_ns, ranges: 1,
        open: range.end_ns === null ? 1 : 0, shared: range.shared ?? false, parent: around(range) });
    for (const [name, said] of Object.entries(columns))
        check(`${said} of ${what}`, of(name), range[said]);
    check(`wall and idle of ${what}`, [of('wall'), of('idle')], [range.wall_ns ?? 0, range.idle_ns ?? 0]);
    check(`work of ${what}`, [of('first'), of('last')], range.last_ns === null ? [of('start'), of('start')] :
        [range.first_ns - held.zero, range.last_ns - held.zero]);
    check(`kernels of ${what}`, single.kernels[row].map(([name, kernels, total]) => [texts[name], kernels, total]),
        range.names.slice(0, NAMES).map((item) => [item.name, item.kernels, item.total_ns]));
    check(`further kernels of ${what}`, single.further[row], Math.max(0, range.names.length - NAMES));
    values(range).forEach((value, place) => near(`${valued[place]} of ${what}`, nan(single.metrics[place][row]), value));
}
for (const name of said.ranges.flatMap((range) => Object.keys(range.counters ?? {})))
    hold(`counter ${name} is there`, valued.includes(name));
for (const name of Object.keys(said.ranges[0].metrics))
    hold(`metric ${name} is there, or has no value`, valued.includes(name) || said.ranges.every((range) => range.metrics[name] === null));
if (held.leftOut) {
    const least = Math.min(...single.columns.wall.filter((_, row) => !single.columns.open[row]));
    hold('the longest ranges are there', said.ranges.every((range) => rows.has(key(range.process, range.id)) || range.wall_ns <= least));
}

/* By name: what the same path of names has, added up. */

const paths = new Map();
const pathOf = new Map();
for (const range of said.ranges) { // an outer one before its inner ones
    const outer = range.parent ? pathOf.get(key(range.process, range.parent)) : `${range.process}`;
    const path = `${outer}\n${range.name}`;
    pathOf.set(key(range.process, range.id), path);
    paths.set(path, [...(paths.get(path) ?? []), range]);
}
const sum = (list, of) => list.reduce((total, item) => total + (of(item) ?? 0), 0);
/** A ratio of sums from what its parts are in each range. */
const ratios = {
    kernel_time_mean: [(range) => range.kernel_ns, (range) => range.kernels, 1],
    concurrency: [(range) => range.kernel_ns, (range) => range.busy_ns, 1],
    kernel_overlap: [(range) => range.overlap_ns, (range) => range.busy_ns, 100],
    copy_hidden: [(range) => range.copy_overlap_ns, (range) => range.copying_ns, 100],
    work_group_size: [(range) => range.metrics.work_items, (range) => range.metrics.work_groups, 1],
    lane_use: [(range) => range.metrics.work_items, (range) => (range.metrics.lane_use ? range.metrics.work_items * 100 / range.metrics.lane_use : 0), 100],
    gpu_busy: [(range) => range.counters?.GRBM_GUI_ACTIVE, (range) => range.counters?.GRBM_COUNT, 100],
    l2_hit: [(range) => range.counters?.TCC_HIT, (range) => (range.counters?.TCC_HIT ?? 0) + (range.counters?.TCC_MISS ?? 0), 100],
    gpu_active: [(range) => (range.metrics.gpu_active ?? 0) * (range.wall_ns ?? 0) / 100, (range) => range.wall_ns, 100],
};
const whole = paths.size <= MERGED;
if (whole)
    check('paths of names', merged.size, paths.size);
const names = [];
for (let row = 0; row < merged.size; ++row) {
    const of = (name) => merged.columns[name][row];
    names[row] = `${of('parent') ? names[of('parent') - 1] : of('process')}\n${texts[of('name')]}`;
    const list = paths.get(names[row]);
    if (!list) {
        hold(`${names[row]} is further names`, !whole && texts[of('name')] === '(further names)');
        continue;
    }
    const what = `ranges ${names[row].slice(0, 80)}`;
    check(`how many ${what}`, [of('ranges'), of('open')], [list.length, list.filter((range) => range.end_ns === null).length]);
    check(`wall and idle of ${what}`, [of('wall'), of('idle')], [sum(list, (range) => range.wall_ns), sum(list, (range) => range.idle_ns)]);
    for (const [name, said] of Object.entries(columns))
        check(`${said} of ${what}`, of(name), sum(list, (range) => range[said]));
    const longest = list.find((range) => range.id === of('id'));
    hold(`the longest of ${what}`, longest && (longest.wall_ns ?? 0) === Math.max(0, ...list.map((range) => range.wall_ns ?? 0)));
    const kernels = new Map();
    for (const item of list.flatMap((range) => range.names))
        kernels.set(item.name, [(kernels.get(item.name)?.[0] ?? 0) + item.kernels, (kernels.get(item.name)?.[1] ?? 0) + item.total_ns]);
    check(`names of kernels of ${what}`, merged.kernels[row].length + merged.further[row], kernels.size);
    for (const [name, count, total] of merged.kernels[row])
        check(`kernel ${texts[name]} of ${what}`, [count, total], kernels.get(texts[name]));
    held.metrics.forEach(({ name, rule }, place) => {
        const got = nan(merged.metrics[place][row]);
        const each = list.map((range) => valueOf(range, name)).filter((value) => value !== null);
        if (rule === 'sum')
            near(`${name} of ${what}`, got, each.length ? sum(each, (value) => value) : NaN);
        else if (rule === 'max')
            near(`${name} of ${what}`, got, each.length ? Math.max(...each) : NaN);
        else if (ratios[name]) {
            const [over, under, factor] = ratios[name];
            near(`${name} of ${what}`, got, sum(list, under) ? factor * sum(list, over) / sum(list, under) : NaN, 1e-5);
        }
    });
}

/* What is seen. Numbers have four figures and a unit. */

const settle = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const press = async (name) => {
    await page.locator('#view-ranges button', { hasText: name }).click();
    await settle();
};
const cells = () => page.evaluate(() => ({
    heads: [...document.querySelectorAll('#view-ranges th')].map((cell) => cell.textContent.replace(/ [▴▾]/, '')),
    rows: [...document.querySelectorAll('#view-ranges tr[id]')].map((line) => ({ row: Number(line.id.replace('range-', '')), level: Number(line.ariaLevel),
        cells: [...line.cells].map((cell) => cell.textContent) })) }));
const units = { ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9, min: 6e10, B: 1, KiB: 1024, MiB: 1048576, GiB: 2 ** 30, '%': 1, '': 1 };
function parsed(text) {
    if (text === '–' || text === 'open')
        return 0;
    const [, number, unit] = /^(-?[\d\u202f.]+)[ \u00a0]?(\D*)$/.exec(text) ?? [];
    return Number(number?.replace(/\u202f/g, '')) * units[unit];
}
const seen = { wall: 'wall_ns', busy: 'busy_ns', idle: 'idle_ns', kernels: 'kernels', copied: 'copy_bytes', replays: 'graph_launches' };
const percent = held.metrics.filter((metric) => metric.unit === '%').map((metric) => metric.name);
await press('One by one');
await page.locator('.menu summary').click();
for (const name of ['gpu_active', 'work_items'])
    await page.locator('.menu label', { hasText: name }).locator('input').check();
await page.locator('.menu summary').click();
async function compareSeen(most) {
    const { heads, rows: lines } = await cells();
    check('columns', heads.slice(1), [...Object.keys(seen), ...held.metrics.filter((metric) => metric.recorded ||
        ['work_items', 'gpu_active'].includes(metric.name)).map((metric) => metric.name)]);
    hold('rows are seen, and not too many', lines.length > 0 && lines.length <= most);
    for (const line of lines) {
        const range = wanted.get(key(single.columns.process[line.row], single.columns.id[line.row]));
        hold(`the name of ${range.id}`, line.cells[0].endsWith(range.name || '(no name)'));
        heads.slice(1).forEach((head, place) => near(`${head} of range ${range.id} as it is seen`, parsed(line.cells[place + 1]),
            (seen[head] ? range[seen[head]] : valueOf(range, head)) ?? 0, head === 'copied' || percent.includes(head) ? 0.051 : 6e-4));
    }
}
await compareSeen(80);
/** Scrolls, and waits until the row that lies there is drawn. */
async function scroll(to, row) {
    await page.evaluate((top) => (document.querySelector('#view-ranges .sheet').scrollTop = top), to);
    await page.waitForFunction((id) => document.getElementById(id), `range-${row}`, patience);
}
await scroll(1e9, await page.evaluate(() => rtlPage.ranges.rows.at(-1)));
await compareSeen(80);
await scroll(0, 0);

// In order of any column, within what is around them.
const listed = () => page.evaluate(() => rtlPage.ranges.rows);
const roots = (list) => list.filter((row) => !single.columns.parent[row]);
await page.locator('#view-ranges th button', { hasText: 'wall' }).click();
const walls = roots(await listed()).map((row) => single.columns.wall[row]);
check('by wall', walls, [...walls].sort((a, b) => b - a));
await page.locator('#view-ranges th button', { hasText: 'wall' }).click();
check('and rising', roots(await listed()).map((row) => single.columns.wall[row]), [...walls].reverse());
await page.locator('#view-ranges th button', { hasText: 'range' }).click();
const ordered = await listed();
check('in the order of their begin', roots(ordered), [...roots(ordered)].sort((a, b) => a - b));

// Keys.
const sheet = page.locator('#view-ranges .sheet');
const chosen = () => page.evaluate(() => rtlPage.ranges.chosen);
const inner = single.columns.parent.map(Number).find((parent) => parent > 0) - 1; // a row with something within
await page.evaluate(([process, id]) => rtlPage.ranges.open(process, id), [single.columns.process[inner], single.columns.id[inner]]);
await sheet.focus();
await settle();
check('the chosen range', await chosen(), inner);
check('its details', (await page.locator('.cost h2').textContent()).split(' › ').pop(), texts[single.columns.name[inner]] || '(no name)');
const facts = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.cost dt')].map((name) =>
    [name.textContent, name.nextSibling.textContent])));
const first = wanted.get(key(single.columns.process[inner], single.columns.id[inner]));
near('its busy time', parsed(facts.Busy), first.busy_ns, 6e-4);
check('its id', facts.Id, String(first.id));
check('its kernels', facts.Kernels?.split(',')[0].replace(/\u202f/g, ''), String(first.kernels));
near('its mean of kernels', facts.kernel_time_mean === '–' ? NaN : parsed(facts.kernel_time_mean), first.metrics.kernel_time_mean, 6e-4);
const isOpen = () => page.evaluate((row) => document.getElementById(`range-${row}`).ariaExpanded, inner);
if (await isOpen() === 'false')
    await page.keyboard.press('ArrowRight');
check('→ opens', await isOpen(), 'true');
const opened = await listed();
await page.keyboard.press('ArrowRight');
const below = await chosen();
check('→ goes in', single.columns.parent[below] - 1, inner);
await page.keyboard.press('ArrowLeft');
if (await chosen() === below)
    await page.keyboard.press('ArrowLeft');
check('← goes out', await chosen(), inner);
await page.keyboard.press('ArrowLeft');
check('← closes', await isOpen(), 'false');
hold('what is within is gone', (await listed()).length < opened.length && !(await listed()).includes(below));
await page.keyboard.press('ArrowRight');
const list = await listed();
await page.keyboard.press('ArrowDown');
check('↓ chooses the next', await chosen(), list[list.indexOf(inner) + 1]);
await page.keyboard.press('ArrowUp');
check('↑ the one before', await chosen(), inner);
await page.keyboard.press('End');
check('End the last', await chosen(), list[list.length - 1]);
hold('it is seen', await page.locator(`#range-${list[list.length - 1]}`).isVisible());
await page.keyboard.press('Home');
check('Home the first', await chosen(), list[0]);

// Filter: all that have the words, and what is around them.
const word = texts[single.columns.name[single.size - 1]].slice(-7).toLowerCase();
await page.locator('#view-ranges .filter').fill(word);
await settle();
const fits = said.ranges.filter((range) => word.trim().split(/\s+/).every((part) => range.name.toLowerCase().includes(part)) &&
    rows.has(key(range.process, range.id)));
check('found', (await page.locator('#range-sum').textContent()).replace(/\D/g, ''), String(fits.length));
const kept = new Set();
for (const range of fits)
    for (let row = rows.get(key(range.process, range.id)) + 1; row; row = single.columns.parent[row - 1])
        kept.add(row - 1);
check('rows that are kept', (await listed()).sort((a, b) => a - b), [...kept].sort((a, b) => a - b));
await page.locator('#view-ranges .filter').fill('');

// A link restores the chosen range; Enter leads to it in the timeline, whose details have the same numbers and lead back.
const target = said.ranges.find((range) => range.kernels && range.end_ns && rows.has(key(range.process, range.id))) ?? first;
await page.evaluate(([process, id]) => rtlPage.ranges.open(process, id), [target.process, target.id]);
await page.waitForFunction((id) => location.hash.includes(`range=${id}`), key(target.process, target.id), patience).catch(() => {});
const again = await open(await page.evaluate(() => location.href), { colorScheme: 'dark' });
await again.waitForFunction(() => rtlPage.ranges?.chosen >= 0, null, patience).catch(() => {});
check('the range of a link', await again.evaluate(() => rtlPage.ranges?.chosenId), [target.process, target.id]);
const color = (tab) => tab.locator('.cost').evaluate((item) => [getComputedStyle(item).backgroundColor, getComputedStyle(item).color]);
const [[light, lightText], [dark, darkText]] = [await color(page), await color(again)];
hold('both themes', light !== dark && lightText !== darkText && light !== lightText && dark !== darkText);
await again.close();
await sheet.focus();
await page.keyboard.press('Enter');
await page.waitForFunction((id) => rtlPage.timeline.selected?.id === id, target.id, patience).catch(() => {});
check('Enter shows the timeline', await page.locator('[role=tab][aria-selected=true]').getAttribute('id'), 'tab-timeline');
check('with the range', await page.evaluate(() => [rtlPage.timeline.selected?.lane.process, rtlPage.timeline.selected?.id]), [target.process, target.id]);
const axis = await page.evaluate(() => [rtlPage.timeline.axis.from, rtlPage.timeline.axis.to]);
const begin = target.start_ns - held.zero;
hold('and its time', axis[0] <= begin && axis[1] >= begin + target.wall_ns && axis[1] - axis[0] < 2 * target.wall_ns + 100);
await page.waitForFunction(() => [...document.querySelectorAll('#details dt')].some((name) => name.textContent === 'Busy'), null, patience).catch(() => {});
const told = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll('#details dt')].map((name) =>
    [name.textContent, name.nextSibling.textContent])));
near('busy time in its details', parsed(told.Busy ?? ''), target.busy_ns, 6e-4);
near('and a metric', told.work_items === '–' ? NaN : parsed(told.work_items ?? ''), target.metrics.work_items);
await page.locator('#details dd button', { hasText: 'among all ranges' }).click();
check('the way back', await page.evaluate(() => rtlPage.ranges.chosenId), [target.process, target.id]);

check('elements that a name made', await page.locator('img, svg, b:has(b), iframe, object').count(), 0);
check('scripts that a name ran', await page.evaluate(() => window.hostile ?? null), null);
check('messages, errors and requests', strange, []);
await browser.close();
if (failures)
    console.error(`${failures} checks failed`);
process.exit(failures ? 1 : 0);
