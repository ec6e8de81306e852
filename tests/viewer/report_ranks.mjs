// report_ranks.mjs VIEWER CHROMIUM FOLDER RANKS HOSTS: compares the ranks of FOLDER/report.json with what rtl ranks says
// (FOLDER/ranks.json) and what was counted when the trace was made (FOLDER/truth), and opens FOLDER/report.html.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewer, executablePath, folder, rankCount, hostCount] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(viewer), 'package.json'))('playwright-core');
const read = (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
const { ranks } = read('report');
const told = read('ranks');
const truth = readFileSync(join(folder, 'truth'), 'utf8').trim().split('\n').map((line) => line.split(' ').map(Number));

let failures = 0;
function check(what, got, want) {
    if (JSON.stringify(got) !== JSON.stringify(want)) {
        ++failures;
        console.error(`${what}: got ${JSON.stringify(got)?.slice(0, 600)}, want ${JSON.stringify(want)?.slice(0, 600)}`);
    }
}
const sum = (list) => list.reduce((all, item) => all + item, 0);

/* What it holds. */

check('ranks and hosts', [ranks.count, ranks.ranks.length, ranks.hosts.length], [Number(rankCount), Number(rankCount), Number(hostCount)]);
check('exposed', ranks.ranks.map((rank) => rank.exposed_ns), ranks.ranks.map((_, place) => sum(truth.filter(([rank]) => rank === place).map((row) => row[3]))));
const { each } = ranks.points;
const steps = Math.max(...truth.map(([, step]) => step)) + 1;
check('steps in the points', [ranks.steps, ranks.points.step], [steps, [...Array(Math.ceil(steps / each)).keys()].map((place) => 1 + place * each)]);
for (const [column, key] of [[2, 'collective_ns'], [3, 'exposed_ns']])
    check(`points: ${key}`, ranks.points[key], ranks.points.step.map((first) => sum(truth.filter(([, step]) => step + 1 >= first && step + 1 < first + each).map((row) => row[column]))));
const waits = [...Array(steps).keys()].map((step) => {
    const times = truth.filter((row) => row[1] === step).map((row) => row[2]);
    return sum(times) - times.length * Math.min(...times);
});
check('points: waited_ns', sum(ranks.points.waited_ns), sum(waits));
check('the longest waits', ranks.worst.map((step) => step.waited_ns), [...waits].sort((a, b) => b - a).slice(0, 10));
for (const [place, rank] of told.ranks.entries()) {
    const { waits: list, ...rest } = rank;
    const most = list.reduce((best, item) => (item.ns > (best?.ns ?? 0) ? item : best), null);
    check(`rank ${place}`, ranks.ranks[place], { ...rest, waited_for: most?.process ?? null });
}
check('hosts', ranks.hosts, told.hosts);

/* What the page shows. */

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], timeout: 240000 });
const strange = [];
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
page.on('console', (message) => strange.push(`console: ${message.text()}`));
page.on('pageerror', (error) => strange.push(`error: ${error.message}`));
await page.goto(pathToFileURL(resolve(folder, 'report.html')).href);
await page.waitForFunction(() => window.rtlReport?.complete);
const rows = await page.$$eval('#ranks .sheet', (sheets) => [...sheets[0].querySelectorAll('tbody tr')].map((row) => row.firstElementChild.textContent));
check('rows', rows, [...Array(Number(rankCount)).keys()].map((rank) => `rank ${rank}`));
const [cells] = await page.$$eval('#ranks .sheet', (sheets) => [...sheets[0].querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent.replace(/\s/g, ""))));
check('exposed in the first row', cells.includes(`${(100 * ranks.ranks[0].exposed_ns / ranks.ranks[0].total_ns).toFixed(1)}%`), true);
check('hosts are shown where there are several', await page.locator('#ranks h3', { hasText: /^Hosts$/ }).count(), Number(hostCount) > 1 ? 1 : 0);
check('the chart', await page.locator('#ranks .chart canvas').count(), 1);
for (const width of [700, 1280, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    check(`nothing sticks out at ${width}`, await page.evaluate(() => document.documentElement.scrollWidth - innerWidth <= 0), true);
}
await page.locator('#theme').click();
check('the chart in the other colours', await page.locator('#ranks .chart canvas').count(), 1);
check('nothing strange', strange, []);
await browser.close();
process.exit(failures ? 1 : 0);
