/**
 * Snapshots that travel, against what git itself has for that: `git stash create` and a push, in the same worktree. And what
 * a runner costs whose worktree does not change.
 */

import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { openWorkspaceContext } from '../../packages/copse/src/compose/open.ts';
import {
  type BranchName,
  type FencingToken,
  type TaskId,
  brand,
  timestamp,
} from '../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import { run } from '../commands.ts';
import { nameOf, newSizedRepository } from '../repositories.ts';
import { type Bench, type Result, type Row, inMs, interleave } from '../row.ts';

const CHANGED = 5;
const LOOKS = 20;
const task = brand<TaskId>('cp-b3nc');
const token = 1 as FencingToken;
const branch = brand<BranchName>('work');

export const travel: Row = {
  name: 'travel',
  timeoutMs: 300_000,
  async measure(bench) {
    const repository = await newRepository(bench);
    const worktree = path.join(repository, '..', 'worktree');
    run(['git', 'worktree', 'add', '--quiet', '-b', branch, worktree, 'main'], repository);
    const context = await openWorkspaceContext({ cwd: repository, env: { USER: 'bench' } });
    const { rescues, git, board } = context;
    const look = (known: string | null) =>
      rescues.travelling({ task, worktree, branch, at: timestamp(Date.now()), known, previous: null });
    let round = 0;
    const change = () => {
      round += 1;
      for (let file = 0; file < CHANGED; file += 1)
        appendFileSync(path.join(worktree, nameOf(file * 700)), `round ${round}\n`);
    };
    const timesMs = await interleave(
      {
        plain: () => {
          change();
          const stash = run(['git', 'stash', 'create'], worktree).trim();
          run(['git', 'push', '--quiet', 'origin', `+${stash}:refs/bench/plain`], worktree);
        },
        copse: async () => {
          change();
          const taken = await look(null);
          if (taken.kind !== 'captured') throw new Error(`The snapshot is ${taken.kind}`);
          const pushed = await git.work.push({ task, token }, taken.commit);
          if (pushed.kind === 'failed') throw new Error(pushed.reason);
        },
      },
      { repetitions: bench.isQuick ? 3 : 9, warmUps: 1 },
    );
    const idle = await measureIdle(look);
    await board.close();
    return [
      {
        what: `M: a snapshot of ${CHANGED} changed files on the remote`,
        measured: inMs(timesMs.copse),
        against: `${inMs(timesMs.plain)} git stash create, git push`,
        figure: timesMs.copse / timesMs.plain,
        goal: { atMost: 2, unit: '×' },
        limit: null,
      },
      idle,
    ];
  },
};

async function newRepository(bench: Bench): Promise<string> {
  const repository = await newSizedRepository(bench, 'M');
  const origin = path.join(repository, '..', 'origin.git');
  run(['git', 'clone', '--quiet', '--bare', repository, origin], '.');
  run(['git', 'remote', 'add', 'origin', origin], repository);
  run(['git', 'fetch', '--quiet', 'origin'], repository);
  return repository;
}

/** A runner takes a whole look twice in `everyMs`. */
async function measureIdle(
  look: (known: string | null) => Promise<{ readonly kind: string }>,
): Promise<Result> {
  const first = await look(null);
  const mark = 'mark' in first && typeof first.mark === 'string' ? first.mark : null;
  const beganMs = cpuMs();
  for (let number = 0; number < LOOKS; number += 1) {
    const { kind } = await look(mark);
    if (kind !== 'unchanged') throw new Error(`The worktree is ${kind}`);
  }
  const eachMs = (cpuMs() - beganMs) / LOOKS;
  const everyMs = defaultPolicy.travel.everyMs / 2;
  return {
    what: 'M: a core for a worktree that does not change',
    measured: `${inMs(eachMs)} of CPU every ${everyMs / 1_000} s`,
    against: 'one core',
    figure: (100 * eachMs) / everyMs,
    goal: { atMost: 1, unit: '%' },
    limit: null,
  };
}

/** Of this process and of the gits that it waited for: user and system time, in ticks of 10 ms. */
function cpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}
