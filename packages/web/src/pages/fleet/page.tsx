/** The machines that share the board, and what starts work on them by time or from outside. */

import { PageHead } from '../../parts/page-head.tsx';
import { Empty, Loading, NotAnew, Refused } from '../../parts/page-state.tsx';
import { type Answer, useAnswer } from '../../store/hooks.tsx';
import { Machine } from './machine.tsx';
import { Jobs } from './jobs.tsx';
import { Schedules } from './schedules.tsx';
import { Sources } from './sources.tsx';
import styles from './fleet.module.css';

/** Neither silence nor a reading of a source that changed nothing is an event. */
const LOOK_AGAIN_MS = 5_000;

export default function FleetPage() {
  const machines = useAnswer('node.list', {}, { about: ['node', 'task'], everyMs: LOOK_AGAIN_MS });
  const agents = useAnswer('agent.list', {}, { about: ['session', 'task'] });
  const schedules = useAnswer('schedule.list', {}, { about: ['schedule', 'task'] });
  const sources = useAnswer('source.list', {}, { about: ['item'], everyMs: LOOK_AGAIN_MS });
  const jobs = useAnswer('job.list', {}, { about: ['task'] });
  const all = [machines, agents, schedules, sources, jobs];
  const isAway = all.every(({ isLoadingError }) => isLoadingError);
  return (
    <div className={styles.page}>
      <PageHead title="Fleet" />
      {/* All parts at once: a later one would push those below it down. */}
      {all.some(({ isPending }) => isPending) ? (
        <Loading what="machines, schedules and sources" />
      ) : machines.error && isAway ? (
        <Refused
          problem={machines.error}
          onAgain={() => void Promise.all(all.map((answer) => answer.refetch()))}
        />
      ) : (
        <>
          <NotAnew answers={all} />
          <Machines answer={machines} agents={agents} />
          <Schedules answer={schedules} />
          <Sources answer={sources} />
          <Jobs answer={jobs} />
        </>
      )}
    </div>
  );
}

interface MachinesProps {
  readonly answer: Answer<'node.list'>;
  readonly agents: Answer<'agent.list'>;
}

function Machines({ answer: { data, error, refetch }, agents }: MachinesProps) {
  const nodes = data?.nodes;
  return (
    <section className={styles.part} aria-label="Machines">
      {nodes === undefined && error && <Refused problem={error} onAgain={() => void refetch()} />}
      {nodes?.length === 0 && (
        <Empty title="No machine has joined this board.">
          <p>A machine joins when its orchestrator starts:</p>
          <code>copse orchestrate</code>
        </Empty>
      )}
      <ul className={styles.machines}>
        {nodes?.map((node) => (
          <Machine key={node.id} node={node} running={agents.data?.running ?? []} />
        ))}
      </ul>
      {agents.data === undefined && agents.error && (
        <Refused problem={agents.error} onAgain={() => void agents.refetch()} />
      )}
    </section>
  );
}
