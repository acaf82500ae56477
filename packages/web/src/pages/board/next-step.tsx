/** The next command of a task, as a button: it does it here, opens the page for it, or copies it for a terminal. */

import { Link } from 'wouter';

import type { Session } from '../../../../copse/src/agents/rules/session/session.ts';
import type { TaskSummary } from '../../../../copse/src/tasks/rules/task.ts';
import { Act } from '../../parts/act.tsx';
import { operationOfCommand } from '../../parts/task-operations.ts';
import { useToast } from '../../parts/toasts.tsx';
import styles from './card.module.css';

interface NextStepProps {
  readonly command: string;
  readonly task: TaskSummary;
  readonly session: Session | undefined;
}

const PAGES: Readonly<Record<string, string>> = {
  review: 'Review',
  logs: 'Look at its output',
  show: 'Open',
  why: 'Open',
  diff: 'Look at the change',
  attach: 'Open',
};

export default function NextStep({ command, task, session }: NextStepProps) {
  const toast = useToast();
  const facts = { task, session };
  const operation = operationOfCommand(command, facts);
  if (operation !== undefined)
    return (
      <div className={styles.next}>
        <Act
          name={operation.name}
          input={operation.input(facts, '')}
          label={operation.label}
          command={command}
          done={() => ({ text: `${task.id} ${operation.done}.` })}
        />
        <code>{command}</code>
      </div>
    );
  const [, verb = ''] = /^copse (\w+) \S+$/.exec(command) ?? [];
  // It needs words of a person, which the inbox asks for.
  const isAnswer = command.includes('…') || verb === 'answer';
  const label = isAnswer ? 'Answer' : PAGES[verb];
  return (
    <div className={styles.next}>
      {label === undefined ? (
        <button
          type="button"
          className={styles.step}
          title={command}
          onClick={() => void copy(command).then((text) => toast({ text, next: [command] }))}
        >
          Copy the command
        </button>
      ) : (
        <Link
          href={isAnswer ? `/inbox?task=${task.id}` : `/tasks/${task.id}`}
          className={styles.step}
          title={command}
          draggable={false}
        >
          {label}
        </Link>
      )}
      <code>{command}</code>
    </div>
  );
}

async function copy(command: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(command);
    return 'Copied. Paste it into a terminal in the repository.';
  } catch {
    return 'The browser does not let this page copy. Type it in a terminal:';
  }
}
