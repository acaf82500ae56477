/** Whether work is shared with other machines, and how often, as copse.yml says. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { openTravel } from '../../../packages/copse/src/agents/run/share/travel.ts';
import { openWorkspaces } from '../../../packages/copse/src/compose/open.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { effectiveAgent } from '../../../packages/copse/src/config/effective.ts';
import { configFrom } from '../../../packages/copse/src/config/load.ts';
import { decided } from '../../../packages/copse/src/kernel/decision.ts';
import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import { sharesWork } from '../../../packages/copse/src/workspaces/act/shared/share-work.ts';
import { git, newArea, plainEnv } from '../../support/cli.ts';
import { claimant, must, newTask } from '../../support/records/tasks.ts';
import { Clones } from '../support/clones.ts';

const area = newArea();
const cloned = (name: string, config: object) =>
  new Clones(area, name, { count: 1, files: { 'copse.yml': JSON.stringify(config) } });

// setting: workspace.share_work, agents.<name>.workspace.share_work
it('work is shared as share_work says, and as that of its agent says before', async () => {
  const config = {
    workspace: { share_work: false },
    agents: { usual: { command: 'x' }, own: { command: 'x', workspace: { share_work: true } } },
  };
  await using clones = cloned('who shares', config);
  const [{ folder: cwd } = { folder: '' }] = clones.machines;
  const surroundings = { cwd, env: { ...plainEnv, COPSE_BOARD: clones.board } };
  const shares = async (name: string) => {
    const agent = effectiveAgent(await configFrom(config), name);
    const { context } = await openWorkspaces(surroundings, { ...(agent && { agent }) });
    const answer = await sharesWork(context);
    await context.board.close();
    return answer;
  };
  expect([await shares('usual'), await shares('own')]).toEqual([false, true]);
});

// setting: policy.snapshot_every
it('an uncommitted change is on the remote before snapshot_every is over', async () => {
  await using clones = cloned('how often', { policy: { snapshot_every: '8s' } });
  const context = (await clones.machines[0]?.open()) ?? expect.fail();
  const { task, token, attempt, session, worktree, known } = await begun(context, clones);
  const seen: (readonly [elapsedMs: number, refs: number])[] = [];
  let elapsedMs = 0;
  const over = Promise.withResolvers<void>();
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    const refs = git(clones.bare, 'for-each-ref', 'refs/copse/work').split('\n').filter(Boolean);
    seen.push([elapsedMs, refs.length]);
    if (elapsedMs === 0) writeFileSync(path.join(worktree, 'new.txt'), 'new\n');
    elapsedMs += ms;
    if (elapsedMs <= 4_000 || signal === undefined) return;
    over.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  };
  const clock = { ...context.clock, elapsedMs: () => elapsedMs, sleep };
  const travel = await openTravel({
    context: { ...context, clock, agent: { sandbox: 'none' }, log: () => {} },
    orders: { task, token, attempt, session },
    prepared: { workspace: { worktree: known } },
    worktree,
    lost: new AbortController().signal,
  } as unknown as Parameters<typeof openTravel>[0]);
  travel?.start();
  await over.promise;
  await travel?.stop();
  expect(seen).toEqual([
    [0, 0],
    [1_000, 0],
    [2_000, 0],
    [3_000, 0],
    [4_000, 1],
  ]);
});

/** A task with a worktree at work, and nothing in it yet. */
async function begun(context: RunContext, clones: Clones) {
  const { id: task } = await newTask(context.board, { title: 'Shared' });
  const by = { ...claimant('se-1'), node: context.node };
  const { token } = must(await claimTask(context, task, by));
  const { attempt, session, node } = by;
  await change(context, (change) =>
    change.apply(
      decided({ type: 'attempt.started', id: attempt, at: change.at, task, session, node, token }),
    ),
  );
  const branch = `${task}/shared`;
  const worktree = path.join(clones.machines[0]?.folder ?? '', '.worktrees', task);
  git(clones.machines[0]?.folder ?? '', 'worktree', 'add', '--quiet', '-b', branch, worktree);
  const known = { branch, baseCommit: git(worktree, 'rev-parse', 'HEAD') };
  return { task, token, attempt, session, worktree, known };
}
