/** Which tasks the board shows. It is kept in the address, so that it can be shared and survives a reload. */

import { useMemo } from 'react';
import { useSearchParams } from 'wouter';

import type { Session } from '../../../../copse/src/agents/rules/session/session.ts';
import { type TaskStatus, type TaskSummary, taskStatuses } from '../../../../copse/src/tasks/rules/task.ts';
import { type Column, type TasksInColumns, columns } from './columns.ts';

export interface Filters {
  readonly text: string;
  readonly status: TaskStatus | '';
  readonly agent: string;
  readonly plan: string;
  readonly view: 'columns' | 'list';
}

const NAMES = { text: 'q', status: 'status', agent: 'agent', plan: 'plan', view: 'view' } as const;

export function useFilters(): readonly [Filters, (changes: Partial<Filters>) => void] {
  const [params, setParams] = useSearchParams();
  const status = params.get('status') ?? '';
  const filters: Filters = {
    text: params.get('q') ?? '',
    status: isStatus(status) ? status : '',
    agent: params.get('agent') ?? '',
    plan: params.get('plan') ?? '',
    view: params.get('view') === 'list' ? 'list' : 'columns',
  };
  const change = (changes: Partial<Filters>) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes) as [keyof Filters, string][])
          if (value === '' || value === 'columns') next.delete(NAMES[name]);
          else next.set(NAMES[name], value);
        return next;
      },
      { replace: true },
    );
  return [filters, change];
}

export function isFiltered({ text, status, agent, plan }: Filters): boolean {
  return text.trim() !== '' || status !== '' || agent !== '' || plan !== '';
}

function isStatus(text: string): text is TaskStatus {
  return (taskStatuses as readonly string[]).includes(text);
}

type Sessions = ReadonlyMap<string, Session>;

/** Who works on it, who worked on it last, or who alone may take it. */
export function agentOf({ state, session, agent }: TaskSummary, sessions: Sessions): string | null {
  if (state.status === 'in_progress') return state.claim.agent;
  return (session === null ? undefined : sessions.get(session)?.agent) ?? agent;
}

/** A column that did not change is not filtered again. */
export function useFiltered(all: TasksInColumns, filters: Filters, sessions: Sessions): TasksInColumns {
  const { text, status, agent, plan } = filters;
  // Sessions change with every report of an agent; they matter here only while tasks are chosen by agent.
  const relevant = agent === '' ? null : sessions;
  const isWanted = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0 && status === '' && agent === '' && plan === '') return undefined;
    return (task: TaskSummary) =>
      (status === '' || task.state.status === status) &&
      (plan === '' || task.plan === plan) &&
      (relevant === null || agentOf(task, relevant) === agent) &&
      (words.length === 0 || hasWords(task, words));
  }, [text, status, agent, plan, relevant]);
  const needs = useColumn(all.needs, isWanted);
  const ready = useColumn(all.ready, isWanted);
  const working = useColumn(all.working, isWanted);
  const landing = useColumn(all.landing, isWanted);
  const done = useColumn(all.done, isWanted);
  return useMemo(
    () => ({ needs, ready, working, landing, done }) satisfies Record<Column, readonly TaskSummary[]>,
    [needs, ready, working, landing, done],
  );
}

function useColumn(
  tasks: readonly TaskSummary[],
  isWanted: ((task: TaskSummary) => boolean) | undefined,
): readonly TaskSummary[] {
  return useMemo(() => (isWanted ? tasks.filter(isWanted) : tasks), [tasks, isWanted]);
}

function hasWords({ id, title }: TaskSummary, words: readonly string[]): boolean {
  const name = `${id} ${title}`.toLowerCase();
  return words.every((word) => name.includes(word));
}

/** Names to choose from. */
export function agentsOf(all: TasksInColumns, sessions: Sessions): readonly string[] {
  const found = new Set<string>();
  for (const { agent } of sessions.values()) found.add(agent);
  for (const column of columns) for (const { agent } of all[column]) if (agent !== null) found.add(agent);
  return [...found].toSorted();
}
