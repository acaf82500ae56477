/** The plans, and one of them: its text, its progress, what depends on what, and what landed. */

import { useMemo } from 'react';
import { Link, useSearchParams } from 'wouter';

import { shown } from '../../../../copse/src/kernel/text.ts';
import type { Plan } from '../../../../copse/src/tasks/rules/plan.ts';
import { useIsRead, useRecords } from '../../store/hooks.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Empty, NotReadYet } from '../../parts/page-state.tsx';
import { OnePlan } from './one-plan.tsx';
import styles from './plans.module.css';
import { type Progress, progressByPlan } from './progress.ts';

export default function PlansPage() {
  const plans = useRecords('plan');
  const tasks = useRecords('task');
  const isRead = useIsRead();
  const progress = useMemo(() => progressByPlan(tasks.values()), [tasks]);
  const [search] = useSearchParams();
  const ordered = useMemo(
    () => [...plans.values()].toSorted((one, other) => other.createdAt - one.createdAt),
    [plans],
  );
  const open = plans.get(search.get('plan') ?? '') ?? ordered[0];
  return (
    <div className={styles.page}>
      <PageHead title="Plans" />
      {!isRead && <NotReadYet what="the plans" />}
      {isRead && open === undefined && (
        <Empty title="There is no plan.">
          <p>A plan groups tasks and says why. Add one, then tasks for it:</p>
          <code>copse plan add "Faster start" --body "Why, and how"</code>
          <code>copse add "First step" --plan &lt;plan&gt;</code>
        </Empty>
      )}
      {open && (
        <div className={styles.both}>
          <nav aria-label="All plans">
            <ul className={styles.list}>
              {ordered.map((plan) => (
                <PlanLink key={plan.id} plan={plan} progress={progress.get(plan.id)} isOpen={plan === open} />
              ))}
            </ul>
          </nav>
          <OnePlan key={open.id} id={open.id} />
        </div>
      )}
    </div>
  );
}

interface PlanLinkProps {
  readonly plan: Plan;
  readonly progress: Progress | undefined;
  readonly isOpen: boolean;
}

function PlanLink({ plan, progress = { done: 0, total: 0 }, isOpen }: PlanLinkProps) {
  return (
    <li>
      <Link href={`/plans?plan=${plan.id}`} aria-current={isOpen ? 'true' : undefined}>
        <span>{shown(plan.title)}</span>
        <small>
          {progress.done} of {progress.total} done
        </small>
      </Link>
    </li>
  );
}
