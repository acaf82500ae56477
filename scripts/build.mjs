// Bundles the CLI and the library into packages/copse/dist.
//
// Invariants
// - Chunks carry their content's hash in their name and are in place before the entry points that import them,
//   and every file arrives by a rename: at any moment, also after a kill, dist holds a whole build.
// - A process that was started from an earlier build still finds the chunks it has not loaded yet: replaced files
//   stay for KEEP_REPLACED_MS. A release build (--release) removes them.
// - dist/.built is written last, names the files of this build, and carries the time at which the build began:
//   whatever is newer is not in it.
//
// Plain JavaScript for Node 20, like scripts/setup.mjs, which imports it.

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
import { basename, delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const packageDir = join(root, 'packages', 'copse');
const distDir = join(packageDir, 'dist');
const builtFile = join(distDir, '.built');

const ENTRIES = ['cli', 'runner', 'index'];

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
];

export class BuildError extends Error {}

export function isBuilt() {
  if (!existsSync(builtFile)) return false;
  const builtNs = statSync(builtFile, { bigint: true }).mtimeNs;
  return INPUTS.every((input) => existsSync(input) && !isNewer(input, builtNs));
}

export async function build({ release = false } = {}) {
  const beganMs = Date.now() - FILE_TIME_LAG_MS;
  const outputs = await bundle();

  mkdirSync(distDir, { recursive: true });
  const isEntry = (file) => ENTRIES.some((name) => basename(file.path) === `${name}.js`);
  for (const file of outputs.filter((output) => !isEntry(output))) replaceFile(file.path, file.contents);
  for (const file of outputs.filter(isEntry)) replaceFile(file.path, file.contents);

  const names = outputs.map((file) => basename(file.path));
  removeReplaced({ current: names, keepMs: release ? 0 : KEEP_REPLACED_MS });
  replaceFile(builtFile, `${names.join('\n')}\n`, beganMs);
}

async function bundle() {
  // Loaded here, so that asking isBuilt() needs nothing installed.
  const esbuild = await import('esbuild');
  try {
    const result = await esbuild.build({
      absWorkingDir: root,
      entryPoints: ENTRIES.map((name) => join(packageDir, 'src', `${name}.ts`)),
      outdir: distDir,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      external: ['pg'],
      chunkNames: 'chunk-[name]-[hash]',
      // Names and lines stay as they are, for stack traces; the maps are only read by those who ask for them.
      minifySyntax: true,
      sourcemap: 'linked',
      legalComments: 'none',
      // CommonJS packages inside the bundle still call require for Node's own modules.
      banner: {
        js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
      },
      write: false,
      logLevel: 'silent',
    });
    return result.outputFiles;
  } catch (error) {
    if (!Array.isArray(error.errors)) throw error;
    const messages = await esbuild.formatMessages(error.errors, {
      kind: 'error',
      color: process.stderr.isTTY === true && !process.env.NO_COLOR,
    });
    throw new BuildError(messages.join('').trimEnd(), { cause: error });
  }
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
  rmSync(join(distDir, 'types'), { recursive: true, force: true });
  const bin = join(root, 'node_modules', '.bin');
  const { status } = spawnSync(join(bin, 'tsc'), ['--project', 'tsconfig.build.json'], {
    cwd: root,
    env: { ...process.env, PATH: bin + delimiter + process.env.PATH },
    stdio: 'inherit',
  });
  if (status !== 0) throw new BuildError('The type declarations could not be written; tsc says why above.');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const release = process.argv.includes('--release');
  try {
    await build({ release });
    emitTypes();
    console.log('built packages/copse/dist');
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
