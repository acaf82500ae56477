import { type ReactNode, useRef, useState } from 'react';
import { Link } from 'wouter';

import { shellWord } from '../../../../copse/src/kernel/shell.ts';
import { shown } from '../../../../copse/src/kernel/text.ts';
import { spanText } from '../../../../copse/src/kernel/time.ts';
import type { OutputOf } from '../../api/operations.ts';
import { Act } from '../../parts/act.tsx';
import { withCommand } from '../../parts/command-line.ts';
import { momentText } from '../../parts/moment.ts';
import { phaseWord } from '../../parts/status-word.ts';
import { Drain } from './drain.tsx';
import styles from './fleet.module.css';
import { Rename } from './rename.tsx';

export type Node = OutputOf<'node.list'>['nodes'][number];
type Running = OutputOf<'agent.list'>['running'][number];

interface MachineProps {
  readonly node: Node;
  readonly running: readonly Running[];
}

export function Machine({ node, running }: MachineProps) {
  const { id, name, slots, tasks, version, clockOffsetMs, silentMs, labels, capabilities } = node;
  const agents = new Map(running.map((one) => [one.task, one]));
  return (
    <li className={styles.machine} data-drained={node.drain !== null}>
      <header>
        <h2>{shown(name)}</h2>
        <code>{id}</code>
        {node.drain && <strong>‖ draining since {momentText(node.drain.since)}</strong>}
      </header>
      <dl>
        <Fact name="agents">
          {tasks.length} of {slots ?? '?'} slots
        </Fact>
        <Fact name="last contact">{silentMs === null ? 'never' : `${spanText(silentMs)} ago`}</Fact>
        <Fact name="version">{shown(version ?? 'unknown')}</Fact>
        <Fact name="clock">{clockText(clockOffsetMs)}</Fact>
        {capabilities && (
          <>
            <Fact name="machine">
              {capabilities.platform.map(shown).join(', ')} · {capabilities.cpus} cpus ·{' '}
              {Math.round(capabilities.memoryBytes / 2 ** 30)} GB{capabilities.isContainer && ' · container'}
            </Fact>
            <Fact name="can run">
              {capabilities.agents.length === 0
                ? 'no agent'
                : capabilities.agents
                    .map((one) => [one.name, ...one.capabilities].map(shown).join(' '))
                    .join(', ')}
            </Fact>
          </>
        )}
        {labels.length > 0 && <Fact name="labels">{labels.map(shown).join(', ')}</Fact>}
      </dl>
      {tasks.length > 0 && (
        <ul className={styles.agents} aria-label={`Agents on ${shown(name)}`}>
          {tasks.map((task) => (
            <li key={task}>
              <Link href={`/tasks/${task}`}>
                <code>{task}</code> {shown(agents.get(task)?.title ?? '')}
              </Link>{' '}
              <span>{doing(agents.get(task))}</span>
            </li>
          ))}
        </ul>
      )}
      <MachineActs node={node} />
    </li>
  );
}

function doing(one: Running | undefined): string {
  const phase = phaseWord(one?.phase ?? null);
  return [one && shown(one.agent), phase].filter(Boolean).join(' · ');
}

function MachineActs({ node }: { readonly node: Node }) {
  const [opened, setOpened] = useState<'drain' | 'rename'>();
  const opener = useRef<HTMLDivElement>(null);
  const close = () => {
    setOpened(undefined);
    opener.current?.querySelector('button')?.focus();
  };
  const word = shown(shellWord(node.name));
  return (
    <div className={styles.buttons} ref={opener}>
      {node.drain === null ? (
        <button type="button" {...withCommand(`copse node drain ${word}`)} onClick={() => setOpened('drain')}>
          Drain …
        </button>
      ) : (
        <Act
          name="node.resume"
          input={{ node: node.id }}
          label="Take work again"
          command={`copse node resume ${word}`}
          done={() => ({ text: `${node.name} takes work again.` })}
          isMain
        />
      )}
      <button
        type="button"
        {...withCommand(`copse node rename ${word} <name>`)}
        onClick={() => setOpened('rename')}
      >
        Rename …
      </button>
      <Act
        name="node.leave"
        input={{ node: node.id }}
        label="Remove from the board"
        command={`copse node leave ${word}`}
        done={() => ({ text: `${node.name} left the board.`, next: ['copse node list --all'] })}
      />
      {opened === 'drain' && <Drain node={node} onClose={close} />}
      {opened === 'rename' && <Rename node={node} onClose={close} />}
    </div>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Less than this is noise of the measurement. */
const SAME_CLOCK_MS = 100;

function clockText(offsetMs: number | null): string {
  if (offsetMs === null) return 'not compared';
  if (Math.abs(offsetMs) < SAME_CLOCK_MS) return 'as the board';
  return `${spanText(Math.abs(offsetMs))} ${offsetMs > 0 ? 'behind' : 'ahead of'} the board`;
}
