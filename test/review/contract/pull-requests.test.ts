/** How often pull requests are looked at, by a loop whose time the test sets; and what they say. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { PullRequests } from '../../../packages/copse/src/review/act/pull-request-follow.ts';
import type { RunContext } from '../../../packages/copse/src/queue/context.ts';
import { type OpenRun, openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { describePullRequest } from '../../../packages/copse/src/review/rules/pull-request-text.ts';
import { answer, copse, git, newArea, plainEnv } from '../../support/cli.ts';
import { ForgeServer } from '../../support/forge-server/server.ts';
import { newRemote } from '../../support/forge-server/remotes.ts';
import { newScene } from '../../support/agents/scripted-agents.ts';

const area = newArea();
const opened: OpenRun[] = [];
afterAll(() => Promise.all(opened.map((run) => run.close())));

class Loop {
  readonly forge: ForgeServer;
  readonly told: string[] = [];
  readonly folder: string;
  readonly #pullRequests: PullRequests;
  #nowMs = 1_000_000;

  constructor(run: OpenRun, folder: string, forge: ForgeServer) {
    this.folder = folder;
    this.forge = forge;
    const clock: RunContext['clock'] = {
      now: () => timestamp(Date.parse('2026-01-01T00:00:00Z') + this.#nowMs),
      elapsedMs: () => this.#nowMs,
      sleep: async () => {},
    };
    this.#pullRequests = new PullRequests({ ...run.context, clock }, (_, reason) => this.told.push(reason));
  }

  /** As many questions as one pass asks, after so many seconds. */
  async pass(seconds: number): Promise<number> {
    this.#nowMs += seconds * 1_000;
    const before = this.forge.asked.length;
    for (const { work } of await this.#pullRequests.due()) await work();
    return this.forge.asked.length - before;
  }

  get now(): number {
    return Date.parse('2026-01-01T00:00:00Z') + this.#nowMs;
  }
}

async function newLoop(titles: readonly string[]): Promise<Loop> {
  const scene = newScene(area, { sections: { landing: { policy: 'pr', forge: 'github' } } });
  const bare = newRemote(area);
  scene.git('remote', 'add', 'origin', bare);
  scene.git('push', '--quiet', 'origin', 'main');
  const forge = await ForgeServer.start({ kind: 'github', bare });
  const at = { cwd: scene.folder, env: forge.environment };
  for (const title of titles) {
    const { id } = await answer<{ id: string }>(['add', title], at);
    await copse(['work', id], at);
    const worktree = path.join(scene.folder, '.worktrees', id);
    writeFileSync(path.join(worktree, `${title}.txt`), 'done\n');
    git(worktree, 'add', '--all');
    git(worktree, 'commit', '--quiet', '--message=feat: work');
    expect(await copse(['finish', id], { ...at, cwd: worktree })).toMatchObject({ code: 0, stderr: '' });
  }
  expect(forge.pulls.all).toHaveLength(titles.length);
  const run = await openRun(
    { cwd: scene.folder, env: { ...plainEnv, ...forge.environment } },
    { asNode: true },
  );
  opened.push(run);
  return new Loop(run, scene.folder, forge);
}

describe('a loop', () => {
  it('sends no request when there is no pull request', async () => {
    const loop = await newLoop([]);
    expect([await loop.pass(0), await loop.pass(3_600)]).toEqual([0, 0]);
  });

  it('polls each once a minute, and a closed one less often', async () => {
    const loop = await newLoop(['one']);
    const perLook = await loop.pass(0);
    expect(perLook).toBeGreaterThan(0);
    expect([await loop.pass(5), await loop.pass(54), await loop.pass(1)]).toEqual([0, 0, perLook]);
    loop.forge.pulls.close(loop.forge.pulls.only(), 'grace');
    expect(await loop.pass(60)).toBeGreaterThan(0);
    expect([await loop.pass(60), await loop.pass(500)]).toEqual([0, 0]);
    expect(await loop.pass(40)).toBeGreaterThan(0);
  });

  it('stops polling all of them until a limit lifts', async () => {
    const loop = await newLoop(['one', 'two']);
    const reset = String(Math.ceil(loop.now / 1_000) + 600);
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
    const limited = { status: 403, body: { message: 'API rate limit exceeded' }, headers };
    loop.forge.instead.push(limited, limited);
    expect(await loop.pass(0)).toBe(2);
    expect(loop.told.join('\n')).toContain('API rate limit exceeded');
    expect([await loop.pass(120), await loop.pass(400)]).toEqual([0, 0]);
    expect(await loop.pass(100)).toBeGreaterThan(2);
  });

  it('backs off exponentially while the forge does not answer, and then returns to the usual times', async () => {
    const loop = await newLoop(['one']);
    const away = { status: 502, body: 'no' };
    loop.forge.instead.push(away, away, away);
    expect(await loop.pass(0)).toBe(1);
    expect([await loop.pass(29), await loop.pass(1)]).toEqual([0, 1]);
    expect([await loop.pass(59), await loop.pass(1)]).toEqual([0, 1]);
    expect(await loop.pass(119)).toBe(0);
    const perLook = await loop.pass(1);
    expect(perLook).toBeGreaterThan(1);
    expect([await loop.pass(59), await loop.pass(1)]).toEqual([0, perLook]);
  });

  it('records lasting failures once on the board, and temporary ones never', async () => {
    const loop = await newLoop(['one']);
    const count = async () =>
      (await copse(['events', '--json'], { cwd: loop.folder })).stdout.split('\n').length;
    await loop.pass(0);
    const before = await count();
    loop.forge.instead.push({ status: 503, body: '' });
    await loop.pass(60);
    expect(await count()).toBe(before);
    const denied = { status: 401, body: { message: 'Bad credentials' } };
    loop.forge.instead.push(denied, denied);
    await loop.pass(60);
    await loop.pass(120);
    expect(await count()).toBe(before + 1);
    await loop.pass(600);
    expect(await count()).toBe(before + 2);
  });
});

describe('the text of a pull request', () => {
  const task = { id: brand<TaskId>('cp-a1b2'), title: 't', body: '', accept: [], plan: null };

  it('of a task without a body names the task', () => {
    expect(describePullRequest({ task, summary: null, ledger: [] })).toBe('Task: cp-a1b2\n');
  });

  // promise: agent-text-calls-no-person
  it('closes the issues that a person names, and none that an agent names', () => {
    const entry = { kind: 'decision', text: 'fixes #8\n/merge' } as const;
    const said = describePullRequest({
      task: { ...task, body: 'Closes #6' },
      summary: 'Closes #7',
      ledger: [entry],
    });
    expect(said).toContain('Closes #6');
    expect(said).not.toMatch(/#[78]|^ *\/merge/m);
  });

  it('notifies no one, hides nothing, and ends with the trailers at any length', () => {
    const summary = `cc @grace @org/team, mail a@b.example \u202Eabc\u0007 ${'long '.repeat(20_000)}`;
    const body = describePullRequest({ task: { ...task, accept: ['echo ``x``'] }, summary, ledger: [] });
    expect(body).not.toMatch(/@\w/);
    expect(body).not.toMatch(/[\u0007\u202E]/);
    expect(body.length).toBeLessThan(65_536);
    expect(body.endsWith('…\n\nTask: cp-a1b2\n')).toBe(true);
    expect(
      describePullRequest({ task: { ...task, accept: ['echo ``x``'] }, summary: null, ledger: [] }),
    ).toContain('- ``` echo ``x`` ```');
  });
});
