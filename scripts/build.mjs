// Bundles the CLI and the library into packages/copse/dist.
//
// Invariants
// - Chunks carry their content's hash in their name and are in place before the entry points that import them,
//   and every file arrives by a rename: at any moment, also after a kill, dist holds a whole build.
// - A process that was started from an earlier build still finds the chunks it has not loaded yet: replaced files
//   stay for KEEP_REPLACED_MS. A release build (--release) removes them.
// - dist/.built-from is written last, names the files of this build, and carries the time at which the build began:
//   whatever is newer is not in it. Its name changes with what the launcher expects of a build.
//
//   node scripts/build.mjs [--release] [--no-types]
//
// Plain JavaScript: scripts/setup.mjs, which Node 20 runs, asks it whether a build is needed. Building takes the
// pinned Node.js.

import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const packageDir = join(root, 'packages', 'copse');
const distDir = join(packageDir, 'dist');
const builtFile = join(distDir, '.built-from');

const KEEP_REPLACED_MS = 7 * 24 * 60 * 60 * 1000;

// A file's time may lag a few milliseconds behind the clock.
const FILE_TIME_LAG_MS = 10;

// The same inputs as in the launcher.
const INPUTS = [
  join(packageDir, 'src'),
  join(packageDir, 'package.json'),
  join(root, 'package.json'),
  join(root, 'package-lock.json'),
  join(root, 'tsconfig.json'),
  join(root, 'scripts', 'build.mjs'),
  join(root, 'scripts', 'build-builtins.mjs'),
  join(root, 'scripts', 'config-shape.mjs'),
];

export class BuildError extends Error {}

export function isBuilt() {
  if (!existsSync(builtFile)) return false;
  const builtNs = statSync(builtFile, { bigint: true }).mtimeNs;
  return INPUTS.every((input) => existsSync(input) && !isNewer(input, builtNs));
}

export async function build({ release = false } = {}) {
  const beganMs = Date.now() - FILE_TIME_LAG_MS;
  const outputs = [...(await bundle()), guardScript()];

  mkdirSync(distDir, { recursive: true });
  const isEntry = (file) => PROGRAMS.some(({ entry }) => basename(file.path) === `${entry}.js`);
  for (const file of outputs.filter((output) => !isEntry(output))) replaceFile(file.path, file.contents);
  for (const file of outputs.filter(isEntry)) replaceFile(file.path, file.contents);

  const names = outputs.map((file) => basename(file.path));
  removeReplaced({ current: names, keepMs: release ? 0 : KEEP_REPLACED_MS });
  replaceFile(builtFile, `${names.join('\n')}\n`, beganMs);
}

// Loaded before the compile cache is on, so nothing else may be in its file.
const START = /\/kernel\/system\/compile-cache\.ts$/;

// Each program is bundled alone: a runner does not load what only commands need. Commands share files by use, because
// every file costs a start more than what is in it; a group has all that its modules import statically.
export const PROGRAMS = [
  {
    entry: 'cli',
    groups: {
      start: START,
      core: /\/(cli\/main|commands\/(.+\/)?(list|show)|operations\/overview\/(list|show))\.ts$/,
      look: /\/(commands\/(.+\/)?(why|queue|worktrees|agents|status)|operations\/(overview\/(why|status)|queue\/list|worktrees\/list|agents\/running)|compose\/look)\.ts$/,
      write: /\/board\/whole\.ts$/,
      yaml: /\/config\/(.+\/)?read\.ts$/,
      worktrees: /\/compose\/workspace-adapters\.ts$/,
      config: /\/config\/parse\.ts$/,
      run: /\/compose\/(.+\/)?run\.ts$/,
    },
  },
  { entry: 'runner', groups: { start: START, main: /\/compose\/runner\.ts$/ } },
  { entry: 'index', groups: {} },
];

// The shell above `copse watch`, started by the launcher and by the bundle.
function guardScript() {
  const name = 'guard.sh';
  return { path: join(distDir, name), contents: readFileSync(join(packageDir, 'src', 'cli', 'watch', name)) };
}

async function bundle() {
  // Loaded here, so that asking isBuilt() needs nothing installed.
  const { rolldown } = await import('rolldown');
  const { cheapBuiltins } = await import('./build-builtins.mjs');
  const { configShape } = await import('./config-shape.mjs');
  const outputs = [];
  for (const { entry, groups } of PROGRAMS) {
    try {
      const program = await rolldown({
        cwd: root,
        input: { [entry]: join(packageDir, 'src', `${entry}.ts`) },
        platform: 'node',
        transform: { target: 'node24' },
        external: ['pg'],
        plugins: [configShape(), cheapBuiltins()],
        logLevel: 'silent',
      });
      const { output } = await program.generate({
        format: 'esm',
        entryFileNames: '[name].js',
        chunkFileNames: `chunk-${entry}-[name]-[hash].js`,
        // Names and lines stay as they are, for stack traces; the maps are only read by those who ask for them.
        sourcemap: true,
        comments: false,
        codeSplitting: {
          groups: Object.entries(groups).map(([name, test], index) => ({
            name,
            test,
            priority: 100 - index,
          })),
        },
      });
      outputs.push(...output);
    } catch (error) {
      if (!Array.isArray(error.errors)) throw error;
      const isColoured = process.stderr.isTTY && !process.env.NO_COLOR;
      const message = isColoured ? error.message : stripVTControlCharacters(error.message);
      throw new BuildError(message, { cause: error });
    }
  }
  return outputs.map((file) => ({
    path: join(distDir, file.fileName),
    contents: file.type === 'chunk' ? inAscii(file.code) : file.source,
  }));
}

/** V8 keeps a text with any other character in twice the memory, and Node has to decode it. */
function inAscii(code) {
  return code.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function replaceFile(path, contents, timeMs) {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, contents);
  if (timeMs !== undefined) utimesSync(temporary, timeMs / 1000, timeMs / 1000);
  renameSync(temporary, path);
}

function removeReplaced({ current, keepMs }) {
  const previous = existsSync(builtFile) ? readFileSync(builtFile, 'utf8').split('\n') : [];
  const now = new Date();
  for (const name of readdirSync(distDir)) {
    if (current.includes(name) || !/\.(js|map|tmp)$/.test(name)) continue;
    const path = join(distDir, name);
    // The time of a replaced file is when it was replaced, not when it was written.
    if (keepMs > 0 && previous.includes(name)) utimesSync(path, now, now);
    else if (now.getTime() - statSync(path).mtimeMs >= keepMs) rmSync(path, { force: true });
  }
}

function isNewer(path, timeNs) {
  const stat = statSync(path, { bigint: true });
  if (stat.mtimeNs > timeNs) return true;
  return stat.isDirectory() && readdirSync(path).some((name) => isNewer(join(path, name), timeNs));
}

function emitTypes() {
  const node = join(root, 'node_modules', '.bin', 'node');
  const { status } = spawnSync(node, [join(root, 'scripts', 'library', 'types.ts')], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new BuildError('The type declarations could not be written; the reason is above.');
}

// From the sources, so that a page is never older than its command.
function writeManPages() {
  const node = join(root, 'node_modules', '.bin', 'node');
  const { status } = spawnSync(node, [join(root, 'scripts', 'man-pages.ts')], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) throw new BuildError('The man pages could not be written; the reason is above.');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const release = process.argv.includes('--release');
  try {
    await build({ release });
    if (!process.argv.includes('--no-types')) {
      emitTypes();
      writeManPages();
      const { buildWeb } = await import('./web/build.mjs');
      await buildWeb();
    }
    console.log('built packages/copse/dist');
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
