/** The variables of checks and of their set-up, and a digest of those that could change a verdict. */

import { createHash } from 'node:crypto';
import { arch, platform, release } from 'node:os';

import { REPOSITORY_VARIABLES } from '../../workspaces/rules/environment.ts';
import type { CheckCommand } from '../ports/checks.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/** Set for every process that a run starts. */
const CHECK_VARIABLE = 'COPSE_CHECK';
/** Set for every process of one command of the run. */
const STEP_VARIABLE = 'COPSE_CHECK_STEP';

/** The variable by which Copse finds the processes of a run. */
export function markOf(id: string): string {
  return `${CHECK_VARIABLE}=${id}`;
}

export function stepMarkOf(id: string, step: string): string {
  return `${STEP_VARIABLE}=${id}/${step}`;
}

interface CheckSurroundings {
  readonly id: string;
  readonly slot: number;
  readonly step: string;
  readonly worktree: string;
  readonly root: string;
}

/**
 * This process's environment without Copse's own variables: code that agents wrote must not see the board's address and the
 * tokens of a session, and a check belongs to no task. `CI` stops programs from asking questions.
 */
export function variablesOf(
  inherited: Variables,
  of: CheckSurroundings,
  own: Variables,
): Record<string, string> {
  const all: Variables = {
    ...withoutOurs(inherited),
    CI: 'true',
    COPSE_REPO_ROOT: of.root,
    COPSE_WORKTREE_PATH: of.worktree,
    COPSE_CHECK_SLOT: String(of.slot),
    ...own,
    [CHECK_VARIABLE]: of.id,
    [STEP_VARIABLE]: `${of.id}/${of.step}`,
  };
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

function withoutOurs(inherited: Variables): Variables {
  const isKept = (name: string) => !name.startsWith('COPSE_') && !REPOSITORY_VARIABLES.test(name);
  return Object.fromEntries(Object.entries(inherited).filter(([name]) => isKept(name)));
}

export function digestOf(
  check: Pick<CheckCommand, 'env' | 'workingDirectory'>,
  workspace: unknown,
  inherited: Variables,
): string {
  const variables = Object.entries({ ...withoutOurs(inherited), ...check.env }).filter(
    ([name]) => name in check.env || !PASSING.test(name),
  );
  const facts = {
    system: [platform(), arch(), release()],
    variables: variables.toSorted(([one], [other]) => (one < other ? -1 : 1)),
    workingDirectory: check.workingDirectory,
    workspace,
  };
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex');
}

/**
 * Variables of a terminal, a login or a process, which differ at each start of Copse. All others count: an extra run of a
 * check costs less than a wrong verdict.
 */
const PASSING =
  /^(_|PWD|OLDPWD|SHLVL|COLUMNS|LINES|COLORTERM|WINDOWID|DISPLAY|WAYLAND_DISPLAY|STY|SSH_.*|TERM.*|TMUX.*|XDG_SESSION_.*|DBUS_.*|VTE_VERSION|VSCODE_.*|INVOCATION_ID|JOURNAL_STREAM)$/;
