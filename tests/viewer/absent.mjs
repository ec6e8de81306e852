// absent.mjs VIEWER CHROMIUM GAPS: what the pages of absent.sh, in the current folder, say of idle times, of which the full one has GAPS.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewer, executablePath, gaps] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(viewer), 'package.json'))('playwright-core');

let failures = 0;
function check(what, got, want) {
    if (JSON.stringify(got) !== JSON.stringify(want)) {
        ++failures;
        console.error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
    }
}

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
const open = (name) => page.goto(pathToFileURL(resolve(`${name}.html`)).href);
const text = (selector) => page.$eval(selector, (element) => (element.hidden ? '' : element.textContent));

for (const mode of ['full', 'standard']) {
    const left = mode === 'standard' ? '32 kernels are not in the trace (left out by the mode standard)' : '';
    await open(`${mode}-page`);
    await page.waitForFunction(() => window.rtlPage?.complete ?? document.querySelector('#verdict')?.textContent);
    check(`badge of ${mode}`, await text('#verdict'), mode === 'full' ? 'complete · 34 kernels' : 'complete · 2 kernels, others left out');
    check(`notice of ${mode}`, await text('#notice'), left && `${left}: busy times are of the others, and idle times are not known.`);
    check(`rows of idle times of ${mode}`, await page.evaluate(() => rtlPage.trace.lanes.filter((lane) => lane.kind === 'idle').length), mode === 'full' && Number(gaps) > 0 ? 1 : 0);
    await open(`${mode}-report`);
    await page.waitForSelector('#idle');
    const idle = await text('#idle');
    check(`idle times in the report of ${mode}`, idle.includes('idle for '), mode === 'full');
    check(`what is absent in the report of ${mode}`, idle.includes(left || 'not in the trace'), mode === 'standard');
    check(`tile of ${mode}`, (await text('.tiles')).includes('GPU idle'), mode === 'full');
}
await browser.close();
if (failures) {
    console.error(`${failures} checks failed`);
    process.exit(1);
}
