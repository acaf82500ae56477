/** What a person can do with the task now: the commands of its status first, then the others that it allows. */

import { useState } from 'react';
import { useSearchParams } from 'wouter';

import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import { isAllowed, statusCommands } from '../../../../copse/src/tasks/rules/task.ts';
import { Act } from '../../parts/act.tsx';
import { usePerform } from '../../parts/perform.ts';
import { withCommand } from '../../parts/command-line.ts';
import { statusWord } from '../../parts/status-word.ts';
import { labelOf, landingToast, operationNamed } from '../../parts/task-operations.ts';
import { useRecords } from '../../store/hooks.tsx';
import { AskButton, type Asking, TextButton } from './ask-text.tsx';
import type { ShownTask } from './page.tsx';
import { useReadHead } from './read-head.ts';
import styles from './task.module.css';
import { UndoLanding } from './undo-landing.tsx';

const VERBS = [
  'review',
  'work',
  'pause',
  'resume',
  'restart',
  'merge',
  'undo',
  'move',
  'cancel',
  'delete',
] as const;

type Verb = (typeof VERBS)[number];

export function Actions({ task }: { readonly task: ShownTask }) {
  // As it was when a dialog was opened: a button that moved or left would take its dialog along, with the text in it.
  const [kept, setKept] = useState<ShownTask>();
  const from = kept ?? task;
  const first = likelyVerbs(from);
  const others = VERBS.filter((verb) => !first.includes(verb) && isPossible(verb, from));
  const asking = (verb: Verb): Asking => ({
    onOpen: () => setKept(task),
    onClose: () => setKept(undefined),
    ...(!isPossible(verb, task) && {
      refusal: `${task.id} is ${statusWord(task.status)} now. Nothing is sent: copy your text, or leave it.`,
    }),
  });
  return (
    <section className={styles.actions} aria-label="Actions">
      {first.map((verb, at) => (
        <ActionButton
          key={verb}
          verb={verb}
          task={from}
          isMain={at === 0 && WAITS_FOR_A_PERSON.has(from.status)}
          asking={asking(verb)}
        />
      ))}
      {others.length > 0 && (
        <details>
          <summary>More</summary>
          <div className={styles.others}>
            {others.map((verb) => (
              <ActionButton key={verb} verb={verb} task={from} asking={asking(verb)} />
            ))}
          </div>
        </details>
      )}
    </section>
  );
}

/** Others go on without one: nothing is the usual thing to do. */
const WAITS_FOR_A_PERSON: ReadonlySet<ShownTask['status']> = new Set([
  'ready',
  'paused',
  'stuck',
  'in_review',
  'needs_attention',
  'failed',
]);

function likelyVerbs(task: ShownTask): readonly Verb[] {
  return statusCommands(task.status).filter((verb): verb is Verb => isVerb(verb) && isPossible(verb, task));
}

/** It is the same as a button of `Actions` that is always shown. */
export function isAmongActions(task: ShownTask, command: string): boolean {
  const [, verb = '', id] = /^copse (\w+) (\S+)/.exec(command) ?? [];
  return id === task.id && isVerb(verb) && likelyVerbs(task).includes(verb) && !command.includes('--now');
}

/** A command of `copse why`: a button where this page can do it, otherwise the text for a terminal. */
export function CommandButton({ task, command }: { readonly task: ShownTask; readonly command: string }) {
  const [line = '', note] = command.split(' # ');
  const [, verb = '', id] = /^copse (\w+)(?: (\S+))?/.exec(line) ?? [];
  const isOwn = id === task.id && isVerb(verb) && isPossible(verb, task) && !line.includes('--now');
  return (
    <>
      {isOwn ? <ActionButton verb={verb} task={task} label={line} /> : <code>{line}</code>}
      {note !== undefined && <span className={styles.faint}> {note}</span>}
    </>
  );
}

function isVerb(text: string): text is Verb {
  return (VERBS as readonly string[]).includes(text);
}

function isPossible(verb: Verb, { status, landed, undone }: ShownTask): boolean {
  switch (verb) {
    case 'review':
      return status === 'in_review' || status === 'needs_attention';
    case 'work':
      return status === 'ready' || status === 'needs_attention' || status === 'in_review';
    case 'undo':
      return status === 'done' && landed !== null && undone === null;
    default:
      return isAllowed(verb, status);
  }
}

interface ButtonProps {
  readonly verb: Verb;
  readonly task: ShownTask;
  readonly isMain?: boolean;
  readonly label?: string;
  readonly asking?: Asking;
}

function ActionButton({ verb, task, isMain = false, label, asking }: ButtonProps) {
  const [, setSearch] = useSearchParams();
  const { id } = task;
  const command = `copse ${verb} ${id}`;
  const common = { command, isMain };
  switch (verb) {
    case 'review':
      return (
        <button
          type="button"
          className={styles.button}
          data-main={isMain}
          {...withCommand(command)}
          onClick={() => {
            setSearch({ part: 'changes' });
            // Files, differences and the answer fit on one screen.
            document.querySelector('#part')?.scrollIntoView({ block: 'start' });
          }}
        >
          {label ?? 'Review the changes'}
        </button>
      );
    case 'work':
      return (
        <Act
          {...common}
          name="task.work"
          input={{ task: id }}
          label={label ?? labelOf('task.work')}
          done={({ worktree }) => ({ text: `You work on ${id} in ${worktree ?? 'your checkout'}.` })}
        />
      );
    case 'pause':
      return (
        <Act
          {...common}
          name="task.pause"
          input={{ task: id }}
          label={label ?? labelOf('task.pause')}
          done={() => ({ text: `${id} is paused.` })}
        />
      );
    case 'resume':
      return (
        <WithText
          {...common}
          {...asking}
          id={id}
          name="task.resume"
          field="message"
          label={label ?? labelOf('task.resume')}
          question="What its agent is told (may be empty)"
        />
      );
    case 'restart':
      return (
        <WithText
          {...common}
          {...asking}
          id={id}
          name="task.restart"
          field="answer"
          label={label ?? (task.status === 'stuck' ? 'Answer and restart' : labelOf('task.restart'))}
          question={
            task.status === 'stuck'
              ? 'The answer to its question (may be empty)'
              : 'What its agent is told (may be empty)'
          }
        />
      );
    case 'merge':
      return <Land task={task} isMain={isMain} label={label} />;
    case 'undo':
      return <UndoLanding id={id} label={label ?? labelOf('landing.undo')} isMain={isMain} {...asking} />;
    case 'move':
      return <Move id={id} label={label ?? labelOf('task.move')} {...asking} />;
    case 'cancel':
      return (
        <Act
          {...common}
          name="task.cancel"
          input={{ task: id }}
          label={label ?? labelOf('task.cancel')}
          done={() => ({ text: `${id} is cancelled.` })}
        />
      );
    case 'delete':
      return (
        <Act
          {...common}
          name="task.delete"
          input={{ tasks: [id] }}
          label={label ?? labelOf('task.delete')}
          done={() => ({ text: `${id} is deleted.` })}
        />
      );
    default:
      throw new Error(`No button for ${String(verb satisfies never)}`);
  }
}

interface LandProps {
  readonly task: ShownTask;
  readonly isMain: boolean;
  readonly label: string | undefined;
}

/** Lands the commit that the person was shown in the changes; without one, it asks about the commit that waits for review. */
function Land({ task: { id, status }, isMain, label }: LandProps) {
  const record = useRecords('task').get(id);
  const read = useReadHead(id);
  const operation = operationNamed('task.merge');
  const facts = record && { task: record, session: undefined };
  const isRead = read !== undefined && (status === 'in_review' || status === 'needs_attention');
  const command = isRead
    ? `copse merge ${id} --head ${read.slice(0, 10)}`
    : ((facts && operation.command(facts, '')) ?? `copse merge ${id}`);
  const input = { tasks: [id], waitSeconds: 0, ...(isRead && { head: read }) };
  return (
    <Act
      name="task.merge"
      input={isRead || facts === undefined ? input : (operation.input(facts, '') as typeof input)}
      label={label ?? operation.label}
      command={command}
      isMain={isMain}
      asksFirst={isRead ? undefined : facts && operation.confirms?.(facts)}
      done={(output) => landingToast(id, output)}
    />
  );
}

interface WithTextProps extends Asking {
  readonly id: string;
  readonly name: 'task.resume' | 'task.restart';
  readonly field: 'message' | 'answer';
  readonly label: string;
  readonly command: string;
  readonly question: string;
  readonly isMain: boolean;
}

function WithText({ id, name, field, ...shown }: WithTextProps) {
  const [isBusy, perform] = usePerform();
  return (
    <TextButton
      {...shown}
      isBusy={isBusy}
      onText={(text) => {
        const isTold = text.trim() !== '';
        perform(
          name,
          { task: id, ...(isTold && { [field]: text }) },
          ({ agent }) => ({
            text: agent === null ? `${id} waits for a free agent.` : `${agent} works on ${id}.`,
          }),
          { command: isTold ? `${shown.command} --${field} ${shellWord(text)}` : undefined },
        );
      }}
    />
  );
}

interface MoveProps extends Asking {
  readonly id: string;
  readonly label: string;
}

function Move({ id, label, ...asking }: MoveProps) {
  const nodes = [...useRecords('node').values()].filter(({ leftAt }) => leftAt === null);
  const [to, setTo] = useState('');
  const [isBusy, perform] = usePerform();
  const chosen = to === '' ? (nodes[0]?.id ?? '') : to;
  return (
    <AskButton
      {...asking}
      label={label}
      command={`copse move ${id} --to …`}
      title={`Move ${id} to another machine`}
      isBusy={isBusy}
      onSubmit={() => perform('task.move', { task: id, to: chosen }, () => ({ text: `${id} moves.` }))}
    >
      <label>
        Machine{' '}
        <select value={chosen} onChange={({ target }) => setTo(target.value)}>
          {nodes.map(({ id: node, name }) => (
            <option key={node} value={node}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </AskButton>
  );
}
