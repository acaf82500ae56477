import { Link } from 'wouter';

import { personName } from '../../../../copse/src/agents/rules/session/take-over.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import { clipped } from '../../parts/clipped.ts';
import { statusWord } from '../../parts/status-word.ts';
import { type Answer, useRecords } from '../../store/hooks.tsx';
import { Actions, CommandButton, isAmongActions } from './actions.tsx';
import type { ShownTask } from './page.tsx';
import { phaseText } from './phase-text.ts';
import { Question } from './question.tsx';
import { Since } from './since.tsx';
import styles from './task.module.css';

interface HeadProps {
  readonly task: ShownTask;
  readonly why: Answer<'task.why'>;
}

export function Head({ task, why }: HeadProps) {
  const nodes = useRecords('node');
  const phase = phaseText(task);
  const { id, title, status, since, worker, workspace, attempts } = task;
  const agent = worker?.agent ?? attempts.at(-1)?.agent ?? task.agent;
  const node = worker?.node ?? workspace?.node ?? attempts.at(-1)?.node;
  const nodeName = [...nodes.values()].find((one) => one.id === node)?.name ?? node;
  return (
    <header className={styles.head}>
      <p className={styles.id}>{id}</p>
      <h1 tabIndex={-1}>{shown(title)}</h1>
      <dl className={styles.facts}>
        <div>
          <dt>State</dt>
          <dd className={styles.status} data-status={status}>
            {statusWord(status)} <Since at={since} lasts />
          </dd>
        </div>
        {agent !== null && (
          <div>
            <dt>Agent</dt>
            <dd>
              {shown(agent)}
              {worker?.isByHand && ' (by hand)'}
            </dd>
          </div>
        )}
        {phase !== null && (
          <div>
            <dt>Phase</dt>
            <dd>{phase}</dd>
          </div>
        )}
        {task.takenOver !== null && (
          <div>
            <dt>Taken over</dt>
            <dd>by {shown(personName(task.takenOver.person))}</dd>
          </div>
        )}
        {nodeName !== undefined && (
          <div>
            <dt>Machine</dt>
            <dd>{shown(nodeName)}</dd>
          </div>
        )}
        {workspace?.branch && (
          <div>
            <dt>Branch</dt>
            <dd>
              <code>{shown(workspace.branch)}</code>
            </dd>
          </div>
        )}
      </dl>
      {task.undone !== null && (
        <p>
          {task.undone.is === 'undone' ? 'Undone by ' : 'Being undone by '}
          <Link href={`/tasks/${task.undone.by}`} className={styles.link}>
            {task.undone.by}
          </Link>
        </p>
      )}
      <Question task={task} />
      <Why task={task} answer={why} />
    </header>
  );
}

/** The answer of `copse why`, with those of its commands that have no button below. */
function Why({
  task,
  answer: { data, error },
}: {
  readonly task: ShownTask;
  readonly answer: Answer<'task.why'>;
}) {
  const [answer = error?.message ?? '', ...details] = data?.because ?? [];
  // The question above has buttons for its answers.
  const next = (data?.next ?? []).filter(
    (command) => !isAmongActions(task, command) && !command.startsWith('copse answer '),
  );
  return (
    <section className={styles.why} aria-label="Why it is there">
      <p>{clipped(answer)}</p>
      {details.map((line) => (
        <p key={line} className={styles.faint}>
          {clipped(line)}
        </p>
      ))}
      {next.length > 0 && (
        <ul className={styles.next} aria-label="Next commands">
          {next.map((command) => (
            <li key={command}>
              <CommandButton task={task} command={command} />
            </li>
          ))}
        </ul>
      )}
      <Actions task={task} />
    </section>
  );
}
