/**
 * What cards say beside the task itself: why it waits, the next command, its place in the queue, branches that conflict. Two
 * answers for the whole board, no request for a card; a task that is in neither has the words of its own record.
 */

import { useMemo } from 'react';

import type { Session } from '../../../../copse/src/agents/rules/session/session.ts';
import { reasonLine } from '../../../../copse/src/explain/rules/reason.ts';
import { delayText, doneText, statusTexts } from '../../../../copse/src/explain/rules/status.ts';
import type { Timestamp } from '../../../../copse/src/kernel/ids.ts';
import { named } from '../../../../copse/src/kernel/text.ts';
import {
  type TaskSummary,
  statusesForPeople,
  suggestCommands,
} from '../../../../copse/src/tasks/rules/task.ts';
import type { OutputOf } from '../../api/operations.ts';
import { phaseWord } from '../../parts/status-word.ts';
import { type AnyAnswer, useAnswer } from '../../store/hooks.tsx';

export interface CardFacts {
  readonly why?: string;
  readonly command?: string;
  readonly radar?: RadarMark;
}

export interface RadarMark {
  readonly kind: 'conflict' | 'overlap';
  readonly others: readonly string[];
}

type FactsOfTasks = ReadonlyMap<string, CardFacts>;

/** Only the most urgent of the ready ones are looked at, as in `copse status`. */
const READY = 50;
const MOST_COMPARED = 300;
const STATUS_MS = 1_500;
const RADAR_MS = 4_000;

type Overview = OutputOf<'board.status'>;

interface Facts {
  readonly facts: FactsOfTasks;
  readonly overview: Overview | undefined;
  readonly answers: readonly AnyAnswer[];
}

export function useFacts(): Facts {
  const status = useAnswer(
    'board.status',
    { readyLimit: READY },
    { about: ['task', 'session', 'landing', 'queue', 'node'], mostEveryMs: STATUS_MS },
  );
  const list = useAnswer(
    'task.list',
    {
      status: ['in_progress', 'paused', 'stuck', 'in_review', 'needs_attention', 'landing'],
      limit: MOST_COMPARED,
    },
    { about: ['task', 'landing'], mostEveryMs: RADAR_MS },
  );
  const facts = useMemo(() => factsOf(status.data, list.data), [status.data, list.data]);
  return { facts, overview: status.data, answers: [status, list] };
}

function factsOf(overview: Overview | undefined, listed: OutputOf<'task.list'> | undefined): FactsOfTasks {
  const facts = new Map<string, CardFacts>();
  const add = (task: string, more: CardFacts) => facts.set(task, { ...facts.get(task), ...more });
  for (const { task, reason, command } of overview?.needsYou ?? []) add(task, { why: reason, command });
  for (const { task, lastLine } of overview?.working ?? []) if (lastLine) add(task, { why: lastLine });
  for (const { task, position, of, why } of overview?.landing ?? [])
    add(task, { why: `${position} of ${of}: ${why}` });
  for (const { task, why } of overview?.ready ?? []) if (why !== '') add(task, { why });
  for (const { id, collisions } of listed?.tasks ?? []) {
    const others = (kind: RadarMark['kind']) =>
      collisions.filter(({ verdict }) => verdict === kind).map(({ task }) => task);
    const [conflict, overlap] = [others('conflict'), others('overlap')];
    if (conflict.length > 0) add(id, { radar: { kind: 'conflict', others: conflict } });
    else if (overlap.length > 0) add(id, { radar: { kind: 'overlap', others: overlap } });
  }
  return facts;
}

/** In one line, from the answers or from the record alone. */
export function whyOf(
  task: TaskSummary,
  { why }: CardFacts,
  session: Session | undefined,
  now: Timestamp,
): string {
  if (why !== undefined) return why;
  const { state, dependsOn } = task;
  switch (state.status) {
    case 'pending':
      return dependsOn.length === 0 ? statusTexts.pending : `waiting for ${named(dependsOn)}`;
    case 'ready':
      return state.delay === null ? statusTexts.ready : delayText(state.delay);
    case 'done':
      return doneText(state);
    default:
      // The card names the status beside its id.
      return reasonLine(task, { session }, now) ?? '';
  }
}

/** The next command of a task that waits for a person; null where it goes on without one. */
export function nextOf(
  task: TaskSummary,
  { command }: CardFacts,
  session: Session | undefined,
): string | null {
  if (command !== undefined) return command;
  if (isAsking(session)) return `copse ${session?.question?.answer === null ? 'answer' : 'logs'} ${task.id}`;
  const { status } = task.state;
  return status === 'paused' || statusesForPeople.includes(status) ? suggestCommands(task)[0] : null;
}

/** Its agent runs and waits for a person. */
export function isAsking(session: Session | undefined): boolean {
  if (session?.state.life !== 'live') return false;
  return session.state.attention !== null || session.question?.answer === null;
}

export function phaseOf(session: Session | undefined): string | null {
  return session?.state.life === 'live' ? phaseWord(session.state.phase) : null;
}
