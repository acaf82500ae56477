/**
 * Makes the real merges of a repository again and says whether the queue's engine makes of them what git does.
 *
 *   npm run replay -- <path>                 its newest 1,000 merges of two parents
 *   npm run replay -- <path> --max 50        fewer, or more
 *   npm run replay -- <path> --from <ref>    those that this one contains, instead of HEAD
 *   npm run replay -- <path> --first-parent  only what was merged into it directly
 *
 * It works in a clone that borrows the objects, and writes nothing into the repository; only the dates of objects there may
 * be renewed, by git. Exit code 1 if a merge differs.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { judgements as kinds } from './replay/judge.ts';
import { type Replay, replay } from './replay/replay.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    max: { type: 'string', default: '1000' },
    from: { type: 'string', default: 'HEAD' },
    'first-parent': { type: 'boolean', default: false },
  },
});
const [repository] = positionals;
const max = Number(options.max);
if (repository === undefined || positionals.length > 1 || !Number.isInteger(max) || max < 1) {
  console.error('Usage: npm run replay -- <path of a repository> [--max N] [--from REF] [--first-parent]');
  process.exit(2);
}

const area = await mkdtemp(path.join(tmpdir(), 'copse replay '));
try {
  const replayed = await replay(repository, {
    area,
    max,
    from: options.from,
    isFirstParent: options['first-parent'],
    onMerge: (done, of) => {
      if (process.stderr.isTTY) process.stderr.write(`\r${done} of ${of}`);
    },
  });
  if (process.stderr.isTTY) process.stderr.write('\r\u001B[K');
  print(replayed);
  process.exitCode = replayed.failures.length === 0 ? 0 : 1;
} finally {
  await rm(area, { recursive: true, force: true });
}

function print({ merges, judgements, rebasedAlone, failures, notCompared, engineMs }: Replay): void {
  const made = [...judgements.values()];
  const lines: (readonly [string, number])[] = [
    ['merges of two parents', merges],
    ...kinds
      .map((kind) => [kind, made.filter((one) => one === kind).length] as const)
      .filter(([, count]) => count > 0),
    ['not compared, for git could not', notCompared.length],
    ['rebased where a merge conflicts, as git does', rebasedAlone],
  ];
  for (const [what, count] of lines) console.log(`${what.padEnd(46)}${String(count).padStart(7)}`);
  console.log(
    `${(engineMs / Math.max(1, merges - notCompared.length)).toFixed(1)} ms for each by the engine`,
  );
  for (const line of [...failures, ...notCompared]) console.log(line);
}
