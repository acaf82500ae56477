/** Finished commits that the leader lacks: slow to fetch, under another token, or lost with their machine. */

import path from 'node:path';

import { expect, it } from 'vitest';

import { change } from '../../../packages/copse/src/board/context.ts';
import { decided } from '../../../packages/copse/src/kernel/decision.ts';
import {
  type AgentName,
  type AttemptId,
  type CommitId,
  type LandingId,
  type SessionId,
  type TaskId,
  brand,
  drawId,
} from '../../../packages/copse/src/kernel/ids.ts';
import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { newQueueMemory } from '../../../packages/copse/src/queue/lead/memory.ts';
import { claimTask } from '../../../packages/copse/src/tasks/act/claims.ts';
import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { raisedTask } from '../../../packages/copse/src/tasks/rules/events.ts';
import { decideFinish } from '../../../packages/copse/src/tasks/rules/outcomes.ts';
import { shareHead } from '../../../packages/copse/src/workspaces/act/shared/share-work.ts';
import { removeLanded } from '../../../packages/copse/src/workspaces/discard/remove-landed.ts';
import { answer, copse, git, newArea } from '../../support/cli.ts';
import { commitOn } from '../../support/git/plain-commits.ts';
import { queueCommit } from '../../support/queue/queued.ts';
import { must } from '../../support/records/tasks.ts';
import { type Clone, Clones, MAIN } from '../support/clones.ts';

const area = newArea();

function pair(name: string): readonly [Clones, Clone, Clone] {
  const clones = new Clones(area, name);
  const [leader, other] = clones.machines;
  if (leader === undefined || other === undefined) throw new Error('There are not two clones');
  return [clones, leader, other];
}

function commitIn(machine: Clone, name: string): CommitId {
  return brand<CommitId>(
    commitOn(machine.folder, name, { message: name, files: { [`${name}.txt`]: `${name}\n` } }),
  );
}

/** In the queue, with its commit on this machine and on the remote. */
async function queueOn(machine: Clone, name: string): Promise<TaskId> {
  const context = await machine.open();
  const head = commitIn(machine, name);
  const id = await queueCommit(context, { title: name, head });
  const token = (await context.board.get('task', id))!.token;
  await shareHead(context, { task: id, token }, head);
  return id;
}

async function waitOf({ board }: RunContext, task: TaskId) {
  return (await board.openLandings()).find((one) => one.task === task)?.waiting;
}

// promise: heads-beside
it('a head that takes long to fetch holds up no other, and lands when it is here', async () => {
  const [clones, leader, other] = pair('slow head');
  await using _ = clones;
  const [slow, quick] = [await queueOn(other, 'slow'), await queueOn(other, 'quick')];
  const line = Promise.withResolvers<void>();
  const changed = (context: RunContext): RunContext => {
    const { work } = context.git;
    const fetch: typeof work.fetch = async (refs, options) => {
      if (refs.some(({ task }) => task === slow)) await line.promise;
      return work.fetch(refs, options);
    };
    const travel = { ...context.policy.travel, fetchFirstMs: 20 };
    return {
      ...context,
      git: { ...context.git, work: { ...work, fetch } },
      policy: { ...context.policy, travel },
    };
  };
  const context = changed(await leader.open());
  const memory = newQueueMemory(context);
  const landed: TaskId[] = [];
  while (landed.length === 0)
    landed.push(...((await leader.lead({ memory, changed })) ?? { landed: [] }).landed);
  expect(landed).toEqual([quick]);
  expect(await waitOf(context, slow)).toMatchObject({ kind: 'head_missing', detail: 'it is being fetched.' });
  line.resolve();
  while (landed.length === 1)
    landed.push(...((await leader.lead({ memory, changed })) ?? { landed: [] }).landed);
  expect(landed).toEqual([quick, slow]);
});

it('a head is found under the token that its landing names, also when a new term raised that of its task', async () => {
  const [clones, leader, other] = pair('raised token');
  await using _ = clones;
  const task = await queueOn(other, 'first');
  must(
    await change(await other.open(), async (change) =>
      change.apply(decided(raisedTask(await change.require('task', task), change.at))),
    ),
  );
  expect(await leader.lead()).toMatchObject({ landed: [task] });
});

// promise: lost-head-again
it('a finished commit that is only on a machine that is gone is made again; until then its landing waits', async () => {
  const [clones, leader, other] = pair('lost head');
  await using _ = clones;
  const there = await other.open();
  const { node, board } = there;
  const [session, attempt] = [brand<SessionId>('se-1'), brand<AttemptId>('at-1')];
  const { id } = must(await addTask(there, { title: 'refused by the remote' }));
  must(await claimTask(there, id, { session, attempt, node, agent: brand<AgentName>('scripted') }));
  const head = commitIn(other, 'refused');
  must(
    await change(there, async (change) => {
      const { token } = await change.require('task', id);
      await change.apply(decided({ type: 'node.joined', id: node, at: change.at, name: 'build-2' }));
      const of = { id: attempt, at: change.at, session, task: id, node, token };
      await change.apply(decided({ type: 'attempt.started', ...of }));
      const landing = brand<LandingId>(drawId('la-', there.random));
      const finish = { kind: 'landing', landing, target: MAIN, attempt, token, head } as const;
      await change.apply(decideFinish(await change.require('task', id), token, finish, change.at));
    }),
  );
  await board.seeNode(node);
  expect(await leader.lead()).toMatchObject({ landed: [] });
  expect(await waitOf(there, id)).toMatchObject({ kind: 'head_missing', node });
  must(
    await change(there, (change) => change.apply(decided({ type: 'node.left', id: node, at: change.at }))),
  );
  expect(await leader.lead()).toMatchObject({ landed: [] });
  expect((await board.get('task', id))?.state).toMatchObject({
    status: 'ready',
    delay: { because: 'head_lost' },
  });
  expect(await board.openLandings()).toEqual([]);
  const [entry] = await board.list('ledger', { task: id });
  expect(entry?.text).toContain(`Its finished commit ${head.slice(0, 10)} never reached the remote`);
});

it('a machine that has the landed commit, but no branch with it, removes the worktree all the same', async () => {
  const [clones, leader, other] = pair('left worktree');
  await using _ = clones;
  const at = { cwd: other.folder, env: { COPSE_BOARD: clones.board } };
  const { id } = await answer<{ id: TaskId }>(['add', 'by hand'], at);
  expect(await copse(['work', id], at)).toMatchObject({ code: 0 });
  const worktree = path.join(other.folder, '.worktrees', id);
  commitOn(worktree, git(worktree, 'branch', '--show-current'), {
    message: 'feat: text',
    files: { 'a.txt': 'a\n' },
  });
  git(worktree, 'reset', '--quiet', '--hard');
  // Others push first, so that it lands as another commit.
  const before = commitOn(leader.folder, 'before', { message: 'before', files: { 'b.txt': 'b\n' } });
  git(leader.folder, 'push', '--quiet', 'origin', `${before}:refs/heads/main`);
  expect(await copse(['finish', id], at)).toMatchObject({ code: 0 });
  expect(await leader.lead()).toMatchObject({ landed: [id] });
  // As a leader has it that was lost after its push: the objects, and no ref.
  git(other.folder, 'fetch', '--quiet', '--no-write-fetch-head', clones.bare, 'main');
  expect(await removeLanded(await other.open(), id)).toMatchObject({
    kind: 'removed',
    becameOfBranch: 'deleted',
  });
});
