/** Adds a task, with the command line that does the same. */

import { type SubmitEvent, useState } from 'react';

import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import { formatPriority } from '../../../../copse/src/tasks/rules/priority.ts';
import type { InputOf } from '../../api/operations.ts';
import { asProblem } from '../../api/as-problem.ts';
import type { Problem } from '../../api/problem.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useToast } from '../../parts/toasts.tsx';
import { useDesk, useRecords } from '../../store/hooks.tsx';
import styles from './add-task.module.css';

interface AddTaskProps {
  readonly agents: readonly string[];
  readonly onClose: () => void;
}

type Input = InputOf<'task.add'>;

const PRIORITIES = ([5, 4, 3, 2, 1] as const).map(formatPriority);

export default function AddTask({ agents, onClose }: AddTaskProps) {
  const { client } = useDesk();
  const toast = useToast();
  const plans = useRecords('plan');
  const [title, setTitle] = useState('');
  const [body, setBody] = useState('');
  const [priority, setPriority] = useState<(typeof PRIORITIES)[number]>('p3');
  const [agent, setAgent] = useState('');
  const [plan, setPlan] = useState('');
  const [depends, setDepends] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const dependsOn = depends.split(/[\s,]+/).filter(Boolean);
  const input: Input = {
    title,
    ...(body.trim() !== '' && { body }),
    ...(priority !== 'p3' && { priority }),
    ...(agent !== '' && { agent }),
    ...(plan !== '' && { plan }),
    ...(dependsOn.length > 0 && { dependsOn }),
  };
  const add = async () => {
    setBusy(true);
    try {
      const { id } = await client.call('task.add', input);
      onClose();
      toast({ text: `Added ${id}.`, next: [`copse show ${id}`] });
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!isBusy && title.trim() !== '') void add();
  };
  return (
    <Dialog label="Add a task" onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        <label>
          What to do, in a few words
          <input autoFocus required value={title} onChange={(event) => setTitle(event.target.value)} />
        </label>
        <label>
          The whole assignment
          <textarea rows={5} value={body} onChange={(event) => setBody(event.target.value)} />
        </label>
        <div className={styles.pairs}>
          <label>
            Priority
            <select value={priority} onChange={(event) => setPriority(event.target.value as typeof priority)}>
              {PRIORITIES.map((one) => (
                <option key={one} value={one}>
                  {one === 'p5' ? 'p5, the most urgent' : one}
                </option>
              ))}
            </select>
          </label>
          <label>
            Only this agent
            <input list="known-agents" value={agent} onChange={(event) => setAgent(event.target.value)} />
            <datalist id="known-agents">
              {agents.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          </label>
          <label>
            Plan
            <select value={plan} onChange={(event) => setPlan(event.target.value)}>
              <option value="">none</option>
              {[...plans.values()].map(({ id, title: name }) => (
                <option key={id} value={id}>
                  {shown(name)}
                </option>
              ))}
            </select>
          </label>
          <label>
            Tasks that must be done first
            <input
              placeholder="cp-a1b2, …"
              value={depends}
              onChange={(event) => setDepends(event.target.value)}
            />
          </label>
        </div>
        {problem && (
          <p role="alert" className={styles.problem}>
            {problem.message} {problem.next.length > 0 && <code>{problem.next.join('; ')}</code>}
          </p>
        )}
        <code className={styles.command}>{commandOf(input)}</code>
        <button type="submit" className={styles.main} aria-disabled={isBusy || title.trim() === ''}>
          Add the task
        </button>
      </form>
    </Dialog>
  );
}

function commandOf({ title, body, priority, agent, plan, dependsOn }: Input): string {
  const option = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`--${name} ${shellWord(value)}`];
  return [
    `copse add ${shellWord(title === '' ? '…' : title)}`,
    ...option('body', body === undefined || body.length <= 80 ? body : `${body.slice(0, 80)}…`),
    ...option('priority', priority),
    ...option('agent', agent),
    ...option('plan', plan),
    ...option('depends', dependsOn?.join(',')),
  ].join(' ');
}
