// Runs every static check at once and says how each went; the full output only of those that failed, and the figures of
// those that measure.
//
//   npm run check              all of them
//   npm run check -- types     only those named

import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = join(root, 'node_modules', '.bin');

const PARTS = {
  types: ['tsc', '--pretty', 'false'],
  'web types': ['tsc', '--project', 'packages/web', '--pretty', 'false'],
  lint: ['oxlint', '--type-aware', '--deny-warnings', '--report-unused-disable-directives'],
  format: ['oxfmt', '--check'],
  boundaries: ['node', 'scripts/check-boundaries.mjs'],
  rooms: ['node', 'scripts/check-rooms.mjs'],
  'dead code': ['knip', '--no-progress'],
  documents: ['node', 'scripts/check-documents.mjs'],
  'web files': ['node', 'scripts/web/check-sizes.mjs'],
};

/** Checks whose output is figures that people want to see. */
const MEASURES = new Set(['rooms', 'documents', 'web files']);

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(
    `There is no check called ${unknown.join(', ')}; there are: ${Object.keys(PARTS).join(', ')}.`,
  );
  process.exit(2);
}

const chosen = Object.entries(PARTS).filter(([name]) => wanted.length === 0 || wanted.includes(name));
const results = await Promise.all(chosen.map(([name, command]) => runPart(name, command)));
const failed = results.filter((result) => !result.ok);

for (const { name, output } of results)
  if (MEASURES.has(name) && !failed.some((one) => one.name === name)) console.log(output.trim());
for (const { name, output } of failed) console.log(`\n── ${name}\n${output.trim()}`);
if (failed.length > 0) {
  console.log(
    `\nfailed: ${failed.map(({ name }) => name).join(', ')}  (npm run fix repairs format and some of lint)`,
  );
  process.exitCode = 1;
}

async function runPart(name, [command, ...args]) {
  const began = Date.now();
  const { ok, output } = await run(command, args);
  console.log(
    `${ok ? 'ok    ' : 'FAILED'}  ${name.padEnd(10)}  ${((Date.now() - began) / 1000).toFixed(1)} s`,
  );
  return { name, ok, output };
}

function run(command, args) {
  return new Promise((resolve) => {
    // The tools' own first line asks for the node on PATH; with bin first that is the pinned one.
    const child = spawn(join(bin, command), args, {
      cwd: root,
      env: { ...process.env, PATH: bin + delimiter + process.env.PATH, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    }
    child.on('error', (error) => resolve({ ok: false, output: error.message }));
    child.on('close', (code, signal) => {
      resolve({
        ok: code === 0,
        output: output || `${command} ended with ${signal ?? code} and said nothing`,
      });
    });
  });
}
