/** Faults that a retry would meet again wait for a person at once, with the reason; others are retried, or fail for good. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { type TaskDocument, answer, copse, git, newArea, printed, commitAsAgent } from '../../support/cli.ts';
import { commandsIn } from '../../support/pasted.ts';
import { untilIdle } from '../../support/agents/scripted-agents.ts';

const area = newArea();
let repositories = 0;

/** The agent commits a file, unless another command is given. */
function repository(settings: object, { hasCommit = true } = {}): { readonly cwd: string } {
  repositories += 1;
  const cwd = path.join(area, `faulty ${repositories}`);
  mkdirSync(cwd);
  git(cwd, 'init', '--quiet', '--initial-branch=main');
  commitAsAgent(cwd);
  const agents = { plain: { command: 'touch done.txt && git add done.txt && git commit -qm "feat: done"' } };
  const policy = { first_backoff: '100ms', poll_interval: '300ms', min_free_memory: '64MB' };
  writeFileSync(path.join(cwd, 'copse.yml'), JSON.stringify({ agents, policy, ...settings }));
  if (hasCommit) git(cwd, 'commit', '--quiet', '--allow-empty', '--message=first');
  return { cwd };
}

interface Shown {
  readonly status: string;
  readonly retries: number;
  readonly reason: string | null;
}

async function outcomeOf(at: {
  cwd: string;
}): Promise<Shown & { readonly id: string; readonly attempts: number }> {
  const { id } = await answer<TaskDocument>(['add', 'Do it'], at);
  await untilIdle(at);
  const shown = await answer<Shown>(['show', id], at);
  const events = await copse(['events', '--json'], at);
  const attempts = events.stdout.split('\n').filter((line) => line.includes('"attempt.started"')).length;
  return { ...shown, id, attempts };
}

test.each([
  ['a base branch that is missing', { landing: { target: 'nowhere' } }, 'nowhere'],
  // One that set-up commands might make is looked for when it starts.
  [
    'a program that is missing',
    { agents: { plain: { command: ['./no-such-program'], workspace: { setup: ['true'] } } } },
    'no-such-program',
  ],
  ['a command that the shell cannot find', { agents: { plain: { command: 'exec no-such-program' } } }, '127'],
])('%s', async (_, settings, reason) => {
  const outcome = await outcomeOf(repository(settings));
  expect(outcome).toMatchObject({ status: 'stuck', retries: 0, attempts: 1 });
  expect(outcome.reason).toContain(reason);
});

test('a repository without a commit; the task goes on once there is one', async () => {
  const at = repository({}, { hasCommit: false });
  const { id, ...outcome } = await outcomeOf(at);
  expect(outcome).toMatchObject({ status: 'stuck', retries: 0, attempts: 1 });
  expect(outcome.reason).toContain('commit');
  const why = await printed(['why', id], at);
  expect(why).not.toContain('asks for a decision');
  expect(why).toContain(
    `Its agent cannot start: The repository has no commit, so ${id} cannot start.\n    To make the first commit:\n  → git commit --allow-empty --message="First commit"\n`,
  );
  expect(commandsIn(why).slice(1)).toEqual([`copse cancel ${id}`]);
  git(at.cwd, 'commit', '--quiet', '--allow-empty', '--message=first');
  await printed(['restart', id], at);
  await printed(['orchestrate', '--until-idle'], at);
  expect((await answer<Shown>(['show', id], at)).status).toBe('done');
});

describe('a failed task', () => {
  const policy = {
    max_retries: 0,
    first_backoff: '100ms',
    poll_interval: '300ms',
    min_free_memory: '64MB',
  };

  test('is worked on at once by the command that a person gives to restart', async () => {
    const at = repository({ agents: { plain: { command: 'exit 7' } }, policy });
    const { id, status } = await outcomeOf(at);
    expect(status).toBe('failed');
    const command = 'touch mended.txt && git add mended.txt && git commit -qm "fix: mended"';
    const { agent } = await answer<{ agent: string | null }>(['restart', id, '--command', command], at);
    expect(agent).toBe('command');
    await printed(['orchestrate', '--until-idle'], at);
    expect((await answer<Shown>(['show', id], at)).status).toBe('done');
  });

  test('of another agent cannot be given to a command, and restart says why', async () => {
    const at = repository({ agents: { plain: { command: 'exit 7' } }, policy });
    const { id } = await answer<TaskDocument>(['add', 'Do it', '--agent', 'plain'], at);
    await untilIdle(at);
    const { stderr } = await copse(['restart', id, '--command', 'true'], at);
    expect(stderr).toContain(`${id} cannot start. No agent can take it: `);
    expect((await answer<Shown>(['show', id], at)).status).toBe('failed');
  });
});

test('a crashed task starts again when its delay ends, not at the next look', async () => {
  const plain = {
    command: 'test -f crashed || { touch crashed; exit 7; }; rm crashed; git commit -qm done --allow-empty',
  };
  const policy = { first_backoff: '100ms', poll_interval: '1h', min_free_memory: '64MB' };
  const at = repository({ agents: { plain }, policy });
  expect(await outcomeOf(at)).toMatchObject({ attempts: 2 });
});
