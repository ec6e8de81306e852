// Builds the pages into one file each: node build.mjs VIEWER REPORT FIRST. rtl puts data in the place of their mark.
import { build } from 'esbuild';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [viewer, report, first] = process.argv.slice(2);

/** Script and style of `entry` in the page `frame`; the script's exports are `globalName`'s. */
async function make(entry, globalName, frame, output) {
    const { outputFiles } = await build({
        entryPoints: [join(here, entry)],
        outdir: 'out',
        bundle: true,
        write: false,
        minify: true,
        format: 'iife',
        globalName,
        target: ['chrome100', 'firefox113', 'safari16.4'],
        charset: 'ascii',
        legalComments: 'inline',
        logLevel: 'warning',
    });
    const text = (ending) => outputFiles.find((file) => file.path.endsWith(ending)).text;
    const script = text('.js').replaceAll('</script', '<\\/script').replaceAll('<!--', '\\x3c!--');
    const page = readFileSync(join(here, frame), 'utf8');
    // Functions as replacements: a string's $ would mean something.
    writeFileSync(output, page.replace('/*STYLE*/', () => text('.css')).replace('/*SCRIPT*/', () => script));
}

await make('src/main.ts', 'rtlPage', 'page.html', viewer);
await make('src/report/main.ts', 'rtlReport', 'report.html', report);
await make('src/first/main.ts', 'rtlFirst', 'first.html', first);
