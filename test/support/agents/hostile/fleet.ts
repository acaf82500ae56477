/**
 * A repository of a person, with honest and hostile agents in its copse.yml, and a task for each trick and each honest agent.
 * Without the test runner, so that bench/ can use it too.
 */

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { openContext } from '../../../../packages/copse/src/compose/open.ts';
import { type AgentName, brand } from '../../../../packages/copse/src/kernel/ids.ts';
import { addTask } from '../../../../packages/copse/src/tasks/act/tasks.ts';
import { plainEnv } from '../../plain-env.ts';

const program = fileURLToPath(new URL('agent.sh', import.meta.url));

export interface Fleet {
  readonly folder: string;
  /** Where agents write what the tests look at, outside of the repository. */
  readonly notes: string;
}

export interface FleetSize {
  /** Honest and hostile agents that run at once, each. */
  readonly atOnce: number;
  /** An honest agent waits so long before each of its two commits. */
  readonly seconds: number;
}

/** The person has main checked out, clean, and beside it a file, a branch, a stash, a hook and a setting of their own. */
export function newFleet(place: string, size: FleetSize): Fleet {
  const [folder, notes] = [path.join(place, 'répo'), path.join(place, 'notes')];
  for (const one of [folder, notes]) mkdirSync(one, { recursive: true });
  gitIn(folder, 'init', '--quiet', '--initial-branch=main');
  // Agents do not inherit git's variables.
  for (const [key, value] of Object.entries({ 'user.name': 'Agent', 'user.email': 'agent@example.invalid' }))
    gitIn(folder, 'config', key, value);
  gitIn(folder, 'config', 'person.key', 'kept');
  writeFileSync(path.join(folder, 'copse.yml'), settings(notes, size));
  writeFileSync(path.join(folder, 'a.txt'), '1\n2\n3\n');
  gitIn(folder, 'add', '--all');
  gitIn(folder, 'commit', '--quiet', '--message=chore: set up');
  gitIn(folder, 'branch', 'persons');
  writeFileSync(path.join(folder, 'a.txt'), 'stashed\n');
  gitIn(folder, 'stash', '--quiet');
  writeFileSync(path.join(folder, 'mine.txt'), 'of the person\n');
  writeFileSync(path.join(folder, '.git', 'info', 'exclude'), '/mine.txt\n/.worktrees/\n/.copse/\n');
  const hook = path.join(folder, '.git', 'hooks', 'prepare-commit-msg');
  writeFileSync(hook, '#!/bin/sh\n');
  chmodSync(hook, 0o755);
  return { folder, notes };
}

function settings(notes: string, { atOnce, seconds }: FleetSize): string {
  const agent = { command: ['sh', program, notes, String(seconds)], max: atOnce };
  return JSON.stringify(
    {
      agents: {
        honest: agent,
        hostile: agent,
        // Copse commits what it leaves, so that a wrong HEAD would move another branch.
        committer: { ...agent, finish: { on_dirty: 'commit' } },
      },
      policy: {
        max_agents: 2 * atOnce,
        max_retries: 1,
        first_backoff: '100ms',
        max_backoff: '200ms',
        poll_interval: '300ms',
        min_free_memory: '64MB',
        min_free_disk: '64MB',
      },
    },
    null,
    2,
  );
}

export interface FleetTask {
  readonly title: string;
  readonly agent: 'honest' | 'hostile' | 'committer';
}

/** In this order; ids by title. */
export async function addTasks(
  { folder }: Fleet,
  tasks: readonly FleetTask[],
): Promise<ReadonlyMap<string, string>> {
  const context = await openContext({ cwd: folder, env: { USER: 'ada' } });
  const ids = new Map<string, string>();
  try {
    for (const { title, agent } of tasks) {
      const added = await addTask(context, { title, agent: brand<AgentName>(agent) });
      if (added.kind === 'refused') throw new Error(added.refusal.reason);
      ids.set(title, added.value.id);
    }
  } finally {
    await context.board.close();
  }
  return ids;
}

/** As the person: neither the hooks nor the replacements that an agent planted apply. */
export function gitIn(folder: string, ...argv: readonly string[]): string {
  const env = { ...plainEnv, GIT_NO_REPLACE_OBJECTS: '1', GIT_GRAFT_FILE: '/dev/null' };
  const quiet = ['-c', 'core.hooksPath=/dev/null', '-c', 'advice.graftFileDeprecated=false'];
  return execFileSync('git', [...quiet, ...argv], { cwd: folder, env, encoding: 'utf8' }).trimEnd();
}
