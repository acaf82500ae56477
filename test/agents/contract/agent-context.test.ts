/** What an agent is told about a real repository with a real board. */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { furnishingGit } from '../../../packages/copse/src/workspaces/files/furnish-git.ts';
import { openMerging } from '../../../packages/copse/src/queue/merge/open.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { openContextFiles } from '../../../packages/copse/src/agents/files/context-files.ts';
import {
  type BriefingContext,
  loadBriefing,
  writeContext,
} from '../../../packages/copse/src/agents/run/briefing/agent-context.ts';
import { change } from '../../../packages/copse/src/board/context.ts';
import { addLedgerEntry } from '../../../packages/copse/src/tasks/act/ledger.ts';
import { addPlan } from '../../../packages/copse/src/tasks/act/plans.ts';
import { rescueFirst } from '../../../packages/copse/src/workspaces/discard/rescue-first.ts';
import { addTask } from '../../../packages/copse/src/tasks/act/tasks.ts';
import { type AgentName, type TaskId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { decidePromote } from '../../../packages/copse/src/tasks/rules/decisions.ts';
import { decideCrash, decideFinish } from '../../../packages/copse/src/tasks/rules/outcomes.ts';
import type { Begin } from '../../../packages/copse/src/agents/ports/runners.ts';
import { openRadar } from '../../../packages/copse/src/compose/run/radar.ts';
import { git, newArea } from '../../support/cli.ts';
import { startSession } from '../../support/records/sessions.ts';
import { must } from '../../support/records/tasks.ts';
import { type Project, newProject, openForTest } from '../../support/workspaces/workspaces.ts';

const area = newArea();
const agent = brand<AgentName>('coder');
let projects = 0;

async function openNew(): Promise<{ readonly project: Project; readonly context: BriefingContext }> {
  projects += 1;
  const project = await openForTest(newProject(path.join(area, `a "project" ${projects}`)));
  const { folder, context } = project;
  const dir = openTrustedDir({ commonDir: path.join(folder, '.git'), home: folder });
  const merging = openMerging(dir);
  onTestFinished(() => merging.close());
  const contextFiles = openContextFiles({
    git: furnishingGit(dir),
    gitDirOf: (worktree) => context.git.gitDirOf(worktree),
    home: folder,
  });
  const radar = openRadar({ home: folder, commonDir: path.join(folder, '.git') }, dir);
  return { project, context: { ...context, merging, contextFiles, radar } };
}

async function begin({ project, context }: Awaited<ReturnType<typeof openNew>>, task: TaskId, why: Begin) {
  const { session, attempt, token } = await startSession(project, task);
  const prepared = await project.prepare(task);
  const orders = { task, session, attempt, token, agent, conversation: null, begin: why };
  const briefing = await loadBriefing(context, orders, prepared);
  const written = await writeContext(context, briefing, prepared.path);
  const read = (name: string) => readFileSync(path.join(prepared.path, name), 'utf8');
  return { briefing, written, read, worktree: prepared.path, orders, prepared };
}

test('the context of a first attempt has the assignment, and that of a second the outcome of the first', async () => {
  const opened = await openNew();
  const { project, context } = opened;
  const plan = must(await addPlan(context, { title: 'Tea', body: 'Because of thirst' }));
  const kettle = must(await addTask(context, { title: 'Buy a kettle', plan: plan.id }));
  const input = {
    title: 'Boil water',
    body: 'Hot.',
    plan: plan.id,
    areas: ['src/**'],
    accept: ['test -e cup'],
  };
  const { id } = must(await addTask(context, input));
  const near = must(await addTask(context, { title: 'Near', areas: ['src/water.ts'] }));
  const far = must(await addTask(context, { title: 'Far', areas: ['docs/'] }));
  for (const other of [far, near]) await startSession(project, other.id);

  const first = await begin(opened, id, { why: 'claimed' });
  expect(first.briefing).toMatchObject({
    task: { id, title: 'Boil water', body: { text: 'Hot.', omitted: 0 }, accept: ['test -e cup'] },
    plan: { id: plan.id, tasks: { listed: [{ id: kettle.id }, { id }], omitted: 0 } },
    nearby: {
      listed: [
        { id: near.id, meets: ['src/**', 'src/water.ts'] },
        { id: far.id, meets: null },
      ],
    },
    git: {
      branch: `${id}/boil-water`,
      base: { branch: 'main' },
      commits: { listed: [] },
      changed: { listed: [] },
    },
    crashes: { count: 0, limit: 3 },
    environment: { COPSE_TASK_ID: id, COPSE_WORKTREE_PATH: first.worktree, COPSE_REPO_ROOT: project.folder },
  });
  expect(first.read('AGENT_CONTEXT.md')).toContain('```text\nBoil water\n```');
  expect(first.read('.copse/session-prompt.md')).toBe(first.written.prompt);
  expect(first.written.promptFile).toBe(path.join(first.worktree, '.copse/session-prompt.md'));
  expect(first.written.systemPrompt).toContain(`COPSE_ATTEMPT_ID=${first.orders.attempt}`);
  expect(JSON.parse(first.read('.copse/session-context.json'))).toMatchObject({ version: 1, task: { id } });
  expect(first.read('.copse/shared/AGENT_INSTRUCTIONS.md')).toContain('# How to work here');

  writeFileSync(path.join(first.worktree, 'cup'), 'half');
  git(first.worktree, 'add', '--all');
  git(first.worktree, 'commit', '--quiet', '--message=feat: a cup');
  writeFileSync(path.join(first.worktree, 'cup'), 'full');
  writeFileSync(path.join(first.worktree, 'new\nline "ü"'), '');
  const at = context.clock.now();
  await rescueFirst(context, { task: id, worktree: first.worktree, why: 'retry', at });
  must(await addLedgerEntry(context, id, { kind: 'crash', text: 'Out of water' }));
  must(
    await change(context, async (change) => {
      const noWait = { ...context.policy.retry, firstBackoffMs: 0 };
      const before = await change.require('task', id);
      await change.apply(decideCrash(before, before.token, 'gone', change.at, noWait));
    }),
  );

  const second = await begin(opened, id, { why: 'retried', crashes: 1 });
  expect(second.briefing).toMatchObject({
    crashes: { count: 1, limit: 3 },
    ledger: { listed: [{ kind: 'crash', text: { text: 'Out of water' } }], omitted: 0 },
    git: {
      commits: { listed: [{ subject: 'feat: a cup' }], omitted: 0 },
      changed: { listed: ['cup'], omitted: 0 },
      untracked: { listed: ['new\nline "ü"'], omitted: 0 },
      rescues: { listed: [{ changed: 2 }], omitted: 0 },
    },
  });
  const text = second.read('AGENT_CONTEXT.md');
  for (const expected of [
    'crashed once before',
    'feat: a cup',
    'new\\nline "ü"',
    'Out of water',
    'refs/copse/rescue/',
  ])
    expect(text).toContain(expected);
  expect(git(second.worktree, 'status', '--porcelain').split('\n')).toHaveLength(2);
});

test('the context has the ledger of dependencies, and drops the task’s own entries last', async () => {
  const opened = await openNew();
  const { context } = opened;
  const before = must(await addTask(context, { title: 'Before' }));
  const { id } = must(await addTask(context, { title: 'After', dependsOn: [before.id] }));
  for (const [task, kind, text] of [
    [id, 'learning', 'one'],
    [id, 'learning', 'two'],
    [before.id, 'handoff', 'three'],
    [before.id, 'handoff', 'four'],
  ] as const) {
    must(await addLedgerEntry(context, task, { kind, text }));
    // Two of the same millisecond have no order.
    await sleep(2);
  }
  const { token } = await startSession(opened.project, before.id);
  must(
    await change(context, async (change) => {
      const finish = { kind: 'done', how: 'as_it_is', commit: null } as const;
      await change.apply(decideFinish(await change.require('task', before.id), token, finish, change.at));
      await change.apply(decidePromote(await change.require('task', id), () => 'done', change.at));
    }),
  );
  const { orders, prepared } = await begin(opened, id, { why: 'claimed' });
  const briefing = { ...context.policy.briefing, ledgerEntries: 3 };
  const few = { ...context, policy: { ...context.policy, briefing } };
  const { ledger, dependencies } = await loadBriefing(few, orders, prepared);
  expect(dependencies).toEqual([{ id: before.id, title: 'Before', status: 'done' }]);
  expect(ledger.listed.map(({ text }) => text.text)).toEqual(['one', 'two', 'four']);
  expect(ledger.omitted).toBe(1);
});

test('a handback in the middle of an attempt is written into the files', async () => {
  const opened = await openNew();
  const { id } = must(await addTask(opened.context, { title: 'Half' }));
  const { briefing, worktree, read } = await begin(opened, id, { why: 'claimed' });
  const handback = { because: 'accept', reason: 'npm test ended with 1' } as const;
  const { prompt } = await writeContext(opened.context, { ...briefing, handback }, worktree);
  expect(prompt).toContain('handed back: an accept command fails');
  expect(read('.copse/session-prompt.md')).toBe(prompt);
  expect(read('AGENT_CONTEXT.md')).toContain('npm test ended with 1');
});

test('work without code has its files in Copse’s folder, and the checkout is unchanged', async () => {
  const opened = await openNew();
  const { project, context } = opened;
  const { id } = must(await addTask(context, { title: 'Think', kind: 'non-code' }));
  const { session, attempt, token } = await startSession(project, id);
  const prepared = await project.prepare(id);
  const orders = {
    task: id,
    session,
    attempt,
    token,
    agent,
    conversation: null,
    begin: { why: 'resumed', message: 'Go on' },
  } as const;
  const briefing = await loadBriefing(context, orders, prepared);
  expect(briefing.git).toBeNull();
  const { promptFile, prompt } = await writeContext(context, briefing, null);
  expect(promptFile).toBe(path.join(project.folder, '.copse', 'context', id, 'session-prompt.md'));
  expect(readFileSync(promptFile, 'utf8')).toBe(prompt);
  expect(git(project.folder, 'status', '--porcelain', '--ignored')).toBe('!! .copse/');
});
