/** Any operation of the registry: asks for its input, shows its command line, does it, and shows the answer. */

import { type SubmitEvent, useId, useState } from 'react';
import forms from 'virtual:operation-forms';

import { shown } from '../../../../copse/src/kernel/text.ts';
import { asProblem } from '../../api/as-problem.ts';
import type { Problem } from '../../api/problem.ts';
import { useAnnounce } from '../../parts/announcer.tsx';
import type { TaskFacts } from '../../parts/task-operations.ts';
import { useAnswer, useDesk, useRecords } from '../../store/hooks.tsx';
import { AnswerTree } from './answer-tree.tsx';
import { commandLine } from './command-lines.ts';
import { type CommandForm, type DescribedForm, type Field, type Filled, formOf, inputOf } from './forms.ts';
import { foundTasks } from './found-tasks.ts';
import styles from './palette.module.css';

export const commandForms: readonly CommandForm[] = (forms as readonly DescribedForm[]).flatMap(
  (described) => formOf(described) ?? [],
);

interface Props {
  readonly form: CommandForm;
  /** Of the open task. */
  readonly facts: TaskFacts | undefined;
  readonly onBack: () => void;
  readonly onClose: () => void;
}

export function EveryOperation({ form, facts, onBack, onClose }: Props) {
  const { client } = useDesk();
  const [filled, setFilled] = useState<Filled>(() => known(form, facts));
  const [files, setFiles] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState<Problem>();
  const [answer, setAnswer] = useState<{ readonly value: unknown }>();
  const [isBusy, setBusy] = useState(false);
  const announce = useAnnounce();
  const { name, title, description, undo, effect, line, fields, needed } = form;
  const isAccepting = name === 'config.accept';
  const isSweeping = name === 'leftovers.sweep';
  const pending = sinceOpened(useAnswer('config.pending', {}, { about: [], isEnabled: isAccepting }));
  const left = sinceOpened(useAnswer('leftovers.list', {}, { about: [], isEnabled: isSweeping }));
  const before = isAccepting ? pending?.changes : left;
  const input = {
    ...inputOf(form, filled),
    // What a person accepts is what is shown.
    ...(isAccepting && pending && { version: pending.version }),
  };
  const isWaiting = isBusy || (isAccepting && pending === undefined);
  const submit = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const value = await client.call(name, input as never);
      setAnswer({ value });
      announce(effect === 'reads' ? title : `${title}: done.`);
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!isWaiting) void submit();
  };
  const command = commandLine(line, { ...input, ...files }, needed);
  if (answer !== undefined)
    return <Answer title={title} isDone={effect !== 'reads'} {...{ command, answer, onClose }} />;
  return (
    <form className={styles.ask} onSubmit={onSubmit} data-operation={name}>
      <h2>{title}</h2>
      <p>{description}</p>
      {fields.map((field, index) => (
        <FieldInput
          key={field.name}
          field={field}
          value={filled[field.name] ?? ''}
          hasFocus={index === 0}
          onChange={(value) => setFilled((others) => ({ ...others, [field.name]: value }))}
          onFile={(file) => setFiles((others) => ({ ...others, [field.name]: file }))}
        />
      ))}
      {before !== undefined && <AnswerTree value={before} />}
      {undo && <p>{undo}</p>}
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem.message} {problem.next.length > 0 && <code>{problem.next.join('; ')}</code>}
        </p>
      )}
      <code data-testid="command">{command}</code>
      <div className={styles.buttons}>
        <button
          type="submit"
          className={styles.main}
          aria-disabled={isWaiting}
          autoFocus={fields.length === 0}
        >
          {title}
        </button>
        <button type="button" onClick={onBack}>
          Back
        </button>
      </div>
    </form>
  );
}

/** The answer of an earlier form may be of files that changed since, and no event says so. */
function sinceOpened<T>(answer: { readonly data: T; readonly isFetchedAfterMount: boolean }): T | undefined {
  return answer.isFetchedAfterMount ? answer.data : undefined;
}

/** What the open task says about the input. */
function known({ fields }: CommandForm, facts: TaskFacts | undefined): Filled {
  if (facts === undefined) return {};
  const { task, session } = facts;
  const given: Readonly<Record<string, string | undefined>> = {
    task: task.id,
    tasks: task.id,
    head: task.state.status === 'in_review' ? task.state.head : undefined,
    question: session?.question?.answer === null ? session.question.id : undefined,
  };
  const found = fields.flatMap(({ name }): [string, string][] => {
    const value = given[name];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(found);
}

interface FieldProps {
  readonly field: Field;
  readonly value: string | boolean;
  readonly hasFocus: boolean;
  readonly onChange: (value: string | boolean) => void;
  /** The name of the file whose text the value is. */
  readonly onFile: (name: string) => void;
}

function FieldInput({ field, value, hasFocus, onChange, onFile }: FieldProps) {
  const { kind, name, label, about, choices, isNeeded } = field;
  const id = useId();
  const common = { id, name, required: isNeeded, autoFocus: hasFocus, 'aria-describedby': `${id}-about` };
  const text = String(value);
  const hint = [about, kind === 'lines' && 'One on a line.', kind === 'words' && 'Separated by commas.'];
  return (
    <div className={kind === 'flag' ? styles.flag : styles.field}>
      <label htmlFor={id}>
        {label}
        {isNeeded && ' (needed)'}
      </label>
      {kind === 'flag' && (
        <input
          {...common}
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
      )}
      {kind === 'choice' && (
        <select {...common} value={text} onChange={(event) => onChange(event.target.value)}>
          <option value="" />
          {choices.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      )}
      {(kind === 'long' || kind === 'lines') && (
        <textarea {...common} rows={3} value={text} onChange={(event) => onChange(event.target.value)} />
      )}
      {kind === 'file' && (
        <input
          {...common}
          type="file"
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            onFile(file?.name ?? '');
            void file?.text().then(onChange);
          }}
        />
      )}
      {(kind === 'number' || kind === 'seconds') && (
        <input
          {...common}
          type="number"
          min={0}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {(kind === 'text' || kind === 'words') && (
        <>
          <input
            {...common}
            autoComplete="off"
            spellCheck={false}
            list={`${id}-known`}
            value={text}
            onChange={(event) => onChange(event.target.value)}
          />
          <Known id={`${id}-known`} name={name} text={text} />
        </>
      )}
      <small id={`${id}-about`}>{hint.filter(Boolean).join(' ')}</small>
    </div>
  );
}

/** Names of records that fit, so that a person need not type an id that the page knows. */
function Known({ id, name, text }: { readonly id: string; readonly name: string; readonly text: string }) {
  const tasks = useRecords('task');
  const nodes = useRecords('node');
  const plans = useRecords('plan');
  const offered =
    name === 'task' || name === 'tasks'
      ? foundTasks(tasks.values(), text)
      : name === 'plan'
        ? [...plans.values()]
        : [];
  return (
    <datalist id={id}>
      {offered.map((one) => (
        <option key={one.id} value={one.id}>
          {shown(one.title)}
        </option>
      ))}
      {(name === 'node' || name === 'to') &&
        [...nodes.values()].map((node) => <option key={node.id} value={node.name} />)}
    </datalist>
  );
}

interface AnswerProps {
  readonly title: string;
  readonly isDone: boolean;
  readonly command: string;
  readonly answer: { readonly value: unknown };
  readonly onClose: () => void;
}

function Answer({ title, isDone, command, answer: { value }, onClose }: AnswerProps) {
  return (
    <section className={styles.ask} aria-label="Answer">
      <h2>{isDone ? `${title}: done` : title}</h2>
      <code data-testid="command">{command}</code>
      <AnswerTree value={value} />
      <div className={styles.buttons}>
        <button type="button" className={styles.main} onClick={onClose} autoFocus>
          Close
        </button>
      </div>
    </section>
  );
}

export function isFound({ title, line, name }: CommandForm, wanted: string): boolean {
  const text = `${title} copse ${line} ${name}`.toLowerCase();
  return wanted.split(/\s+/).every((word) => text.includes(word));
}
