/**
 * Removes one check of the server after the other, and sees exactly its attacks succeed: `npm run test:attacks`, or with parts
 * of names only some checks. Each takes some seconds.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { removedChecks } from './checks.ts';
import type { RemovedCheck } from './removed-check.ts';

interface Report {
  readonly testResults: readonly { readonly message: string; readonly assertionResults: readonly Result[] }[];
}

interface Result {
  readonly fullName: string;
  readonly ancestorTitles: readonly string[];
  readonly title: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'copse-attacks-'));
const file = path.join(folder, 'report.json');
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const chosen = removedChecks.filter(
  ({ check }) => wanted.length === 0 || wanted.some((word) => check.includes(word)),
);
if (chosen.length === 0)
  throw new Error(`The checks are:\n${removedChecks.map(({ check }) => check).join('\n')}`);
try {
  if (chosen.filter((one) => !isSeen(one)).length > 0) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function isSeen(one: RemovedCheck): boolean {
  const began = performance.now();
  const { failed, passed, output } = attack(one.check);
  const names = failed.map(nameOf);
  const isExpected = (name: string) => one.attacks.some((start) => name.startsWith(start));
  const isRight =
    passed > 0 &&
    failed.length > 0 &&
    names.every(isExpected) &&
    one.attacks.every((start) => names.some((name) => name.startsWith(start)));
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.log(
    `${isRight ? 'seen' : 'NOT SEEN'}: without "${one.check}", ${failed.length} succeed, ${seconds} s`,
  );
  for (const result of failed) console.log(`    ${nameOf(result)}: ${wordsOf(result)}`);
  if (failed.length === 0) console.log(output.slice(-2_000));
  return isRight;
}

function attack(check: string) {
  const { stdout, stderr } = spawnSync(
    path.join(root, 'node_modules/.bin/vitest'),
    ['run', '--config', 'test/server/attacks/vitest.config.ts', '--reporter=json', `--outputFile=${file}`],
    {
      cwd: root,
      env: { ...process.env, COPSE_WITHOUT: check, NO_COLOR: '1' },
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      timeout: 300_000,
    },
  );
  const output = `${stdout}${stderr}`;
  const report = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Report) : undefined;
  rmSync(file, { force: true });
  const results = report?.testResults.flatMap(({ assertionResults }) => assertionResults) ?? [];
  return {
    output,
    failed: results.filter(({ status }) => status === 'failed'),
    passed: results.filter(({ status }) => status === 'passed').length,
  };
}

function nameOf({ ancestorTitles, title }: Result): string {
  return [...ancestorTitles, title].filter(Boolean).join(' > ');
}

function wordsOf(result: Result): string {
  return result.failureMessages[0]?.split('\n', 1)[0]?.slice(0, 160) ?? '';
}
