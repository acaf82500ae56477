/** `copse` alone where there is no board: what Copse is, and how to begin. */

import { existsSync } from 'node:fs';
import path from 'node:path';

import { findRepository, hasBoard, requireRepository } from '../../../compose/open.ts';
import type { Cli } from '../../invocation.ts';

/** True when it explained: there is no board whose status could be shown. */
export async function explainAlone(cli: Cli): Promise<boolean> {
  if (isOutside(cli)) {
    print(cli, [
      'Copse runs many coding agents on one git repository, and lands their work',
      'through a merge queue. Go into a git repository to use it.',
      '',
      ...rows([
        ['copse demo', 'see it work, without an agent program'],
        ...FIRST_STEPS,
        ['copse', 'show what runs, needs you, and lands'],
        ['copse --help', 'all commands; `copse help add` explains one'],
      ]),
    ]);
    return true;
  }
  if (await hasBoard(cli)) return false;
  await explainNoBoard(cli);
  return true;
}

export async function explainNoBoard(cli: Cli): Promise<void> {
  const { hasBase } = await import('../../../compose/on-demand.ts');
  const hasCommit = await hasBase(cli);
  const lacks = hasCommit ? 'no tasks' : 'no commit and no tasks';
  const { top, commonDir, configFolder } = requireRepository(cli);
  const commit = top === commonDir ? PUSHED_COMMIT : FIRST_COMMIT;
  const usual = existsSync(path.join(configFolder, 'copse.yml')) ? [SETTINGS, ...TASK_STEPS] : FIRST_STEPS;
  const steps = hasCommit ? usual : [commit, ...usual];
  print(cli, [`This repository has ${lacks} yet. To begin:`, '', ...rows(steps)]);
}

const FIRST_COMMIT = ['git commit --allow-empty -m Begin', 'worktrees start from a commit'] as const;
const PUSHED_COMMIT = ['git push', 'from a clone: worktrees start from a commit'] as const;

const SETTINGS = ['copse config', 'show the settings, with those of copse.yml'] as const;

const TASK_STEPS = [
  ['copse add "Rename the loader"', 'add a task'],
  ['copse orchestrate', 'run agents on the tasks, land their work'],
] as const;

const FIRST_STEPS = [['copse init', 'write copse.yml for installed agents'], ...TASK_STEPS] as const;

function isOutside({ cwd }: Cli): boolean {
  try {
    return findRepository(cwd) === undefined;
  } catch (error) {
    // The folder itself is gone.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}

function rows(steps: readonly (readonly [command: string, why: string])[]): readonly string[] {
  const width = Math.max(...steps.map(([command]) => command.length));
  return steps.map(([command, why]) => `  ${command.padEnd(width)}  ${why}`);
}

function print({ output }: Cli, lines: readonly string[]): void {
  for (const line of lines) output.line(line);
}
