// Builds the viewer into one file: node build.mjs OUTPUT. rtl export puts the data of a trace in the place of its mark.
import { build } from 'esbuild';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2] ?? 'rtl-viewer.html';

const { outputFiles } = await build({
    entryPoints: [join(here, 'src/main.ts')],
    outdir: 'out',
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    globalName: 'rtlPage',
    target: ['chrome100', 'firefox113', 'safari16.4'],
    charset: 'ascii',
    legalComments: 'inline',
    logLevel: 'warning',
});
const text = (ending) => outputFiles.find((file) => file.path.endsWith(ending)).text;
const script = text('.js').replaceAll('</script', '<\\/script').replaceAll('<!--', '\\x3c!--');
const page = readFileSync(join(here, 'page.html'), 'utf8');
// Functions as replacements: a string's $ would mean something.
writeFileSync(output, page.replace('/*STYLE*/', () => text('.css')).replace('/*SCRIPT*/', () => script));
