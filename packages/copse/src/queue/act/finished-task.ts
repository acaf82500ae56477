/** A task that is finished when it is created: Copse made its only commit. It lands or is reviewed like any other. */

import { decided } from '../../kernel/decision.ts';
import {
  type BranchName,
  type CommitId,
  type LandingId,
  type TaskId,
  type WorkspaceId,
  brand,
  drawId,
} from '../../kernel/ids.ts';
import type { Change } from '../../board/context.ts';
import type { Submission } from '../../tasks/rules/outcomes.ts';
import { branchRef } from '../../workspaces/discard/rescue-first.ts';
import { branchName, chooseBranchPattern, isoDate, slug } from '../../workspaces/rules/naming.ts';
import type { RunContext } from '../context.ts';

/** `maker` stands for the agent in a pattern. Undefined when every name is taken. */
export async function freeBranch(
  { git, settings, policy, clock }: RunContext,
  id: TaskId,
  title: string,
  maker: string,
): Promise<BranchName | undefined> {
  const pattern = chooseBranchPattern(
    { pattern: settings.branch_pattern, workItem: undefined, schedule: undefined },
    policy.naming,
  );
  const short = id.slice(-policy.naming.shortIdLength);
  const date = isoDate(clock.now());
  const named = branchName(pattern, {
    task: id,
    slug: slug(title, policy.naming),
    agent: maker,
    workItem: undefined,
    jobId: short,
    date,
    schedule: undefined,
  });
  const names = [...(named.kind === 'accepted' ? [named.branch] : []), brand<BranchName>(`${id}-${maker}`)];
  for (const branch of names) if ((await git.tip(branchRef(branch))) === undefined) return branch;
  return undefined;
}

/** As for finished work: into the queue, or to review. */
export function submission(
  { landing: { policy }, random }: RunContext,
  of: { readonly branch: BranchName; readonly head: CommitId; readonly target: BranchName },
): Submission {
  const { branch, head, target } = of;
  if (policy === 'auto') {
    const landing = brand<LandingId>(drawId('la-', random));
    return { kind: 'landing', landing, target, attempt: null, head };
  }
  const wanted = { is: 'wanted', branch, target, note: null, summary: null } as const;
  return { kind: 'review', head, pullRequest: policy === 'pr' ? wanted : null };
}

/** Without a folder: one is made from the branch when an agent works on it. */
export async function recordBranch(
  { node, random, worktreeFolder }: RunContext,
  change: Change,
  of: {
    readonly task: TaskId;
    readonly branch: BranchName;
    readonly target: BranchName;
    readonly onto: CommitId;
  },
): Promise<void> {
  const id: WorkspaceId = brand(drawId('ws-', random));
  const { task, branch, target, onto } = of;
  const worktree = { path: `${worktreeFolder}/${task}`, branch, baseBranch: target, baseCommit: onto };
  const what = { task, node, strategy: 'git_worktree', worktree } as const;
  await change.apply(decided({ type: 'workspace.prepared', id, at: change.at, ...what }));
}
