/** Ctrl K: pages, tasks by id or title, what applies to the open task, and every other operation, each with its command line. */

import { Command } from 'cmdk';
import { type SubmitEvent, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useLocation } from 'wouter';

import { shown } from '../../../../copse/src/kernel/text.ts';
import { statusPredicate } from '../../../../copse/src/tasks/rules/task.ts';
import { questionBefore } from '../../api/destroying.ts';
import { usePerform } from '../../parts/perform.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useOpenTask } from '../../parts/open-task.ts';
import { clipped } from '../../parts/clipped.ts';
import { canBeSeen } from '../../parts/moment.ts';
import {
  type TaskFacts,
  type TaskOperation,
  doneToast,
  taskOperations,
} from '../../parts/task-operations.ts';
import { useRecords } from '../../store/hooks.tsx';
import { pageEntries } from '../pages.ts';
import { usageOf } from './command-lines.ts';
import { EveryOperation, commandForms, isFound } from './every-operation.tsx';
import type { CommandForm } from './forms.ts';
import { foundTasks } from './found-tasks.ts';
import styles from './palette.module.css';

type Chosen =
  | { readonly kind: 'task'; readonly operation: TaskOperation; readonly facts: TaskFacts }
  | { readonly kind: 'any'; readonly form: CommandForm; readonly facts: TaskFacts | undefined };

export default function Palette({ onClose }: { readonly onClose: () => void }) {
  const [chosen, setChosen] = useState<Chosen>();
  const back = { onBack: () => setChosen(undefined), onClose };
  return (
    <Dialog label="Search pages, tasks and commands" onClose={onClose} isBare>
      {chosen === undefined && <Search onClose={onClose} onChosen={setChosen} />}
      {chosen?.kind === 'task' && <Ask {...chosen} {...back} />}
      {chosen?.kind === 'any' && <EveryOperation {...chosen} {...back} />}
    </Dialog>
  );
}

interface SearchProps {
  readonly onClose: () => void;
  readonly onChosen: (chosen: Chosen) => void;
}

function Search({ onClose, onChosen }: SearchProps) {
  const [text, setText] = useState('');
  const [location, go] = useLocation();
  const tasks = useRecords('task');
  const sessions = useRecords('session');
  const inAddress = /^\/tasks\/([^/]+)/.exec(location)?.[1];
  const open = useOpenTask() ?? inAddress;
  const task = open === undefined ? undefined : tasks.get(open);
  const [, perform] = usePerform();
  const found = useMemo(() => foundTasks(tasks.values(), text), [tasks, text]);
  const wanted = text.trim().toLowerCase();
  const pages = pageEntries.filter(({ title }) => title.toLowerCase().includes(wanted));
  const commands = commandForms.filter((form) => isFound(form, wanted));
  const facts = task && { task, session: task.session ? sessions.get(task.session) : undefined };
  const offered = facts ? offers(facts, wanted) : [];
  const visit = (path: string) => {
    onClose();
    go(path);
  };
  const choose = (operation: TaskOperation) => {
    if (facts === undefined) return;
    const { name } = operation;
    const asksFirst = questionBefore(name) !== undefined || operation.confirms?.(facts) !== undefined;
    if (operation.asks !== undefined || asksFirst) return onChosen({ kind: 'task', operation, facts });
    onClose();
    perform(name, operation.input(facts, '') as never, (output) => doneToast(operation, facts.task, output));
  };
  return (
    <Command label="Search pages, tasks and commands" shouldFilter={false} loop className={styles.palette}>
      <Command.Input
        value={text}
        onValueChange={setText}
        placeholder="A page, a task, or a command"
        className={styles.input}
        autoFocus
      />
      <Command.List className={styles.list}>
        <Command.Empty className={styles.empty}>No match.</Command.Empty>
        {facts && offered.length > 0 && (
          <Command.Group heading={`${facts.task.id} · ${shown(facts.task.title)}`}>
            {offered.map((one) => (
              <Command.Item key={one.label} value={one.label} onSelect={() => choose(one)}>
                <span>{one.label}</span>
                <code>{one.command(facts, '')}</code>
              </Command.Item>
            ))}
          </Command.Group>
        )}
        {pages.length > 0 && (
          <Command.Group heading="Pages">
            {pages.map(({ path, title, key }) => (
              <Command.Item key={path} value={path} onSelect={() => visit(path)}>
                <span>{title}</span>
                <kbd>g {key}</kbd>
              </Command.Item>
            ))}
          </Command.Group>
        )}
        {found.length > 0 && (
          <Command.Group heading="Tasks">
            {found.map(({ id, title, state }) => (
              <Command.Item key={id} value={id} onSelect={() => visit(`/tasks/${id}`)}>
                <span>
                  <span className={styles.id}>{id}</span> {shown(title)}
                </span>
                <small>{statusPredicate(state.status)}</small>
              </Command.Item>
            ))}
          </Command.Group>
        )}
        {commands.length > 0 && (
          <Command.Group heading="Commands">
            {commands.map((form) => (
              <Command.Item
                key={form.name}
                value={form.name}
                onSelect={() => onChosen({ kind: 'any', form, facts })}
              >
                <span>{form.title}</span>
                <code>{usageOf(form.line)}</code>
              </Command.Item>
            ))}
          </Command.Group>
        )}
      </Command.List>
    </Command>
  );
}

function offers(facts: TaskFacts, wanted: string): readonly TaskOperation[] {
  return taskOperations.filter(
    (one) => one.applies(facts) && `${one.label} ${one.command(facts, '')}`.toLowerCase().includes(wanted),
  );
}

interface AskProps {
  readonly operation: TaskOperation;
  readonly facts: TaskFacts;
  readonly onBack: () => void;
  readonly onClose: () => void;
}

/** The text that an operation needs, or a last look before one that destroys. */
function Ask({ operation, facts, onBack, onClose }: AskProps) {
  const [text, setText] = useState('');
  const [, perform] = usePerform();
  const { name, label, asks } = operation;
  const undo = questionBefore(name)?.text;
  const confirms = operation.confirms?.(facts);
  const isMissing = asks !== undefined && !asks.isOptional && text.trim() === '';
  const [refusal, setRefusal] = useState<string>();
  const shownSince = useRef(0);
  useLayoutEffect(() => {
    shownSince.current = performance.now();
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (isMissing) return;
    // A key that is held, or pressed twice, answers no question that appeared meanwhile.
    if (confirms !== undefined && !canBeSeen(shownSince.current, event.timeStamp))
      return setRefusal('Read it first, then press again.');
    const refused = asks?.refuses?.(text.trim());
    setRefusal(refused);
    if (refused !== undefined) return;
    onClose();
    const command = text.trim() === '' ? undefined : operation.command(facts, text.trim());
    perform(
      name,
      operation.input(facts, text.trim()) as never,
      (output) => doneToast(operation, facts.task, output),
      { command },
    );
  };
  return (
    <form className={styles.ask} onSubmit={submit}>
      <h2>
        {label}: <span className={styles.id}>{facts.task.id}</span> {shown(facts.task.title)}
      </h2>
      {confirms && (
        <>
          <p>{shown(confirms.title)}</p>
          <pre className={styles.what} tabIndex={0}>
            {clipped(confirms.text)}
          </pre>
        </>
      )}
      {asks && (
        <label>
          {asks.question}
          <input autoFocus value={text} onChange={(event) => setText(event.target.value)} />
        </label>
      )}
      {undo && <p>{undo}</p>}
      {refusal !== undefined && (
        <p role="alert" className={styles.problem}>
          {refusal}
        </p>
      )}
      <code>{operation.command(facts, text.trim())}</code>
      <div className={styles.buttons}>
        <button
          type="submit"
          className={styles.main}
          aria-disabled={isMissing}
          autoFocus={asks === undefined}
        >
          {label}
        </button>
        <button type="button" onClick={onBack}>
          Back
        </button>
      </div>
    </form>
  );
}
