/** What holds up the whole queue: each with its reason, since when, and what ends it. */

import { age } from '../../../../copse/src/explain/rules/amounts.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import { splitRemark } from '../../../../copse/src/kernel/shell.ts';
import { timestamp } from '../../../../copse/src/kernel/ids.ts';
import { Act } from '../../parts/act.tsx';
import { Resume } from './controls.tsx';
import type { Queue } from './page.tsx';
import { brief } from '../../parts/clipped.ts';
import { useNow } from '../../parts/now.ts';
import styles from './queue.module.css';

type Alarm = Queue['alarms'][number];

const WORDS: Readonly<Record<Alarm['kind'], string>> = {
  paused: 'Paused',
  closed: 'Closed',
  stalled: 'Stalled',
  no_checks: 'Checks cannot run',
  red: 'Target is red',
  no_leader: 'No leader',
};

export function Alarms({ queue }: { readonly queue: Queue }) {
  const now = useNow();
  if (queue.alarms.length === 0) return null;
  return (
    <ul className={styles.alarms} aria-label="What holds the queue up">
      {queue.alarms.map((alarm) => (
        <li key={alarm.kind} data-kind={alarm.kind}>
          <p>
            <strong>
              <span aria-hidden="true">⚠</span> {WORDS[alarm.kind]}
              {alarm.since && ` for ${age(timestamp(Date.parse(alarm.since)), now)}`}:
            </strong>{' '}
            {brief(alarm.text)}
          </p>
          <div className={styles.buttons}>
            <AlarmAct queue={queue} alarm={alarm} />
            {alarm.next.map((command) => (
              <code key={command}>{shown(splitRemark(command).command)}</code>
            ))}
          </div>
        </li>
      ))}
    </ul>
  );
}

/** The button that ends it, where an operation does. */
function AlarmAct({ queue, alarm }: { readonly queue: Queue; readonly alarm: Alarm }) {
  const { target, entries } = queue;
  const [first] = entries;
  if (alarm.kind === 'paused') return <Resume target={target} what="land" />;
  if (alarm.kind === 'closed') return <Resume target={target} what="accept" />;
  if (first === undefined) return null;
  if (alarm.kind === 'no_leader')
    return (
      <Act
        name="task.merge"
        input={{ tasks: [first.task] }}
        label={`Land ${first.task} now`}
        command={`copse merge ${first.task}`}
        done={({ landings: [landing] }) => ({
          text:
            landing?.landing === 'landed'
              ? `${first.task} landed.`
              : landing?.landing === 'refused'
                ? `${first.task} was handed back: ${shown(landing.cause.reason)}`
                : `${first.task} stays in the queue: ${shown(landing?.reason ?? 'it is not known why')}`,
          isProblem: landing?.landing !== 'landed',
        })}
        isMain
      />
    );
  return (
    <Act
      name="queue.retry"
      input={{ tasks: [first.task] }}
      label="Try again now"
      command={`copse queue retry ${first.task}`}
      done={() => ({ text: `The queue of ${target} tries again.` })}
      isMain
    />
  );
}
