/**
 * How an attempt ended, as hooks are told: the JSON that commands read from their standard input and that addresses get, and
 * the variables of commands. `text` is for people, under the name that chat programs read.
 */

import type { AgentName, AttemptId, NodeId, SessionId, TaskId, Timestamp } from '../../../kernel/ids.ts';
import { defaultPolicy } from '../../../kernel/policy.ts';
import { unlinked } from '../../../kernel/text.ts';
import type { HookName } from '../../../tasks/rules/attempt.ts';
import type { AttentionCause } from '../../../tasks/rules/task.ts';

export interface HookOutcome {
  readonly kind:
    | 'finished'
    | 'failed'
    | 'stuck'
    | 'over_budget'
    | 'needs_attention'
    | 'crashed'
    | 'timed_out';
  /** Null for work that finished. */
  readonly reason: string | null;
  /** Of `needs_attention`. */
  readonly because?: AttentionCause;
  readonly summary?: string | null;
  readonly exitCode: number | null;
}

export interface HookFacts {
  readonly hook: HookName;
  readonly at: Timestamp;
  readonly task: { readonly id: TaskId; readonly title: string };
  readonly agent: AgentName;
  readonly session: SessionId;
  readonly attempt: AttemptId;
  readonly node: NodeId;
  readonly worktree: {
    readonly path: string;
    readonly branch: string;
    readonly baseBranch: string;
  } | null;
  /** Null before the run. */
  readonly outcome: HookOutcome | null;
}

export interface HookView extends Omit<HookFacts, 'at' | 'outcome'> {
  readonly text: string;
  readonly at: string;
  readonly outcome:
    | (Required<Omit<HookOutcome, 'because'>> & { readonly because: AttentionCause | null })
    | null;
}

const { hookReasonLength } = defaultPolicy.commands;

export function hookView({ outcome, at, ...facts }: HookFacts): HookView {
  const { task, hook, agent } = facts;
  const reason = outcome?.reason == null ? null : short(outcome.reason);
  const what = outcome === null ? `${agent} starts` : outcomeWords[outcome.kind];
  const why = reason === null ? '' : `: ${reason.split('\n', 1)[0]}`;
  return {
    hook,
    text: unlinked(`${task.id} (${task.title}) ${what}${why}`),
    at: new Date(at).toISOString(),
    task: { id: task.id, title: task.title },
    agent,
    session: facts.session,
    attempt: facts.attempt,
    node: facts.node,
    worktree: facts.worktree,
    outcome: outcome && {
      kind: outcome.kind,
      because: outcome.because ?? null,
      reason,
      summary: outcome.summary == null ? null : short(outcome.summary),
      exitCode: outcome.exitCode,
    },
  };
}

/** For hooks that need no JSON. */
export function hookVariables({ hook, outcome }: HookFacts): Readonly<Record<string, string>> {
  const reason = outcome?.reason == null ? null : short(outcome.reason);
  return {
    COPSE_HOOK: hook,
    ...(outcome && { COPSE_OUTCOME: outcome.kind }),
    // A variable cannot hold a zero byte.
    ...(reason !== null && { COPSE_OUTCOME_REASON: reason.replaceAll('\0', ' ') }),
  };
}

const outcomeWords: Readonly<Record<HookOutcome['kind'], string>> = {
  finished: 'finished',
  failed: 'failed',
  stuck: 'is stuck',
  over_budget: 'used up its budget',
  needs_attention: 'needs attention',
  crashed: 'crashed',
  timed_out: 'exceeded its time limit',
};

/** Reasons have output of agents, of any length. Never half of a surrogate pair. */
function short(text: string): string {
  if (text.length <= hookReasonLength) return text;
  return `${text.slice(0, hookReasonLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
