// Builds the dashboard and prints how much script each page loads before anything is drawn. Fails past the limits, and when
// the page has code of the product that is not pure.

import { readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { build } from 'vite';

const root = fileURLToPath(new URL('../..', import.meta.url));
const KB = 1024;

/** Of script, gzip. Parts that a page loads later, such as the diff and the terminal, do not count. */
const MOST = { board: 110 * KB, task: 130 * KB };
const MOST_OTHERS = 130 * KB;
const MOST_TOGETHER = 3 * KB * KB;

/** The code of the product that a page may have. */
const PURE = [/^kernel\/[^/]+$/, /^[^/]+\/rules\//, /^operations\/views\/(?!patch-page)/];

const folder = join(tmpdir(), `copse-web-sizes-${process.pid}`);
const problems = [];
try {
  await build({
    configFile: join(root, 'packages', 'web', 'vite.config.ts'),
    build: { outDir: folder },
    plugins: [{ name: 'copse-pure', generateBundle: (_, bundle) => checkPure(Object.values(bundle)) }],
  });
  const manifest = JSON.parse(readFileSync(join(folder, '.vite', 'manifest.json'), 'utf8'));
  const pages = Object.keys(manifest).filter((name) => /^src\/pages\/\w+\/page\.tsx$/.test(name));
  const sizes = pages.map((page) => [page.split('/')[2], scriptBytes(manifest, ['index.html', page])]);
  console.log(`script of pages: ${sizes.map(([page, bytes]) => `${page} ${inKb(bytes)}`).join(', ')} (gzip)`);
  for (const [page, bytes] of sizes)
    if (bytes > (MOST[page] ?? MOST_OTHERS))
      problems.push(`${page} loads ${inKb(bytes)} of script, limit ${inKb(MOST[page] ?? MOST_OTHERS)}`);
  // Only tests read the manifest: it is not published.
  rmSync(join(folder, '.vite'), { recursive: true });
  const together = bytesIn(folder);
  console.log(`files of the dashboard: ${inKb(together)} (limit ${inKb(MOST_TOGETHER)})`);
  if (together > MOST_TOGETHER) problems.push(`The files of the dashboard have ${inKb(together)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const problem of problems) console.log(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

function checkPure(files) {
  const sources = join(root, 'packages', 'copse', 'src').replaceAll('\\', '/');
  const ids = new Set(files.flatMap(({ moduleIds = [] }) => moduleIds));
  for (const id of ids) {
    const name = id.startsWith(`${sources}/`) ? id.slice(sources.length + 1) : undefined;
    if (name !== undefined && !PURE.some((pattern) => pattern.test(name)))
      problems.push(`The page has ${name}: it may have only rules, the kernel, and views of operations`);
    if (id.startsWith('__vite-browser-external'))
      problems.push(`The page imports ${id.split(':').at(-1)} of Node.js`);
  }
}

/** All that is loaded with these at once. */
function scriptBytes(manifest, names) {
  const found = new Set();
  const add = (name) => {
    if (found.has(name)) return;
    found.add(name);
    for (const other of manifest[name].imports ?? []) add(other);
  };
  for (const name of names) add(name);
  const files = [...found].map((name) => manifest[name].file).filter((file) => file.endsWith('.js'));
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(join(folder, file))).length, 0);
}

function bytesIn(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

function inKb(bytes) {
  return `${(bytes / KB).toFixed(1)} KB`;
}
