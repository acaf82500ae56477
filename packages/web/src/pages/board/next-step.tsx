/** The next command of a task, as a button: it does it here, opens the page for it, or copies it for a terminal. */

import { Link } from 'wouter';

import type { Session } from '../../../../copse/src/agents/rules/session/session.ts';
import type { TaskSummary } from '../../../../copse/src/tasks/rules/task.ts';
import { Act, WithCommand } from '../../parts/act.tsx';
import actStyles from '../../parts/act.module.css';
import { withCommand } from '../../parts/command-line.ts';
import { doneToast, operationOfCommand } from '../../parts/task-operations.ts';
import { useToast } from '../../parts/toasts.tsx';

interface NextStepProps {
  readonly command: string;
  readonly task: TaskSummary;
  readonly session: Session | undefined;
}

const PAGES: Readonly<Record<string, string>> = {
  review: 'Review',
  logs: 'See its output',
  show: 'Open',
  why: 'Open',
  diff: 'See the change',
  attach: 'Open',
};

export default function NextStep({ command, task, session }: NextStepProps) {
  const toast = useToast();
  const facts = { task, session };
  const operation = operationOfCommand(command, facts);
  if (operation !== undefined)
    return (
      <Act
        name={operation.name}
        input={operation.input(facts, '')}
        label={operation.label}
        command={command}
        isWide
        asksFirst={operation.confirms?.(facts)}
        done={(output) => doneToast(operation, task, output)}
      />
    );
  const [, verb = ''] = /^copse (\w+) \S+$/.exec(command) ?? [];
  // It needs words of a person, which the inbox asks for.
  const isAnswer = command.includes('…') || verb === 'answer';
  const label = isAnswer ? 'Answer' : PAGES[verb];
  if (label === undefined)
    return (
      <button
        type="button"
        className={actStyles.act}
        data-wide="true"
        {...withCommand(command)}
        onClick={() => void copy(command).then((text) => toast({ text, next: [command] }))}
      >
        <WithCommand label="Copy" command={command} />
      </button>
    );
  return (
    <Link
      href={isAnswer ? `/inbox?task=${task.id}` : `/tasks/${task.id}`}
      className={actStyles.act}
      data-wide="true"
      {...withCommand(command)}
      draggable={false}
    >
      <WithCommand label={label} command={command} />
    </Link>
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
