// bench.mjs VIEWER CHROMIUM PAGE: how long a page takes until its first picture, and its pictures while time moves by, at several
// widths. Prints one line of JSON, ms: `draw` is what a picture takes the script, `frame` the time from picture to picture (16.7
// is the most that the browser asks for).
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [viewer, executablePath, file] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(viewer), 'package.json'))('playwright-core');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(pathToFileURL(resolve(file)).href);
await page.waitForFunction(() => window.rtlPage?.trace?.complete);
const results = await page.evaluate(() => ({ first_picture: rtlPage.firstPicture, complete: performance.now() }));

/** Moves a tenth of the view a picture, to the right and back, as a hand does. */
const pan = (part) => page.evaluate(async (share) => {
    const { axis } = rtlPage.timeline;
    const picture = () => new Promise((done) => requestAnimationFrame(done));
    const { first, last } = rtlPage.trace.head;
    const from = first + 0.1 * (last - first);
    axis.show(from, from + share * (last - first));
    await new Promise((done) => setTimeout(done, 1500));
    const draws = [], frames = [];
    let before = await picture();
    for (let i = 0; i < 120; ++i) {
        axis.move((i < 60 ? 1 : -1) * 0.1 * axis.span);
        const now = await picture();
        await 0;
        draws.push(rtlPage.timeline.drawTime);
        frames.push(now - before);
        before = now;
    }
    const quantile = (list, p) => list.sort((a, b) => a - b)[Math.ceil(p * list.length) - 1];
    return [draws, frames].flatMap((list) => [quantile(list, 0.5), quantile(list, 0.95)]);
}, part);
for (const [name, part] of [['half', 0.5], ['fiftieth', 0.02], ['replay', 0.0001]]) {
    const [draw, slowDraw, frame, slowFrame] = await pan(part);
    Object.assign(results, { [`draw_${name}`]: draw, [`draw_${name}_p95`]: slowDraw, [`frame_${name}`]: frame,
        [`frame_${name}_p95`]: slowFrame });
}
await browser.close();
console.log(`{${Object.entries(results).map(([name, value]) => `"${name}": ${value.toFixed(1)}`).join(', ')}}`);
