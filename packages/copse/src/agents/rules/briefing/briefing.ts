/**
 * Everything an agent is told at the beginning of an attempt, as facts. What is made of them for people and agents to read
 * is in texts.ts, for programs in agents/run/session-context.ts.
 *
 * Much of it was written by people and by agents, and some of those may wish to be taken for Copse. So the facts hold it
 * cut to a bearable length and marked as cut; whoever renders them keeps it apart from Copse's own words (fence.ts).
 */

import type { BeginOf } from '../session/begin.ts';
import type {
  AgentName,
  AttemptId,
  CommitId,
  PlanId,
  SessionId,
  TaskId,
  Timestamp,
} from '../../../kernel/ids.ts';
import type { LedgerEntry } from '../../../tasks/rules/ledger.ts';
import type { Priority } from '../../../tasks/rules/priority.ts';
import type { TaskDefinition, TaskStatus } from '../../../tasks/rules/task.ts';

/** The beginning of a text, and how many characters of it are missing. */
export interface Excerpt {
  readonly text: string;
  readonly omitted: number;
}

/** Some of a list, and how many of it are missing. */
export interface Some<T> {
  readonly listed: readonly T[];
  readonly omitted: number;
}

export interface Briefing {
  readonly at: Timestamp;
  readonly session: SessionId;
  readonly attempt: AttemptId;
  readonly agent: AgentName;
  readonly begin: BriefedBegin;
  readonly task: BriefedTask;
  readonly plan: BriefedPlan | null;
  readonly dependencies: readonly TaskMention[];
  /** Of this task and of those that it depends on, oldest first. */
  readonly ledger: Some<BriefedEntry>;
  /** Null for work without a worktree. */
  readonly git: GitState | null;
  readonly nearby: Some<Neighbour>;
  /** Branches that get in the way of this one, as far as the conflict radar has looked. */
  readonly collisions: Some<Collision>;
  /** How often it crashed since it last went well, and how often it may. */
  readonly crashes: { readonly count: number; readonly limit: number };
  /** The variables that the agent's processes have. */
  readonly environment: Readonly<Record<string, string>>;
  /** What else was noticed while the workspace was made ready. */
  readonly notes: readonly string[];
}

interface BriefedTask extends Pick<TaskDefinition, 'kind' | 'areas' | 'requires' | 'workItem'> {
  readonly id: TaskId;
  readonly title: string;
  readonly body: Excerpt;
  readonly priority: Priority;
  /** Commands that have to succeed before the work counts as finished. */
  readonly accept: readonly string[];
  readonly isConventionRequired: boolean;
}

export type BriefedBegin = BeginOf<Excerpt>;

export interface TaskMention {
  readonly id: TaskId;
  readonly title: string;
  readonly status: TaskStatus;
}

export interface BriefedPlan {
  readonly id: PlanId;
  readonly title: string;
  readonly body: Excerpt;
  readonly tasks: Some<TaskMention>;
}

export interface BriefedEntry extends Omit<LedgerEntry, 'text'> {
  readonly text: Excerpt;
}

export interface GitState {
  readonly worktree: string;
  /** Null when HEAD is detached. */
  readonly branch: string | null;
  /** The branch that belongs to the task. */
  readonly ownBranch: string;
  readonly base: { readonly branch: string; readonly commit: CommitId };
  readonly head: CommitId;
  /** A merge, rebase or the like that is not finished. */
  readonly operation: string | null;
  /** What the branch has and its base has not, newest first. */
  readonly commits: Some<{ readonly id: CommitId; readonly subject: string }>;
  readonly changed: Some<string>;
  readonly untracked: Some<string>;
  /** What was saved of earlier attempts, newest first. */
  readonly rescues: Some<{ readonly ref: string; readonly at: Timestamp; readonly changed: number }>;
}

/** Somebody else who is at work at the same time. */
export interface Neighbour extends TaskMention {
  readonly agent: AgentName | null;
  readonly areas: readonly string[];
  /** One area of each side that can meet, if any can. */
  readonly meets: readonly [mine: string, theirs: string] | null;
}

/** Another branch that changes the same files: `conflict` where git cannot merge the two. */
export interface Collision extends TaskMention {
  readonly how: 'conflict' | 'overlap';
  readonly files: Some<string>;
}

/** Where an agent finds what was written for it: relative to its worktree where it is in there, otherwise absolute. */
export interface ContextNames {
  readonly context: string;
  readonly facts: string;
  readonly prompt: string;
  readonly instructions: string;
  /** Null for work without a worktree. */
  readonly report: string | null;
}

export function excerpt(text: string, length: number): Excerpt {
  if (text.length <= length) return { text, omitted: 0 };
  const isHalf = isHighSurrogate(text.charCodeAt(length - 1));
  const kept = text.slice(0, isHalf ? length - 1 : length);
  return { text: kept, omitted: text.length - kept.length };
}

export function someOf<T>(all: readonly T[], count: number): Some<T> {
  return { listed: all.slice(0, count), omitted: Math.max(0, all.length - count) };
}

/** For lists whose end matters most. */
export function lastOf<T>(all: readonly T[], count: number): Some<T> {
  const omitted = Math.max(0, all.length - count);
  return { listed: all.slice(omitted), omitted };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
