/** The merge queues: which checks ran in which slot, what waits and for how long, and what holds a queue up. */

import { counted, shown } from '../../../../copse/src/kernel/text.ts';
import type { OutputOf } from '../../api/operations.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { Empty, Loading, NotAnew, Refused } from '../../parts/page-state.tsx';
import { useAnswer } from '../../store/hooks.tsx';
import { Alarms } from './alarms.tsx';
import { Controls } from './controls.tsx';
import { Entries } from './entries.tsx';
import { Figures } from './figures.tsx';
import { Lanes } from './lanes.tsx';
import styles from './queue.module.css';

export type Queue = OutputOf<'queue.list'>['queues'][number];

/** A lead that ends is no event. */
const LOOK_AGAIN_MS = 10_000;

export default function QueuePage() {
  const answer = useAnswer(
    'queue.list',
    {},
    { about: ['queue', 'landing', 'task', 'check'], everyMs: LOOK_AGAIN_MS },
  );
  const queues = answer.data?.queues;
  return (
    <div className={styles.page}>
      <PageHead title="Queue" />
      <NotAnew answers={[answer]} />
      {queues === undefined && answer.error && (
        <Refused problem={answer.error} onAgain={() => void answer.refetch()} />
      )}
      {queues === undefined && !answer.error && <Loading what="the merge queue" />}
      {queues?.length === 0 && (
        <Empty title="There is no branch to land on yet.">
          <p>Make the first commit, or name the branch:</p>
          <code>copse config check</code>
        </Empty>
      )}
      {queues?.map((queue) => (
        <QueueOfTarget key={queue.target} queue={queue} />
      ))}
    </div>
  );
}

function QueueOfTarget({ queue }: { readonly queue: Queue }) {
  const { target, entries, isVerified, slots } = queue;
  return (
    <section className={styles.queue} aria-label={`Queue of ${shown(target)}`}>
      <header className={styles.head}>
        <h2>{shown(target)}</h2>
        <p>{headlineOf(queue)}</p>
        <Controls queue={queue} />
      </header>
      <Alarms queue={queue} />
      {isVerified && slots.of > 0 && <Lanes queue={queue} />}
      {entries.length === 0 ? <Idle queue={queue} /> : <Entries queue={queue} />}
      <Figures queue={queue} />
    </section>
  );
}

function headlineOf({ entries, slots, isVerified, train }: Queue): string {
  if (entries.length === 0) return 'the queue is empty';
  const checks = isVerified ? `${slots.busy} of ${slots.of} slots busy` : 'no checks are set';
  return [`${entries.length} in the queue`, checks, ...(train > 0 ? [`${train} passed`] : [])].join(' · ');
}

function Idle({ queue }: { readonly queue: Queue }) {
  const count = queue.landed.length;
  return (
    <Empty title="Nothing waits to land.">
      <p>
        {count === 0
          ? 'A finished task joins the queue'
          : `The last ${counted(count, 'landing')} are below. A finished task joins the queue`}
        , or you put it there:
      </p>
      <code>copse merge &lt;task&gt;</code>
    </Empty>
  );
}
