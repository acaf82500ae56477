/**
 * What an attempt does before its first turn: end earlier attempts of the same task, prepare the workspace, rescue what a
 * predecessor left uncommitted, repair the worktree, remove the earlier report.
 */

import { withFirstStep } from '../../kernel/shell.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import type { NoBase, Task } from '../../tasks/rules/task.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';
import type { Workspace } from '../../workspaces/rules/workspace.ts';
import { type Prepared, prepareWorkspace } from '../../workspaces/act/prepare.ts';
import { rescueFirst } from '../../workspaces/discard/rescue-first.ts';
import { processList } from '../../kernel/process.ts';
import { backoffMs } from '../../kernel/backoff.ts';
import { endAttempt } from '../act/recover.ts';
import { reportFolder } from '../act/report.ts';
import type { Orders } from '../ports/runners.ts';
import type { AttemptContext } from './context.ts';
import type { BriefedImport } from '../rules/briefing/briefing.ts';
import { placeImports } from './imports.ts';
import { saysProblem } from './share/travel.ts';
import { type PreparedWorkspace, asNode } from './surroundings.ts';

export type AttemptPlace =
  | {
      readonly kind: 'prepared';
      readonly workspace: PreparedWorkspace;
      /** Null for a task without a worktree. */
      readonly worktree: string | null;
      readonly imports: readonly BriefedImport[];
    }
  /** Another process uses what the workspace needs and will give it back. */
  | { readonly kind: 'busy'; readonly until: Timestamp }
  | { readonly kind: 'failed'; readonly reason: string }
  /** It fails again until a person changes something. */
  | { readonly kind: 'impossible'; readonly reason: string; readonly lacks?: NoBase }
  | { readonly kind: 'lost' };

export async function prepareAttempt(
  context: AttemptContext,
  orders: Orders,
  task: Task,
  lost: AbortSignal,
): Promise<AttemptPlace> {
  await endEarlier(context, orders);
  const prepared = await prepareWhenFree(context, orders, task, lost);
  if (prepared === 'lost') return { kind: 'lost' };
  if (prepared.kind !== 'prepared') {
    const { because, reason } = prepared;
    context.log(reason);
    const kind = REFUSALS[because];
    // A person reads it later and elsewhere, so it says which command helps.
    if (because === 'no_base')
      return {
        kind: 'impossible',
        reason: withFirstStep(reason, prepared.next.join(' && ')),
        ...(prepared.lacks && { lacks: prepared.lacks }),
      };
    if (kind !== 'busy') return { kind, reason };
    return { kind, until: (context.clock.now() + context.policy.session.takenDelayMs) as Timestamp };
  }
  const worktree = prepared.branch === null && prepared.base === null ? null : prepared.path;
  if (worktree !== null) {
    if (!prepared.isTakenOver)
      await rescueFirst(context, { task: task.id, worktree, why: 'retry', at: context.clock.now() });
    await settleWorktree(context, prepared.workspace);
  }
  const folder = reportFolder(context, task.id, worktree);
  context.reports.clear(folder);
  const placed = await placeImports(context, task, { strategy: prepared.workspace.strategy, folder });
  if (placed.kind === 'impossible') return placed;
  return { kind: 'prepared', workspace: prepared, worktree, imports: placed.imports };
}

/**
 * Two attempts never work side by side: another node may have given up an attempt whose runner here was only suspended, and
 * the process that stopped an attempt may have been killed before the runner was gone.
 */
async function endEarlier(context: AttemptContext, { task, attempt }: Orders): Promise<void> {
  const { board, node, occupancy, runners } = context;
  for (const { id, node: where, process } of await board.list('attempt', { task })) {
    if (id === attempt || where !== node) continue;
    const isAlive = process !== null && (await occupancy.isAlive(process));
    if (!isAlive && (await runners.processesOf(id)).length === 0) continue;
    const remaining = await endAttempt(context, task, id);
    if (remaining.length > 0)
      throw new Error(`processes of an earlier attempt cannot be ended: ${processList(remaining)}`);
  }
}

/** Waits while another process prepares or removes the same worktree, and while the remote with its work is away. */
async function prepareWhenFree(
  context: AttemptContext,
  { agent, session, token, attempt }: Orders,
  task: Task,
  lost: AbortSignal,
): Promise<Prepared | 'lost'> {
  let failures = 0;
  const until = context.clock.elapsedMs() + context.policy.session.workspaceBusyMs;
  for (;;) {
    const prepared = await prepareWorkspace(asNode(context), { task, agent, session, token });
    if (lost.aborted) return 'lost';
    if (prepared.kind !== 'prepared' && prepared.because === 'remote_away') {
      failures += 1;
      await saysProblem(context, attempt, prepared.reason);
      const { firstAgainMs: firstMs, mostAgainMs: mostMs } = context.policy.travel;
      await context.clock.sleep(backoffMs(failures, { firstMs, mostMs }), lost);
      continue;
    }
    if (failures > 0) await saysProblem(context, attempt, null);
    const isBusy = prepared.kind !== 'prepared' && prepared.because === 'busy';
    if (!isBusy || context.clock.elapsedMs() >= until) return prepared;
    await context.clock.sleep(context.policy.session.workspaceBusyLookMs, lost);
  }
}

/** `busy`: another process has the resource now and will give it back. `failed`: it may go better the next time. */
const REFUSALS: Readonly<
  Record<Extract<Prepared, { kind: 'refused' }>['because'], 'busy' | 'failed' | 'impossible'>
> = {
  taken: 'busy',
  busy: 'busy',
  occupied: 'busy',
  no_ports: 'busy',
  remote_away: 'busy',
  no_base: 'impossible',
  bad_branch: 'impossible',
  setup_failed: 'failed',
};

/**
 * A killed git leaves locks, and a killed `copse sync` a worktree that is half updated. Repairs both once no git runs in the
 * worktree; a git that runs there may be a person's.
 */
export async function settleWorktree(
  { git, occupancy, sync }: WorkspaceContext,
  { task, worktree }: Pick<Workspace, 'task' | 'worktree'>,
): Promise<void> {
  if (worktree === null || (await git.locks(worktree.path)).length === 0) return;
  await git.tryLock(`task-${task}`, async () => {
    const inside = await occupancy.inside(worktree.path, { roots: [], sessions: [] });
    if (inside.kind !== 'known' || inside.processes.some(({ name }) => name.startsWith('git'))) return;
    await sync.settle(worktree.path, worktree.branch);
  });
}
