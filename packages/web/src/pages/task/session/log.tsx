/** The log of an attempt, as it is written. It follows the end until its reader scrolls up. */

import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react';

import { sizeText } from '../../../../../copse/src/explain/rules/amounts.ts';
import { Problem } from '../../../api/problem.ts';
import { withCommand } from '../../../parts/command-line.ts';
import { Loading, Refused } from '../../../parts/page-state.tsx';
import { useDesk } from '../../../store/hooks.tsx';
import { type LogBlock, LogText } from './log-text.ts';
import { OutputStream } from './output-stream.ts';
import styles from './session.module.css';

interface LogProps {
  readonly task: string;
  readonly attempt: string;
}

interface Shown {
  readonly blocks: readonly LogBlock[];
  readonly isCut: boolean;
  /** Bytes before the first that is shown. */
  readonly before: number;
  readonly state: 'opening' | 'live' | 'away' | 'ended';
  readonly problem: Problem | undefined;
}

const NOTHING: Shown = { blocks: [], isCut: false, before: 0, state: 'opening', problem: undefined };

export function Log({ task, attempt }: LogProps) {
  const [isWhole, setWhole] = useState(false);
  const [round, setRound] = useState(0);
  const { blocks, isCut, before, state, problem } = useLog({ task, attempt, isWhole }, round);
  const [isFollowing, setFollowing] = useState(true);
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = place.current;
    if (isFollowing && element !== null) element.scrollTop = element.scrollHeight;
  }, [blocks, isFollowing]);
  if (problem !== undefined) return <Refused problem={problem} onAgain={() => setRound(round + 1)} />;
  if (state === 'opening') return <Loading what="the output" />;
  return (
    <>
      <p className={styles.line}>
        <span data-state={state} className={styles.state}>
          {STATES[state]}
        </span>
        {before > 0 && (
          <button
            type="button"
            className={styles.button}
            {...withCommand(`copse logs ${task}`)}
            onClick={() => setWhole(true)}
          >
            {`Show the ${sizeText(before)} before it`}
          </button>
        )}
        {isCut && <span>Only its last lines are shown: the whole is in the file.</span>}
        {!isFollowing && (
          <button type="button" className={styles.button} onClick={() => setFollowing(true)}>
            Follow its end
          </button>
        )}
      </p>
      {blocks.length === 0 && state !== 'away' && (
        <p className={styles.faint}>This attempt wrote nothing yet.</p>
      )}
      <div
        ref={place}
        className={styles.log}
        // A person scrolls it by keyboard.
        tabIndex={0}
        role="region"
        aria-label="Lines of output"
        hidden={blocks.length === 0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          setFollowing(scrollHeight - scrollTop - clientHeight < NEAR_END)
        }
      >
        {blocks.map(({ key, kind, text }) => (
          <Block key={key} kind={kind} text={text} />
        ))}
      </div>
    </>
  );
}

const NEAR_END = 40;

const STATES = {
  live: '● live',
  away: '○ no connection: retrying',
  ended: '■ ended',
} as const;

const Block = memo(function Block({ kind, text }: Pick<LogBlock, 'kind' | 'text'>) {
  return (
    <pre className={kind === 'gap' ? styles.gap : undefined} data-kind={kind}>
      {text}
    </pre>
  );
});

function useLog(wanted: LogProps & { readonly isWhole: boolean }, round: number): Shown {
  const { client } = useDesk();
  const { task, attempt, isWhole } = wanted;
  const [shown, setShown] = useState(NOTHING);
  useEffect(() => {
    const text = new LogText();
    let frame: number | undefined;
    let now: Omit<Shown, 'blocks' | 'isCut'> = NOTHING;
    const show = (change: Partial<typeof now> = {}) => {
      now = { ...now, ...change };
      frame ??= requestAnimationFrame(() => {
        frame = undefined;
        setShown({ ...now, blocks: text.blocks, isCut: text.isCut });
      });
    };
    let isNew = true;
    const stream = new OutputStream(
      client,
      { task, attempt, isWhole, view: 'log' },
      {
        onOpen: (at) => {
          show({ state: 'live', ...(isNew && { before: at }) });
          isNew = false;
        },
        onOutput: (bytes) => {
          text.add(bytes);
          show();
        },
        onGap: (bytes) => {
          text.addGap(`– ${bytes === null ? 'Output' : sizeText(bytes)} left out here –`);
          show();
        },
        onEnd: () => show({ state: 'ended' }),
        onRefused: ({ reason, ...refusal }) =>
          show({ state: 'ended', problem: new Problem({ ...refusal, status: 0, detail: reason }) }),
        onAway: () => show({ state: 'away' }),
      },
    );
    return () => {
      stream.close();
      if (frame !== undefined) cancelAnimationFrame(frame);
    };
  }, [client, task, attempt, isWhole, round]);
  return shown;
}
