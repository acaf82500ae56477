/** Collects the facts for the finish gate (rules/finish/finish.ts), cheap ones first, until it passes or refuses. */

import {
  type CommitFacts,
  type FinishFacts,
  type FinishRules,
  type GateVerdict,
  type HeadFinding,
  decideGate,
} from '../rules/finish/finish.ts';
import { type BranchName, type CommitId, type TaskId, brand } from '../../kernel/ids.ts';
import type { Task } from '../../tasks/rules/task.ts';
import type { WorktreeFacts } from '../../workspaces/rules/preparation.ts';
import type { Workspace } from '../../workspaces/rules/workspace.ts';
import { type CheckoutBefore, disturbedFiles, ownFiles } from '../../workspaces/rules/checkout.ts';
import type { EffectiveAgent } from '../../config/effective.ts';
import { loadConflict } from '../../queue/act/conflict-brief.ts';
import { findUnfit } from '../../queue/act/find-unfit.ts';
import { findUnimported } from './imports.ts';
import { findMissing } from '../../queue/act/conflict-task.ts';
import { type RunContext } from '../../queue/context.ts';
import { isAddedResult } from '../../tasks/rules/ledger.ts';
import { workspaceOf } from '../../workspaces/act/context.ts';
import { targetOf, tipOfTarget } from '../../queue/act/landing-target.ts';

export interface GateRequest {
  readonly task: Task;
  /** Null for a task without a worktree. */
  readonly worktree: Pick<NonNullable<Workspace['worktree']>, 'path' | 'branch' | 'baseBranch'> | null;
  /** The main checkout when its session began, for one that works there. */
  readonly checkout?: CheckoutBefore | undefined;
  readonly agent: Pick<EffectiveAgent, 'finish' | 'landing' | 'workspace'>;
  readonly saysNoChanges: boolean;
  /** The agent's summary, for a commit that Copse makes for it. */
  readonly summary: string | null;
  readonly environment: Readonly<Record<string, string>>;
  /** Artifacts of the agent's report that could not be added, as sentences. */
  readonly unadded?: readonly string[];
  /** Runs no accept command and changes nothing. */
  readonly isPreview?: boolean;
}

export interface GateLook {
  readonly verdict: Extract<GateVerdict, { kind: 'passed' | 'refused' }>;
  readonly head: CommitId | null;
  readonly target: BranchName | null;
  /** The target's tip at the trial merge. */
  readonly targetTip: CommitId | null;
  /** The agent's summary. */
  readonly summary: string | null;
  /** It was made in the main checkout, so there is nothing to land. */
  readonly isInPlace?: true;
}

export async function lookAtGate(context: RunContext, request: GateRequest): Promise<GateLook> {
  const { task, worktree, agent } = request;
  // A commit of everything would have a person's files too.
  const { on_dirty } = agent.finish;
  let onDirty = request.checkout && on_dirty === 'commit' ? 'handback' : on_dirty;
  const rules: Omit<FinishRules, 'onDirty'> = {
    commitConvention: agent.finish.commit_convention,
    accept: request.isPreview ? [] : [...task.accept, ...agent.finish.accept],
  };
  let seen = await firstLook(context, request);
  for (;;) {
    const verdict = decideGate(seen.facts, { ...rules, onDirty });
    if (verdict.kind === 'uncommitted' && request.isPreview) {
      // Copse would commit for the agent, so there would be changes.
      const verdict = { kind: 'passed', hasChanges: true, notes: [] } as const;
      return { ...seen, verdict, summary: request.summary };
    }
    if (verdict.kind === 'uncommitted') {
      if (worktree === null) throw new Error(`${task.id} has no worktree to commit in`);
      const message = commitMessage(request);
      const made = await context.merging.commitAll(worktree.path, worktree.branch, message);
      // What Copse cannot commit, a nested repository for example, is the agent's to deal with.
      if (made === null) onDirty = 'handback';
      seen = await firstLook(context, request);
      continue;
    }
    if (verdict.kind !== 'undecided') return { ...seen, verdict, summary: request.summary };
    const facts: FinishFacts =
      verdict.needs === 'accept'
        ? { ...seen.facts, accept: await tryAccept(context, request, rules.accept) }
        : { ...seen.facts, merge: await tryMerge(context, request, seen) };
    seen = { ...seen, facts };
  }
}

interface GateFacts {
  readonly facts: FinishFacts;
  readonly head: CommitId | null;
  readonly target: BranchName | null;
  readonly targetTip: CommitId | null;
  readonly isInPlace?: true;
}

async function firstLook(context: RunContext, request: GateRequest): Promise<GateFacts> {
  const { git, merging, policy } = context;
  const { task, worktree, saysNoChanges } = request;
  if (request.checkout) return lookInPlace(context, request, request.checkout);
  const unseen = { task: task.id, saysNoChanges, accept: undefined, merge: undefined };
  if (worktree === null) {
    const nothing = { uncommitted: null, unreadable: [], operation: null, unresolved: [], commits: [] };
    const results = await resultsOf(context, request);
    const facts = {
      ...unseen,
      target: '',
      branch: null,
      head: null,
      isPastQueue: false,
      ...nothing,
      results,
    };
    return { facts, head: null, target: null, targetTip: null };
  }
  const look = await git.look(worktree.path);
  if (look.state !== 'healthy') {
    throw new Error(
      `the worktree of ${task.id} is ${look.state === 'absent' ? 'gone' : `unusable: ${look.why}`}`,
    );
  }
  const target = await landingTarget(context, request, worktree.baseBranch);
  const targetTip = await tipOfTarget(context, target);
  const { changed, untracked, unreadable } = await git.uncommitted(worktree.path);
  const commits: readonly CommitFacts[] =
    targetTip === look.head ? [] : await merging.commits(targetTip, look.head, policy.finish.commitsLookedAt);
  const uncommitted = [...changed, ...untracked];
  const { operation } = look;
  const unresolved = operation === 'merge' ? await merging.unresolved(worktree.path) : [];
  const missing = await findMissing(context, task, look.head);
  const head = await findHead(context, worktree, look);
  const isPastQueue =
    commits.length === 0 && (await wasMovedPastQueue(context, task.id, worktree.path, look.head));
  const unimported = commits.length === 0 ? [] : await findUnimported(context, task, look.head);
  const of = { target, branch: worktree.branch, head, isPastQueue, unimported };
  const facts = { ...unseen, ...of, uncommitted, unreadable, operation, unresolved, commits, missing };
  return { facts, head: look.head, target, targetTip };
}

/** Only work without any files must leave artifacts. */
async function resultsOf(
  context: RunContext,
  { task, unadded = [] }: GateRequest,
): Promise<NonNullable<FinishFacts['results']> | null> {
  if ((await workspaceOf(context, task.id))?.strategy !== 'none') return null;
  const all = await context.board.list('artifact', { task: task.id });
  return { count: all.filter(isAddedResult).length, problems: unadded };
}

/** What was there before the session is neither counted nor asked for. */
async function lookInPlace(
  { checkout, git, merging, policy, root }: RunContext,
  { task, saysNoChanges }: GateRequest,
  before: CheckoutBefore,
): Promise<GateFacts> {
  const now = await checkout.look();
  const place = await git.look(root);
  const head = now.head ?? before.head;
  const target = before.branch ?? brand<BranchName>('HEAD');
  const hasOld = head === before.head || (await git.isAncestor(before.head, head));
  const isElsewhere = now.branch !== before.branch;
  const facts: FinishFacts = {
    task: task.id,
    saysNoChanges,
    accept: undefined,
    merge: { conflicts: [], ...NO_DETAILS },
    target,
    branch: before.branch,
    head: isElsewhere ? { kind: 'elsewhere', on: now.branch, isMadeHere: false } : null,
    isPastQueue: false,
    uncommitted: ownFiles(before, now),
    unreadable: [],
    operation: place.state === 'healthy' ? place.operation : null,
    unresolved: [],
    commits:
      head === before.head ? [] : await merging.commits(before.head, head, policy.finish.commitsLookedAt),
    inPlace: { disturbed: disturbedFiles(before, now), rescue: before.rescue, hasOld, from: before.head },
  };
  return { facts, head, target, targetTip: before.head, isInPlace: true };
}

type Healthy = Extract<WorktreeFacts, { state: 'healthy' }>;

async function findHead(
  { git }: RunContext,
  { path, branch }: NonNullable<GateRequest['worktree']>,
  { branch: on, head }: Healthy,
): Promise<HeadFinding | null> {
  if (on !== branch) return { kind: 'elsewhere', on, isMadeHere: git.isMadeIn(path, head) };
  return (await git.isAlias(branch)) ? { kind: 'alias' } : null;
}

/** The target has a commit that was made in this worktree, and no landing brought it there. */
async function wasMovedPastQueue(
  { board, git }: RunContext,
  task: TaskId,
  path: string,
  head: CommitId,
): Promise<boolean> {
  if (!git.isMadeIn(path, head)) return false;
  const landings = await board.list('landing', { task });
  return landings.every(
    (one) => one.head !== head && !(one.state.status === 'landed' && one.state.commit === head),
  );
}

async function landingTarget(
  context: RunContext,
  { task, agent }: GateRequest,
  baseBranch: BranchName,
): Promise<BranchName> {
  const named = agent.landing.target === undefined ? undefined : brand<BranchName>(agent.landing.target);
  const target = named ?? (await targetOf(context, baseBranch));
  if (target === undefined) throw new Error(`there is no branch that ${task.id} could land on`);
  return target;
}

async function tryAccept(
  { commands, home, policy }: RunContext,
  { task, worktree, environment }: GateRequest,
  lines: readonly string[],
): Promise<FinishFacts['accept']> {
  const outcome = await commands.run({
    name: 'accept',
    commands: lines,
    folder: worktree?.path ?? home,
    env: environment,
    timeoutMs: policy.workspace.commandTimeoutMs,
    logFolder: `${home}/.copse/logs/${task.id}`,
    leavesNothing: true,
  });
  if (outcome.kind === 'done') return 'passed';
  const { command, because, code, tail } = outcome;
  return {
    command,
    exitCode: because === 'timeout' ? null : code,
    tail: tail.slice(-policy.finish.tailLines),
  };
}

async function tryMerge(
  context: RunContext,
  { task, agent: { landing } }: GateRequest,
  { head, targetTip: onto }: GateFacts,
): Promise<FinishFacts['merge']> {
  if (head === null || onto === null) return { conflicts: [], ...NO_DETAILS };
  const unfit = await findUnfit(context, { task: task.id, onto, head, method: landing.method });
  if (unfit !== null) return { conflicts: [], ...NO_DETAILS, unfit };
  const { conflicts } = await context.merging.trial(onto, head, landing.method);
  if (conflicts.length === 0) return { conflicts, ...NO_DETAILS };
  const isQueued = landing.policy === 'auto' || landing.policy === 'review';
  const isForQueue =
    isQueued && (landing.on_conflict !== 'handback' || (await context.resolving.mayResolve({ onto, head })));
  if (isForQueue) return { conflicts, ...NO_DETAILS, isForQueue };
  return { conflicts, ...(await loadConflict(context, { onto, head }, conflicts)), isForQueue, unfit };
}

const NO_DETAILS = { with: [], hunks: [], tried: [], isForQueue: false, unfit: null } as const;

function commitMessage({ task, agent, summary }: GateRequest): string {
  const said = (summary ?? task.title).split('\n', 1)[0] ?? task.title;
  return `${agent.workspace.commit_message.replaceAll('{summary}', () => said)}\n\nTask: ${task.id}\n`;
}
