import { Suspense, lazy, useMemo } from 'react';
import { Link } from 'wouter';

import { shown } from '../../../../copse/src/kernel/text.ts';
import type { TaskStatus } from '../../../../copse/src/tasks/rules/task.ts';
import type { OutputOf } from '../../api/operations.ts';
import { momentText } from '../../parts/moment.ts';
import { statusWord } from '../../parts/status-word.ts';
import { Loading, NotAnew, Refused } from '../../parts/page-state.tsx';
import { useAnswer, useRecords } from '../../store/hooks.tsx';
import { Markdown } from './markdown.tsx';
import styles from './plans.module.css';
import { type GraphTask, criticalPath } from './progress.ts';

type Shown = OutputOf<'plan.show'>;

const Graph = lazy(() => import('./graph.tsx'));

export function OnePlan({ id }: { readonly id: string }) {
  const answer = useAnswer('plan.show', { plan: id }, { about: ['plan', 'task', 'landing'] });
  const plan = answer.data;
  if (plan === undefined)
    return answer.error ? (
      <Refused problem={answer.error} onAgain={() => void answer.refetch()} />
    ) : (
      <Loading what="the plan" />
    );
  // The graph is tall: what is below it must not move when it is there.
  return (
    <Suspense fallback={<Loading what="the plan" />}>
      <NotAnew answers={[answer]} />
      <PlanShown plan={plan} />
    </Suspense>
  );
}

/** More cannot be read as a picture; the list has all of them. */
const MOST_IN_GRAPH = 300;

function PlanShown({ plan }: { readonly plan: Shown }) {
  const all = useRecords('task');
  const tasks = useMemo(() => withOutside(plan.tasks, all), [plan.tasks, all]);
  const critical = useMemo(() => criticalPath(tasks), [tasks]);
  const hasEdges = tasks.some(({ dependsOn }) => dependsOn.length > 0);
  return (
    <article className={styles.plan} aria-label={shown(plan.title)}>
      <header>
        <h2>{shown(plan.title)}</h2>
        <code>copse plan show {plan.id}</code>
      </header>
      <ProgressBar plan={plan} />
      {plan.body !== '' && <Markdown text={plan.body} />}
      {hasEdges && tasks.length <= MOST_IN_GRAPH && <Graph tasks={tasks} critical={critical} />}
      {hasEdges && tasks.length > MOST_IN_GRAPH && (
        <p className={styles.none}>
          {`No graph: ${tasks.length} tasks with dependencies are more than the ${MOST_IN_GRAPH} that it can show. The list below has all of them.`}
        </p>
      )}
      {critical.length > 0 && (
        <p>
          <strong>Critical path:</strong> {critical.join(' → ')}
        </p>
      )}
      <TaskList plan={plan} critical={critical} />
      <Landed plan={plan} />
    </article>
  );
}

/** Tasks of other plans that these wait for are in the picture too. */
function withOutside(
  tasks: Shown['tasks'],
  all: ReadonlyMap<
    string,
    { readonly title: string; readonly state: { readonly status: GraphTask['status'] } }
  >,
): readonly GraphTask[] {
  const own = new Set(tasks.map(({ id }) => id));
  const outside = new Set(tasks.flatMap(({ dependsOn }) => dependsOn).filter((id) => !own.has(id)));
  return [
    ...[...outside].flatMap((id) => {
      const task = all.get(id);
      return task ? [{ id, title: task.title, status: task.state.status, dependsOn: [] }] : [];
    }),
    ...tasks.map(({ id, title, status, dependsOn }) => ({ id, title, status, dependsOn })),
  ];
}

function ProgressBar({ plan: { progress } }: { readonly plan: Shown }) {
  const { total, byStatus } = progress;
  const done = byStatus.done ?? 0;
  const parts = Object.entries(byStatus).map(
    ([status, count]) => `${count} ${statusWord(status as TaskStatus)}`,
  );
  return (
    <div className={styles.progress}>
      <progress value={done} max={Math.max(1, total)} aria-label={`${done} of ${total} tasks done`} />
      <p>
        {done} of {total} done{parts.length > 0 && `: ${parts.join(', ')}`}
      </p>
    </div>
  );
}

function TaskList({ plan, critical }: { readonly plan: Shown; readonly critical: readonly string[] }) {
  const isCritical = useMemo(() => new Set(critical), [critical]);
  if (plan.tasks.length === 0)
    return (
      <p className={styles.none}>
        It has no tasks yet: <code>copse add "…" --plan {plan.id}</code>
      </p>
    );
  return (
    <section aria-label="Tasks of the plan">
      <h3>Tasks</h3>
      <ul className={styles.tasks}>
        {plan.tasks.map(({ id, title, status, dependsOn }) => (
          <li key={id}>
            <Link href={`/tasks/${id}`}>
              <code>{id}</code> {shown(title)}
            </Link>
            <span>
              {statusWord(status)}
              {dependsOn.length > 0 && ` · after ${dependsOn.join(', ')}`}
              {isCritical.has(id) && ' · critical'}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Landed({ plan: { landed, tasks } }: { readonly plan: Shown }) {
  const titles = new Map(tasks.map(({ id, title }) => [id, title]));
  if (landed.length === 0) return null;
  return (
    <section aria-label="Landed commits">
      <h3>Landed</h3>
      <ul className={styles.tasks}>
        {landed.map(({ task, commit, at }) => (
          <li key={commit}>
            <Link href={`/tasks/${task}`}>
              <code>{task}</code> {shown(titles.get(task) ?? '')}
            </Link>
            <span>
              <code>{commit.slice(0, 10)}</code> · {momentText(at)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
