/**
 * Who may type into the terminal. This tab passes on what is typed only between its own take-over and the end of it, as the
 * board tells it; the server asks the board once more before each input.
 */

import { type RefObject, useCallback, useRef, useState } from 'react';

import { personName } from '../../../../../copse/src/agents/rules/session/take-over.ts';
import { shown } from '../../../../../copse/src/kernel/text.ts';
import { usePerform } from '../../../parts/perform.ts';
import { withCommand } from '../../../parts/command-line.ts';
import { useToast } from '../../../parts/toasts.tsx';
import { useRecords } from '../../../store/hooks.tsx';
import type { ShownTask } from '../page.tsx';
import taskStyles from '../task.module.css';
import type { Refusal } from './output-stream.ts';
import styles from './session.module.css';

export interface TakeOver {
  readonly mayType: boolean;
  /** Whose terminal it is now; null: a person without a name. Undefined: its agent's. */
  readonly holder: string | null | undefined;
  readonly isBusy: boolean;
  readonly take: () => void;
  readonly giveBack: () => void;
  readonly onInputRefused: (refusal: Refusal) => void;
  readonly button: RefObject<HTMLButtonElement | null>;
}

/** One take-over: another one of the same person is not this tab's. */
interface Taken {
  readonly session: string;
  readonly at: number;
}

export function useTakeOver({ id, session }: Pick<ShownTask, 'id' | 'session'>): TakeOver {
  const sessions = useRecords('session');
  const toast = useToast();
  const [isBusy, perform] = usePerform();
  const [taken, setTaken] = useState<Taken>();
  const button = useRef<HTMLButtonElement>(null);
  const held = (session === null ? undefined : sessions.get(session))?.takenOver;
  const onInputRefused = useCallback(
    ({ code, reason, next }: Refusal) => {
      if (code === 'wrong_status' || code === 'not_found') setTaken(undefined);
      toast({ text: reason, next, isProblem: true });
    },
    [toast],
  );
  return {
    mayType: taken !== undefined && taken.session === session && taken.at === held?.at,
    holder: held === undefined ? undefined : held.person,
    isBusy,
    take: () =>
      perform('session.take_over', { task: id }, (output) => {
        setTaken({ session: output.session, at: Date.parse(output.since) });
        return { text: `You have taken over ${id}: what you type goes to its agent.` };
      }),
    giveBack: () => {
      setTaken(undefined);
      perform('session.give_back', { task: id }, () => ({
        text: `The terminal of ${id} is its agent's again.`,
      }));
    },
    onInputRefused,
    button,
  };
}

export function TakeOverBar({ id, takeOver }: { readonly id: string; readonly takeOver: TakeOver }) {
  const { mayType, holder, isBusy, take, giveBack, button } = takeOver;
  return (
    <section className={styles.holder} data-mine={mayType} aria-label="Who types">
      <p aria-live="polite">{wordsOf(takeOver)}</p>
      {!mayType && (
        <button
          type="button"
          className={taskStyles.button}
          aria-disabled={isBusy}
          {...withCommand(`copse take-over ${id}`)}
          onClick={() => isBusy || take()}
        >
          {holder === undefined ? 'Take over' : 'Type here too'}
        </button>
      )}
      {holder !== undefined && (
        <button
          ref={button}
          type="button"
          className={taskStyles.button}
          data-main={mayType}
          aria-disabled={isBusy}
          {...withCommand(`copse give-back ${id}`)}
          onClick={() => isBusy || giveBack()}
        >
          Give back
        </button>
      )}
    </section>
  );
}

function wordsOf({ mayType, holder }: TakeOver): string {
  if (mayType)
    return 'You have taken over: what you type goes to the agent. Ctrl ] or Ctrl Shift Escape leaves the terminal.';
  return holder === undefined
    ? 'Read-only. Take over to type.'
    : `${shown(personName(holder))} has taken over. Read-only here.`;
}
