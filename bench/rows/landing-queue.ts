/**
 * Landing through the queue, without checks: journal, board and all. The peer lands the same branches with `git rebase` and a
 * fast-forward in a worktree, as a person or a simple tool would.
 */

import { execFileSync, spawn } from 'node:child_process';
import path from 'node:path';

import { lead } from '../../packages/copse/src/app/lead.ts';
import { leadQueue, newQueueMemory } from '../../packages/copse/src/app/queue.ts';
import { openRun } from '../../packages/copse/src/compose/run.ts';
import { type BranchName, brand } from '../../packages/copse/src/domain/ids.ts';
import { queueCommit } from '../../test/support/queued.ts';
import { type Size, nameOf, newSizedRepository } from '../repositories.ts';
import { type Bench, type Result, type Row, inMs, median } from '../row.ts';

const BRANCHES = 200;
const COMMITS_PER_BRANCH = 3;
const ROUNDS = 4;
/** Of the peer, which is slow. */
const PEERS_PER_ROUND = 3;

export const landingQueue: Row = {
  name: 'landing through the queue',
  timeoutMs: 600_000,
  async measure(bench) {
    const results = await measureSize(bench, 'M', 25);
    return bench.isQuick ? results : [...results, ...(await measureSize(bench, 'L', 80))];
  },
};

async function measureSize(bench: Bench, size: Size, goal: number): Promise<readonly Result[]> {
  const folder = await newSizedRepository(bench, size);
  const git = (...argv: readonly string[]) =>
    execFileSync('git', argv, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const peers = ROUNDS * PEERS_PER_ROUND;
  await makeBranches(folder, BRANCHES + peers);
  const opened = await openRun({ cwd: folder, env: process.env }, { asNode: true });
  const { context } = opened;
  const worktree = path.join(await bench.newFolder(), 'peer');
  git('worktree', 'add', '--quiet', '--detach', worktree, 'main');
  git('switch', '--quiet', '--detach');
  const inPeer = (...argv: readonly string[]) =>
    execFileSync('git', argv, { cwd: worktree, stdio: 'ignore' });
  const target = brand<BranchName>('main');
  const memory = newQueueMemory(context);
  const [queueMs, peerMs]: [number[], number[]] = [[], []];
  let landed = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const share = BRANCHES / ROUNDS;
    for (let at = round * share; at < (round + 1) * share; at += 1)
      await queueCommit(context, { title: `Branch ${at}`, head: git('rev-parse', `refs/heads/b${at}`) });
    const beganMs = performance.now();
    await lead(context, target, (lead) =>
      leadQueue(context, lead, {
        memory,
        signal: new AbortController().signal,
        onLanded: () => {
          landed += 1;
        },
        onBlame: async () => {},
        onNote: () => {},
      }),
    );
    queueMs.push((performance.now() - beganMs) / share);
    for (let at = 0; at < PEERS_PER_ROUND; at += 1) {
      const name = `b${BRANCHES + round * PEERS_PER_ROUND + at}`;
      const peerBeganMs = performance.now();
      inPeer('checkout', '--quiet', name);
      inPeer('rebase', '--quiet', 'main');
      git('fetch', '--quiet', '.', `${name}:main`);
      peerMs.push(performance.now() - peerBeganMs);
    }
  }
  await opened.close();
  const [ours, theirs] = [median(queueMs), median(peerMs)];
  const expected = BRANCHES + peers;
  const commits = Number(git('rev-list', '--count', '--no-merges', 'behind..main')) - 10;
  const broken =
    landed !== BRANCHES || commits !== expected * COMMITS_PER_BRANCH
      ? `${landed} of ${BRANCHES} landed, main has ${commits} commits of ${expected * COMMITS_PER_BRANCH}`
      : undefined;
  return [
    {
      what: `${size}: a landing of 3 commits, rebased, with journal and board`,
      measured: `${inMs(ours)}, ${Math.round(1_000 / ours)} a second`,
      against: `git rebase and fast-forward in a worktree: ${inMs(theirs)}`,
      figure: theirs / ours,
      goal: { atLeast: goal, unit: '×' },
      limit: size === 'M' ? 45 : 169,
      broken,
    },
  ];
}

/** Each changes three files of its own, in three commits, from the first commit of the repository. */
async function makeBranches(folder: string, count: number): Promise<void> {
  const git = spawn('git', ['fast-import', '--quiet'], {
    cwd: folder,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => git.once('close', resolve));
  for (let branch = 0; branch < count; branch += 1) {
    for (let commit = 0; commit < COMMITS_PER_BRANCH; commit += 1) {
      const message = `feat: change ${commit} of branch ${branch}`;
      const content = `// ${branch} ${commit}\n`;
      const from = commit === 0 ? 'from refs/heads/behind\n' : '';
      const file = nameOf(branch * COMMITS_PER_BRANCH + commit);
      git.stdin.write(
        `commit refs/heads/b${branch}\ncommitter Bench <bench@example.invalid> ${1_700_001_000 + commit} +0000\n` +
          `data ${message.length}\n${message}\n${from}M 100644 inline ${file}.new\ndata ${content.length}\n${content}\n`,
      );
    }
  }
  git.stdin.end();
  if ((await ended) !== 0) throw new Error('git fast-import failed');
}
