/** What people read who work by hand, without an agent and without an orchestrator. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { answer, copse, git, newArea, newRepository, newTasks, printed } from '../../support/cli.ts';
import { endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { commandsIn } from '../../support/pasted.ts';
import { shellWord } from '../../../packages/copse/src/kernel/shell.ts';

const area = newArea();
afterAll(() => endAgents(area));

interface At {
  readonly cwd: string;
}

interface Why {
  readonly because: readonly string[];
  readonly next: readonly string[];
}

const why = (at: At, id: string) => answer<Why>(['why', id], at);

async function commitIn(at: At, id: string, file: string): Promise<string> {
  const { worktree } = await answer<{ worktree: string }>(['work', id], at);
  writeFileSync(path.join(worktree, file), `${id}\n`);
  git(worktree, 'add', '--all');
  git(worktree, 'commit', '--quiet', `--message=feat: ${file}`);
  return worktree;
}

test('after a merge has ended, a finished task waits for a merge, and every view says so', async () => {
  const at = { cwd: newRepository(area) };
  const [one, other] = await newTasks(['one', 'other'], at);
  await commitIn(at, one.id, 'one.txt');
  await answer(['finish', one.id], at);
  await answer(['merge', one.id], at);
  await commitIn(at, other.id, 'other.txt');
  await answer(['finish', other.id, '--summary', 'all of it'], at);
  const { because, next } = await why(at, other.id);
  expect(because.join('\n')).toContain('no orchestrator is running');
  expect(because.join('\n')).not.toContain('within 5 s');
  expect(because).toContain('Summary: all of it');
  expect(next).toEqual([`copse merge ${other.id}`, `copse cancel ${other.id}`]);
  const status = await printed(['status'], at);
  expect(status).not.toContain('Nothing needs you.');
  expect(status).toContain(`copse merge ${other.id}`);
  const queue = await printed(['queue'], at);
  expect(queue).not.toContain('copse orchestrate');
  expect(queue).toContain(`no orchestrator is running here: copse merge ${other.id}`);
  await answer(['merge', other.id], at);
  const refused = await copse(['resume', other.id], at);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).not.toContain('copse work');
});

test('a task that the person works on names the person and how to finish it', async () => {
  const at = { cwd: newRepository(area) };
  const [{ id }] = await newTasks(['mine'], at);
  const { worktree } = await answer<{ worktree: string }>(['work', id], at);
  const { because, next } = await why(at, id);
  expect(because[0]).toBe('You work on it by hand.');
  expect(next).toEqual([`copse finish ${id}`, `copse pause ${id}`, `copse cancel ${id}`]);
  expect(await printed(['review', id], at)).toMatch(/agent +\w+, by hand\n/);
  const { stderr } = await copse(['review', id, '--approve'], at);
  expect(stderr).toContain(`Cannot approve ${id}: it is in progress.`);
  const refused = await copse(['finish', id], at);
  expect(refused.code).toBe(4);
  expect(commandsIn(refused.stderr)).toEqual([`copse finish ${id} --no-changes`, `copse finish ${id}`]);
  writeFileSync(path.join(worktree, 'new.txt'), 'x\n');
  const dirty = await copse(['finish', id], at);
  expect(commandsIn(dirty.stderr)[0]).toMatch(/^git -C \S.* commit/);
  expect(dirty.stderr).toContain(path.basename(worktree));
});

test('a task that no agent started has no terminal, and the reason says so', async () => {
  const at = { cwd: newRepository(area) };
  const [{ id }] = await newTasks(['new'], at);
  const { stderr } = await copse(['attach', id], at);
  expect(stderr).toContain(`${id} has no terminal: no agent has started on it.`);
  expect(commandsIn(stderr)).toEqual([`copse why ${id}`]);
});

test('commands without a copse.yml, with a foreign option, and outside of a worktree', async () => {
  const at = { cwd: newRepository(area) };
  const [{ id }] = await newTasks(['one'], at);
  expect(await printed(['config', 'check'], at)).toBe('There is no copse.yml: the defaults apply.\n');
  const added = await copse(['add', 'two', '--after', id], at);
  expect(added.stderr).toContain('Did you mean --depends?');
  expect(added.stderr).not.toContain('copse add -- ');
  const finish = await copse(['finish'], at);
  expect(commandsIn(finish.stderr)).toEqual(['copse list']);
});

test('a conflict names the merge that lands it, and a review of it offers no approval', async () => {
  const at = { cwd: newRepository(area) };
  const [one, other] = await newTasks(['one', 'other'], at);
  const worktree = await commitIn(at, other.id, 'same.txt');
  await commitIn(at, one.id, 'same.txt');
  await answer(['finish', one.id], at);
  await answer(['finish', other.id], at);
  await answer(['merge', one.id], at);
  expect((await copse(['merge', other.id], at)).code).not.toBe(0);
  expect((await why(at, other.id)).next[0]).toBe(`copse sync ${other.id} --conflict`);
  const review = await printed(['review', other.id], at);
  expect(review).not.toContain('--approve');
  const [first = ''] = commandsIn(review);
  expect(first).toContain(`copse sync ${other.id} --conflict`);
  const approval = await copse(['review', other.id, '--approve'], at);
  expect(approval.stderr).toContain(`Cannot approve ${other.id}: it conflicts with main.`);
  expect(commandsIn(approval.stderr)[0]).toBe(`copse sync ${other.id} --conflict`);
  const left = await printed(['sync', other.id, '--conflict'], at);
  expect(left).toContain(`Merging main into ${other.id} stopped: 1 file conflicts:\n    same.txt\n`);
  expect(commandsIn(left)).toEqual([
    `cd ${shellWord(worktree)}`,
    `copse merge ${other.id}`,
    `git -C ${shellWord(worktree)} merge --abort`,
  ]);
  const unfinished = await why(at, other.id);
  expect(unfinished.because.join('\n')).toContain('A merge in its worktree is not finished.');
  expect(await printed(['status'], at)).toContain(
    `A merge in its worktree is not finished: resolve and commit it, then copse merge ${other.id}\n`,
  );
  expect(unfinished.next.slice(0, 3)).toEqual([
    `cd ${shellWord(worktree)}`,
    `copse merge ${other.id}`,
    `git -C ${shellWord(worktree)} merge --abort`,
  ]);
  writeFileSync(path.join(worktree, 'same.txt'), 'both\n');
  git(worktree, 'commit', '--quiet', '--all', '--message=merge main');
  const resolved = 'It no longer conflicts: its branch contains main now';
  for (const command of [['status'], ['list'], ['why', other.id], ['show', other.id]])
    expect([command, await printed(command, at)]).toEqual([command, expect.stringContaining(resolved)]);
  expect((await why(at, other.id)).next[0]).toBe(`copse merge ${other.id}`);
  expect((await copse(['merge', other.id], at)).code).toBe(0);
});

test('a conflict whose branch has other commits now is tried again first, also when main moved on', async () => {
  const at = { cwd: newRepository(area) };
  const [one, other, third] = await newTasks(['one', 'other', 'third'], at);
  const worktree = await commitIn(at, other.id, 'same.txt');
  const refused = git(worktree, 'rev-parse', 'HEAD').slice(0, 10);
  await commitIn(at, one.id, 'same.txt');
  await answer(['finish', one.id], at);
  await answer(['finish', other.id], at);
  await answer(['merge', one.id], at);
  expect((await copse(['merge', other.id], at)).code).not.toBe(0);
  await printed(['sync', other.id, '--conflict'], at);
  writeFileSync(path.join(worktree, 'same.txt'), 'both\n');
  git(worktree, 'commit', '--quiet', '--all', '--message=merge main');
  await commitIn(at, third.id, 'third.txt');
  await answer(['finish', third.id], at);
  await answer(['merge', third.id], at);
  const changed = `It conflicted at ${refused}, and its branch changed since`;
  for (const command of [['status'], ['list'], ['why', other.id], ['show', other.id]])
    expect([command, await printed(command, at)]).toEqual([command, expect.stringContaining(changed)]);
  const { because, next } = await why(at, other.id);
  expect(because.join('\n')).not.toContain('same.txt');
  expect(next[0]).toBe(`copse merge ${other.id}`);
  expect((await copse(['merge', other.id], at)).code).toBe(0);
});

test('finish of a conflicting task names the merge, and during that merge never a commit of everything', async () => {
  const at = { cwd: newRepository(area) };
  const [one, other] = await newTasks(['one', 'other'], at);
  const worktree = await commitIn(at, other.id, 'same.txt');
  await commitIn(at, one.id, 'same.txt');
  await answer(['finish', one.id], at);
  await answer(['merge', one.id], at);
  const conflict = await copse(['finish', other.id], at);
  expect(conflict.stderr).toContain('To merge main into it:\n');
  expect(conflict.stderr).toContain(
    `Merge main with \`copse sync ${other.id} --conflict\`, resolve the conflict, commit, and run \`copse finish ${other.id}\` again.`,
  );
  expect(commandsIn(conflict.stderr)).toEqual([
    `copse sync ${other.id} --conflict`,
    `copse finish ${other.id}`,
  ]);
  await printed(['sync', other.id, '--conflict'], at);
  const merging = await copse(['finish', other.id], at);
  expect(merging.stderr).toContain(`${other.id} is not finished: a merge is in progress in its worktree.\n`);
  expect(commandsIn(merging.stderr)).toEqual([
    `cd ${shellWord(worktree)}`,
    `copse finish ${other.id}`,
    `git -C ${shellWord(worktree)} merge --abort`,
  ]);
});

test('a crash without changes says so, and work still counts it after a restart', async () => {
  const scene = newScene(area, { policy: { max_retries: 0 } });
  const id = await scene.add('fails', 'exit 9');
  await scene.up();
  const text = await scene.why(id);
  expect(text).toContain('Its worktree has no changes.');
  expect(text).not.toContain('All changes were committed.');
  await answer(['restart', id], scene.at);
  const status = await printed(['status'], scene.at);
  expect(status).not.toContain('within ');
  expect(status).toContain('It starts with plain as soon as an orchestrator runs here');
  const { stderr } = await copse(['work', id], scene.at);
  expect(stderr).toContain('(no changes, 1 crash): /');
});

test('resume says that the configured agents cannot run here', async () => {
  const at = { cwd: newRepository(area) };
  writeFileSync(path.join(at.cwd, 'copse.yml'), 'agents: { mine: { runtime: codex } }\n');
  const [{ id }] = await newTasks(['one'], at);
  await answer(['work', id], at);
  await answer(['pause', id], at);
  const { stderr } = await copse(['resume', id], at);
  expect(stderr).toContain(`${id} cannot start. None of the agents in copse.yml can run here.`);
});

test('an agent whose program is missing, or that copse.yml lost or only just got', async () => {
  const scene = newScene(area, {
    agents: { plain: {}, gone: { command: 'exec /no/such' }, crashes: {} },
    policy: { max_retries: 0 },
  });
  const stuck = await scene.add('stuck', 'true', '--agent', 'gone');
  const failed = await scene.add('failed', 'exit 9', '--agent', 'crashes');
  await scene.up();
  const { because, next } = await why(scene.at, stuck);
  expect(because.join('\n')).toContain('Install it, or correct agents.gone.command in copse.yml');
  expect(next[0]).toBe(`copse restart ${stuck}`);
  const silent = await copse(['logs', failed], scene.at);
  expect(silent.stderr).toContain('No output (agent crashes).');
  const file = path.join(scene.folder, 'copse.yml');
  writeFileSync(file, 'agents: { plain: { command: "true" }, fresh: { command: "true" } }\n');
  const early = await copse(['add', 'early', '--agent', 'fresh'], scene.at);
  expect(early.stderr).toContain('The accepted copse.yml has no agent "fresh".');
  expect(commandsIn(early.stderr)).toEqual(['copse config accept']);
  await printed(['config', 'accept', '--yes'], scene.at);
  const { next: steps } = await why(scene.at, failed);
  expect(steps.slice(0, 2)).toEqual([`copse edit ${failed} --no-agent`, `copse restart ${failed}`]);
});
