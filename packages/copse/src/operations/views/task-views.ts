/** What `copse show --json` prints about attempts and the workspace of a task. */

import { time } from '../../kernel/time.ts';
import type { Usage } from '../../kernel/usage.ts';
import type { Attempt } from '../../tasks/rules/attempt.ts';
import type { Workspace } from '../../workspaces/rules/workspace.ts';

interface Shown {
  readonly attempt: Attempt;
  readonly agent: string | null;
  readonly usage: Usage | null;
  readonly words: string | null;
}

export function attemptView({ attempt, agent, usage, words }: Shown) {
  const { id, session, node, startedAt, process, end, lastSnapshot, travelProblem } = attempt;
  return {
    id,
    session,
    agent,
    node,
    pid: process?.pid ?? null,
    startedAt: time(startedAt),
    endedAt: end && time(end.at),
    durationMs: end && end.at - startedAt,
    result: end?.reason ?? null,
    exitCode: end?.exitCode ?? null,
    usage,
    words,
    snapshot: lastSnapshot
      ? { commit: lastSnapshot.commit, head: lastSnapshot.head, at: time(lastSnapshot.at) }
      : null,
    travelProblem: travelProblem ?? null,
  };
}

export function workspaceView({ node, worktree, preparedAt, disposition }: Workspace) {
  return {
    node,
    worktree: worktree?.path ?? null,
    branch: worktree?.branch ?? null,
    base: worktree?.baseBranch ?? null,
    baseCommit: worktree?.baseCommit ?? null,
    preparedAt: time(preparedAt),
    is: disposition.is,
  };
}
