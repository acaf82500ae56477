/**
 * Breaks the product on purpose and watches the checker of several machines find it: `npm run test:breaks`, or with names of
 * rules only some. Works in a temporary copy of the last commit, one break after the other; each takes a minute or two.
 * COPSE_BREAK_LOG=/tmp/break keeps the output of each run in /tmp/break-<rule>-<seed>.log.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { type Break, breaks } from './breaks.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const MODULES = ['node_modules', 'packages/copse/node_modules'];
const RUN = 'test/machines/faults/random.test.ts';

const wanted = process.argv.slice(2);
const chosen =
  wanted.length === 0 ? breaks : wanted.flatMap((name) => breaks.filter(({ rule }) => rule === name));
if (chosen.length < wanted.length)
  throw new Error(`The rules are ${breaks.map(({ rule }) => rule).join(', ')}`);
const copy = mkdtempSync(path.join(tmpdir(), 'copse-broken-'));
try {
  git('clone', '--quiet', '--shared', root, copy);
  for (const folder of MODULES) symlinkSync(path.join(root, folder), path.join(copy, folder));
  const unseen = chosen.filter((one) => !isSeen(one));
  if (unseen.length > 0) process.exitCode = 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}

function isSeen(one: Break): boolean {
  git('-C', copy, 'checkout', '--quiet', '--force', 'HEAD');
  for (const edit of one.edits) apply(edit);
  for (const seed of one.seeds) {
    const began = performance.now();
    const { stdout, stderr } = spawnSync('npm', ['test', '--', RUN], {
      cwd: copy,
      env: { ...process.env, COPSE_SEED: String(seed), COPSE_FLEETS: '1', NO_COLOR: '1' },
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
    const output = `${stdout}${stderr}`;
    const found = sentences(output);
    const rules = [...new Set(found.map((sentence) => sentence.split(':', 1)[0]))];
    const seconds = Math.round((performance.now() - began) / 1_000);
    const keep = process.env['COPSE_BREAK_LOG'];
    if (keep !== undefined) writeFileSync(`${keep}-${one.rule}-${seed}.log`, output);
    const isRight = rules.length === 1 && rules[0] === one.rule;
    console.log(`${isRight ? 'seen' : 'NOT SEEN'}: ${one.rule}, seed ${seed}, ${seconds} s (${one.what})`);
    for (const sentence of found.slice(0, 5)) console.log(`    ${sentence}`);
    if (isRight) return true;
  }
  return false;
}

/** The text must be there once: otherwise the product changed, and the break with it. */
function apply({ file, find, put }: Break['edits'][number]): void {
  const at = path.join(copy, 'packages/copse/src', file);
  const parts = readFileSync(at, 'utf8').split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`);
  writeFileSync(at, parts.join(put));
}

function sentences(output: string): readonly string[] {
  const [, found = ''] = /The checker found:\n((?:\+ [a-z-]+: .*\n)+)/.exec(output) ?? [];
  return found
    .split('\n')
    .filter(Boolean)
    .map((line) => line.slice(2));
}

function git(...argv: readonly string[]): void {
  const { status, stderr } = spawnSync('git', argv, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${argv.join(' ')}: ${stderr}`);
}
