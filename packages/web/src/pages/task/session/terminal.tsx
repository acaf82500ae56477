/** The terminal of an agent, as large as it is there. It shows; what a person types goes to the agent only after a take-over. */

import type { ITheme, Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';

import { sizeText } from '../../../../../copse/src/explain/rules/amounts.ts';
import { shown as safe } from '../../../../../copse/src/kernel/text.ts';
import { leavesTerminal } from '../../../parts/typed-text.ts';
import { useDesk } from '../../../store/hooks.tsx';
import { FontFit } from './font-fit.ts';
import { OutputStream, type Refusal } from './output-stream.ts';
import { quietTerminal } from './quiet-terminal.ts';
import { ScreenWriter } from './screen-writer.ts';
import styles from './session.module.css';

interface TerminalViewProps {
  readonly task: string;
  readonly attempt: string;
  /** What is typed is passed on. */
  readonly mayType: boolean;
  readonly onInputRefused: (refusal: Refusal) => void;
  /** The key that leaves was pressed: the keyboard belongs to the page again. */
  readonly onLeave: () => void;
}

interface Shown {
  readonly state: 'opening' | 'live' | 'away' | 'none';
  readonly why: string;
  readonly gap: string | undefined;
}

export default function TerminalView(props: TerminalViewProps) {
  const { task, attempt, mayType } = props;
  const { client } = useDesk();
  const place = useRef<HTMLDivElement>(null);
  const terminal = useRef<Terminal>(null);
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });
  const [{ state, why, gap }, setShown] = useState<Shown>({ state: 'opening', why: '', gap: undefined });
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    let stream: OutputStream | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    let waitMs = FIRST_AGAIN_MS;
    const drawn = quietTerminal({
      theme: themeOf(element),
      font: getComputedStyle(element).fontFamily,
      onTyped: (text) => {
        if (latest.current.mayType) stream?.type(text);
      },
    });
    drawn.attachCustomKeyEventHandler((event) => {
      // Without a take-over all keys are the page's; with it, one way out.
      if (!latest.current.mayType) return false;
      if (!leavesTerminal(event)) return true;
      // The browser would enlarge the page on layouts that have + there.
      event.preventDefault();
      if (event.type === 'keydown') latest.current.onLeave();
      return false;
    });
    drawn.open(element);
    terminal.current = drawn;
    const fit = new FontFit(drawn, element);
    const writer = new ScreenWriter(drawn, {
      onBehind: () => stream?.hold(),
      onCaughtUp: () => stream?.goOn(),
    });
    const set = (change: Partial<Shown>) => setShown((before) => ({ ...before, ...change }));
    // Its agent may still be starting.
    const wait = (reason: string) => {
      set({ state: 'none', why: reason });
      again = setTimeout(open, waitMs);
      waitMs = Math.min(LONGEST_AGAIN_MS, waitMs * 2);
    };
    const open = () => {
      stream = new OutputStream(
        client,
        { task, attempt, view: 'terminal' },
        {
          onOpen: () => set({ state: 'live' }),
          onOutput: (bytes) => writer.draw(bytes),
          onScreen: (screen) => {
            waitMs = FIRST_AGAIN_MS;
            writer.draw(screen);
          },
          onGap: (bytes) => set({ gap: gapText(bytes) }),
          onEnd: wait,
          onRefused: ({ reason }) => wait(reason),
          onAway: () => set({ state: 'away' }),
          onInputRefused: (refusal) => latest.current.onInputRefused(refusal),
        },
      );
    };
    open();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const repaint = () => (drawn.options.theme = themeOf(element));
    dark.addEventListener('change', repaint);
    return () => {
      dark.removeEventListener('change', repaint);
      clearTimeout(again);
      stream?.close();
      fit.stop();
      terminal.current = null;
      drawn.dispose();
    };
  }, [client, task, attempt]);
  useEffect(() => {
    const drawn = terminal.current;
    if (drawn === null) return;
    drawn.options.disableStdin = !mayType;
    // Nothing to type into: the Tab key does not stop there.
    if (drawn.textarea) drawn.textarea.tabIndex = mayType ? 0 : -1;
    // Who loses it while typing stays there: what is typed then must not be keys of the page.
    if (mayType) drawn.focus();
  }, [mayType, task, attempt]);
  return (
    <>
      <p className={styles.line}>
        <span data-state={state} className={styles.state}>
          {STATES[state]}
        </span>
        {state === 'none' && <span>{safe(why)}</span>}
        {gap !== undefined && (
          <span className={styles.gap} data-kind="gap">
            {gap}
          </span>
        )}
      </p>
      <div
        className={styles.terminal}
        data-typing={mayType}
        // A person scrolls it sideways by keyboard.
        tabIndex={0}
        role="region"
        aria-label={`Terminal of ${task}`}
      >
        <div ref={place} />
      </div>
    </>
  );
}

const FIRST_AGAIN_MS = 1_000;
const LONGEST_AGAIN_MS = 30_000;

const STATES = {
  opening: '○ opening …',
  live: '● live',
  away: '○ no connection: retrying',
  none: '○ no terminal: retrying.',
} as const;

/** How much a flood left out is not known; its gap counts one byte. */
function gapText(bytes: number | null): string {
  const what = bytes === null || bytes <= 1 ? 'Output' : sizeText(bytes);
  return `${what} left out at ${new Date().toLocaleTimeString()}. The screen is the present one.`;
}

function themeOf(element: HTMLElement): ITheme {
  const { color, backgroundColor } = getComputedStyle(element);
  return { foreground: color, background: backgroundColor, cursor: color, cursorAccent: backgroundColor };
}
