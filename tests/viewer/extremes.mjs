// extremes.mjs VIEWER CHROMIUM PAGE: opens all parts of a page, then looks at its very end as closely as it goes.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewer, executablePath, file] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(viewer), 'package.json'))('playwright-core');
const patience = { timeout: 120000 };
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'], ...patience });
const page = await browser.newPage({ viewport: { width: 1280, height: 700 } });
const strange = [];
page.setDefaultTimeout(patience.timeout);
page.on('console', (message) => strange.push(`console: ${message.text()}`));
page.on('pageerror', (error) => strange.push(`error: ${error.message}`));

const drawn = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
await page.goto(pathToFileURL(resolve(file)).href);
await page.waitForFunction(() => window.rtlPage?.trace?.complete);
for (const key of ['2', '3', '4', '1']) {
    await page.keyboard.press(key);
    await drawn();
}
const last = await page.evaluate(() => {
    const { head } = rtlPage.trace;
    rtlPage.timeline.axis.show(head.last - 10, head.last);
    return head.last;
});
await drawn();
// Events may lie outside of what the recording says of its own begin and end.
const { first, bounds } = await page.evaluate(() => rtlPage.trace.head);
if (bounds[0] > first || bounds[1] < last)
    strange.push(`events from ${first} to ${last} are not within ${bounds}`);
await page.evaluate(() => rtlPage.timeline.axis.showAll());
await drawn();
if (!(last > 0 && last <= Number.MAX_SAFE_INTEGER))
    strange.push(`the last moment is ${last}`);
for (const line of strange)
    console.error(line);
await browser.close();
process.exit(strange.length ? 1 : 0);
