/**
 * Builds ../page.html: index.html with the style, the bundled script and the licences put in.
 * The same sources give the same bytes; their hash stands in the page, so that a test can tell a stale one.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const text = (path) => readFileSync(join(here, path), 'utf8').replaceAll('\r\n', '\n');

/** SHA-256 over every source: its path, a zero byte, its text, a zero byte, in the order of the paths. */
function sourceHash() {
  const single = ['LICENSES.md', 'build.mjs', 'index.html', 'package-lock.json', 'package.json', 'style.css'];
  const modules = readdirSync(join(here, 'src'), { recursive: true }).map((name) => `src/${name.replaceAll('\\', '/')}`).filter((path) => path.endsWith('.js'));
  const hash = createHash('sha256');
  for (const path of [...single, ...modules].sort()) hash.update(`${path}\0${text(path)}\0`);
  return hash.digest('hex');
}

function bundled(entry) {
  const result = buildSync({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: entry === 'src/main.js' ? 'esm' : 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
  });
  // a closing tag inside the script would end it early
  return result.outputFiles[0].text.replaceAll('</script', '<\\/script');
}
const [script, worker] = ['src/main.js', 'src/worker/worker.js'].map(bundled);
const style = text('node_modules/uplot/dist/uPlot.min.css') + text('style.css');
const parts = { sources: sourceHash(), style, licences: text('LICENSES.md'), worker, script };
const page = text('index.html').replace(/@(sources|style|licences|worker|script)@/g, (_, name) => parts[name]);
writeFileSync(join(here, '..', 'page.html'), page);
console.log(`page.html: ${(Buffer.byteLength(page) / 1000).toFixed(0)} kB`);
