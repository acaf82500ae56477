/** When agents start without a person, and when they did last. */

import { Link } from 'wouter';

import { passCauses } from '../../../../copse/src/intake/rules/schedule.ts';
import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import { spanText } from '../../../../copse/src/kernel/time.ts';
import type { OutputOf } from '../../api/operations.ts';
import { Act } from '../../parts/act.tsx';
import { Empty, Refused } from '../../parts/page-state.tsx';
import type { Answer } from '../../store/hooks.tsx';
import { momentText } from '../../parts/moment.ts';
import styles from './fleet.module.css';

type Schedule = OutputOf<'schedule.list'>['schedules'][number];

export function Schedules({ answer }: { readonly answer: Answer<'schedule.list'> }) {
  const schedules = answer.data?.schedules;
  return (
    <section className={styles.part} aria-labelledby="schedules">
      <h2 id="schedules">Schedules</h2>
      {schedules === undefined && answer.error && (
        <Refused problem={answer.error} onAgain={() => void answer.refetch()} />
      )}
      {schedules?.length === 0 && (
        <Empty title="No schedule is set.">
          <p>An agent of copse.yml may have some under its key schedules. How:</p>
          <code>copse schedule --help</code>
        </Empty>
      )}
      <ul className={styles.rows}>
        {schedules?.map((schedule) => (
          <ScheduleRow key={schedule.id} schedule={schedule} />
        ))}
      </ul>
    </section>
  );
}

function ScheduleRow({ schedule }: { readonly schedule: Schedule }) {
  const { id, timing, pausedAt, next, owed, lastRun, lastPassed } = schedule;
  const word = shellWord(id);
  const [soonest] = next;
  return (
    <li>
      <div className={styles.what}>
        <strong>{shown(id)}</strong>
        <span>
          {timing === null
            ? 'times unknown'
            : timing.type === 'interval'
              ? `every ${spanText(timing.everyMs)}`
              : `${timing.words} (${timing.timeZone})`}
        </span>
      </div>
      <p>
        {pausedAt !== null
          ? '‖ paused'
          : soonest === undefined
            ? 'no next run'
            : `next ${momentText(soonest)}`}
        {owed > 0 && ` · ${owed} waiting`}
      </p>
      <p>
        {lastRun === null ? (
          'never ran'
        ) : (
          <>
            last <Link href={`/tasks/${lastRun.task}`}>{lastRun.task}</Link>{' '}
            {lastRun.at && momentText(lastRun.at)}
          </>
        )}
        {lastPassed && (
          <small>
            {' '}
            left out {momentText(lastPassed.at)}: {passCauses[lastPassed.because]}
          </small>
        )}
      </p>
      <div className={styles.buttons}>
        <Act
          name="schedule.run"
          input={{ schedule: id }}
          label="Run now"
          command={`copse schedule run ${word}`}
          done={({ task }) => ({ text: `Started ${task.id}.`, next: [`copse show ${task.id}`] })}
        />
        {pausedAt === null ? (
          <Act
            name="schedule.pause"
            input={{ schedule: id }}
            label="Pause"
            command={`copse schedule pause ${word}`}
            done={() => ({ text: `${id} is paused.`, next: [`copse schedule resume ${word}`] })}
          />
        ) : (
          <Act
            name="schedule.resume"
            input={{ schedule: id }}
            label="Resume"
            command={`copse schedule resume ${word}`}
            done={() => ({ text: `${id} starts agents again.` })}
          />
        )}
      </div>
    </li>
  );
}
