/** All tasks: what needs a person, what is ready, worked on, landing and done. Live; thousands of tasks stay fluent. */

import {
  type ReactNode,
  Suspense,
  lazy,
  useCallback,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { VList, type VListHandle } from 'virtua';

import type { Session } from '../../../../copse/src/agents/rules/session/session.ts';
import type { TaskSummary } from '../../../../copse/src/tasks/rules/task.ts';
import { useNow } from '../../parts/now.ts';
import { Empty, NotAnew, NotReadYet } from '../../parts/page-state.tsx';
import { useToast } from '../../parts/toasts.tsx';
import { useDesk, useIsRead, useRecords } from '../../store/hooks.tsx';
import styles from './board.module.css';
import { Card } from './card.tsx';
import { ColumnOfCards } from './column.tsx';
import { type Column, type Placed, type TasksInColumns, columns, placed } from './columns.ts';
import { isAsking, useFacts } from './facts.ts';
import { FilterBar } from './filter-bar.tsx';
import { agentOf, agentsOf, isFiltered, useFiltered, useFilters } from './filters.ts';
import { useBoardKeys } from './use-board-keys.ts';

const AddTask = lazy(() => import('./add-task.tsx'));
const News = lazy(() => import('./news.tsx'));

export default function BoardPage() {
  const tasks = useRecords('task');
  const sessions = useRecords('session');
  const [filters, change] = useFilters();
  const [isAdding, setAdding] = useState(false);
  const all = usePlaced(tasks);
  const found = useAskingFirst(useFiltered(all, filters, sessions), sessions);
  const agents = useMemo(() => agentsOf(all, sessions), [all, sessions]);
  const { facts, overview, answers } = useFacts();
  const now = useNow();
  const search = useRef<HTMLInputElement>(null);
  const lists = useRef(new Map<string, VListHandle>());
  const isList = filters.view === 'list';
  const inList = useMemo(() => (isList ? columns.flatMap((one) => found[one]) : []), [isList, found]);
  useBoardKeys({
    found,
    inList: isList ? inList : undefined,
    scrollTo: (name, index) => lists.current.get(name)?.scrollToIndex(index, { align: 'nearest' }),
    search: () => search.current?.focus(),
    add: () => setAdding(true),
    toggleView: () => change({ view: isList ? 'columns' : 'list' }),
  });
  const { drop, asked } = useDrop(tasks);
  const cardOf = useCallback(
    (task: TaskSummary, isRow = false) => (
      <Card
        key={task.id}
        task={task}
        session={task.session === null ? undefined : sessions.get(task.session)}
        agent={agentOf(task, sessions)}
        facts={facts.get(task.id) ?? NO_FACTS}
        now={now}
        isRow={isRow}
      />
    ),
    [sessions, facts, now],
  );
  const keep = useCallback((name: string, handle: VListHandle | null) => {
    if (handle) lists.current.set(name, handle);
    else lists.current.delete(name);
  }, []);
  return (
    <div className={styles.board}>
      <FilterBar
        filters={filters}
        onChange={change}
        agents={agents}
        search={search}
        onAdd={() => setAdding(true)}
      />
      <NotAnew answers={answers} />
      {tasks.size > 0 && overview?.noAgents && (
        <p className={styles.banner}>
          {overview.noAgents.text} <code>{overview.noAgents.command}</code>
        </p>
      )}
      {tasks.size > 0 &&
        overview &&
        !overview.noAgents &&
        !overview.isOrchestrated &&
        overview.otherNodes.length === 0 && (
          <p className={styles.banner}>
            No orchestrator is running, so no task starts and none lands. Start one:{' '}
            <code>copse orchestrate</code>
          </p>
        )}
      {tasks.size === 0 && <NoTasks onAdd={() => setAdding(true)} />}
      {tasks.size > 0 && !isList && (
        <div className={styles.columns}>
          {columns.map((column) => (
            <ColumnOfCards
              key={column}
              column={column}
              tasks={found[column]}
              keep={keep}
              card={cardOf}
              onDrop={drop}
              isFiltered={isFiltered(filters)}
            />
          ))}
        </div>
      )}
      {tasks.size > 0 && isList && (
        <section className={styles.list} aria-label="Tasks">
          {inList.length === 0 ? (
            <p className={styles.none}>No task matches.</p>
          ) : (
            <VList ref={(handle) => keep('list', handle)} data={inList}>
              {(task) => cardOf(task, true)}
            </VList>
          )}
        </section>
      )}
      {tasks.size > 0 && (
        <Suspense fallback={<p className={styles.news} />}>
          <News />
        </Suspense>
      )}
      {asked}
      <Suspense fallback={null}>
        {isAdding && <AddTask agents={agents} onClose={() => setAdding(false)} />}
      </Suspense>
    </div>
  );
}

const NO_FACTS = {};

function usePlaced(tasks: ReadonlyMap<string, TaskSummary>): TasksInColumns {
  const before = useRef<Placed>(undefined);
  return useMemo(() => {
    before.current = placed(tasks, before.current);
    return before.current.columns;
  }, [tasks]);
}

/** A task whose agent waits for a person needs the person, whatever its status. */
function useAskingFirst(found: TasksInColumns, sessions: ReadonlyMap<string, Session>): TasksInColumns {
  return useMemo(() => {
    const isAsked = ({ session }: TaskSummary) => session !== null && isAsking(sessions.get(session));
    const asking = found.working.filter(isAsked);
    if (asking.length === 0) return found;
    const working = found.working.filter((task) => !isAsked(task));
    return { ...found, needs: [...asking, ...found.needs], working };
  }, [found, sessions]);
}

function NoTasks({ onAdd }: { readonly onAdd: () => void }) {
  if (!useIsRead()) return <NotReadYet what="the board" />;
  return (
    <Empty title="The board is empty.">
      <p>Add the first task here, or in a terminal:</p>
      <code>copse add "Fix the login page"</code>
      <button type="button" onClick={onAdd}>
        Add a task
      </button>
    </Empty>
  );
}

function useDrop(tasks: ReadonlyMap<string, TaskSummary>) {
  const toast = useToast();
  const { client } = useDesk();
  const [asked, ask] = useState<ReactNode>(null);
  const dropped = async (id: string, column: Column, over = '') => {
    // Few cards are dragged; the first one loads it.
    const { dropCard } = await import('./drop-card.tsx');
    dropCard(tasks.get(id), column, tasks.get(over), { client, toast, ask });
  };
  const latest = useRef(dropped);
  useLayoutEffect(() => {
    latest.current = dropped;
  });
  // Always the same one: another one would draw every column anew.
  const drop = useCallback((...given: Parameters<typeof dropped>) => void latest.current(...given), []);
  return { drop, asked };
}
