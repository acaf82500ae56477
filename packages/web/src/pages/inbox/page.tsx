/**
 * What needs a person, one list. The selected one is open: what there is to know, and its answers. Moving selects, Enter opens
 * its page, the letters of `copse inbox` answer it, and the next one is selected.
 */

import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { VList, type VListHandle } from 'virtua';

import { type AnswerKey, isRepeat } from '../../../../copse/src/explain/rules/inbox/answers.ts';
import { useAnnounce } from '../../parts/announcer.tsx';
import { type KeyBinding, useKeys } from '../../parts/keys.ts';
import { useShowsTask } from '../../parts/open-task.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { Empty, Loading, Refused } from '../../parts/page-state.tsx';
import { useToast } from '../../parts/toasts.tsx';
import type { GivenAnswer } from './answering.ts';
import styles from './inbox.module.css';
import { NeedRow } from './need-row.tsx';
import { type KeyedNeed, useHolding, useNeeds } from './use-needs.ts';

/** The keys of all kinds; which of them answer depends on the selected one. */
const ANSWER_KEYS = ['y', 'n', 'a', 'r', 't', 'c'] as const;

export default function InboxPage() {
  const { asked, needs } = useNeeds();
  if (asked.data) return <Inbox needs={needs} />;
  return (
    <div className={styles.inbox}>
      <PageHead title="Inbox" className={styles.head} />
      {asked.error ? (
        <Refused problem={asked.error} onAgain={() => void asked.refetch()} />
      ) : (
        <Loading what="what needs you" />
      )}
    </div>
  );
}

function Inbox({ needs }: { readonly needs: readonly KeyedNeed[] }) {
  const { index, select } = useSelection(needs);
  const selected = needs[index];
  const list = useRef<VListHandle>(null);
  const root = useRef<HTMLDivElement>(null);
  const wantsFocus = useRef(false);
  const [pressed, setPressed] = useState<{ readonly key: string; readonly at: number }>();
  const holding = useHolding();
  const toast = useToast();
  useShowsTask(selected?.need.task);

  const focus = (key: string | undefined) => {
    wantsFocus.current = true;
    if (key !== undefined) select(key);
  };
  const back = useSyncExternalStore(
    (listener) => holding.subscribe(listener),
    () => holding.takenBack,
  );
  const seen = useRef(back);
  useEffect(() => {
    if (back === seen.current) return;
    seen.current = back;
    focus(back?.key);
  });
  // After the list is drawn with what is selected now.
  useEffect(() => {
    if (!wantsFocus.current) return undefined;
    list.current?.scrollToIndex(index, { align: 'nearest' });
    return focusRow(root.current, selected?.key, () => {
      wantsFocus.current = false;
    });
  });
  useInboxKeys({
    move: (by) => focus(needs[Math.min(needs.length - 1, Math.max(0, index + by))]?.key),
    press: (key) => setPressed({ key, at: performance.now() }),
  });
  const answer = (given: GivenAnswer) => {
    wantsFocus.current = true;
    holding.hold(given, toast);
  };
  return (
    <div className={styles.inbox} ref={root}>
      <PageHead title="Inbox" className={styles.head}>
        {needs.length > 0 && <p>{needs.length === 1 ? '1 waits for you' : `${needs.length} wait for you`}</p>}
      </PageHead>
      {needs.length === 0 ? (
        <NothingNeeds />
      ) : (
        <VList ref={list} data={needs} className={styles.list} keepMounted={[index]}>
          {(one, at) => (
            <NeedRow
              key={one.key}
              need={one.need}
              isSelected={at === index}
              onSelect={() => focus(one.key)}
              onAnswer={answer}
              pressed={at === index ? pressed : undefined}
            />
          )}
        </VList>
      )}
    </div>
  );
}

function NothingNeeds() {
  return (
    <Empty title="Nothing needs you now.">
      <p>Questions, reviews and tasks that are stuck appear here without a reload.</p>
      <p>
        Add work: <code>copse add "Fix the login page"</code>. Start agents: <code>copse orchestrate</code>
      </p>
    </Empty>
  );
}

/** The line of the selected one, or the heading when none is left. The list draws a line within a few frames. */
function focusRow(root: HTMLElement | null, key: string | undefined, done: () => void): () => void {
  let frame = 0;
  const look = () => {
    const row = root?.querySelector<HTMLElement>(
      key === undefined ? 'h1' : `[data-key="${CSS.escape(key)}"]`,
    );
    row?.focus({ preventScroll: true });
    // A line that is not measured yet is hidden, and takes no focus.
    if (row && document.activeElement === row) done();
    else frame = requestAnimationFrame(look);
  };
  frame = requestAnimationFrame(look);
  return () => cancelAnimationFrame(frame);
}

/** The selected one stays selected while it is there; when it goes, the one in its place follows. */
function useSelection(needs: readonly KeyedNeed[]) {
  const wanted = new URLSearchParams(location.search).get('task');
  const [key, setKey] = useState(() => needs.find(({ need }) => need.task === wanted)?.key);
  const place = useRef(0);
  const announce = useAnnounce();
  const found = needs.findIndex((one) => one.key === key);
  const index = found === -1 ? Math.max(0, Math.min(place.current, needs.length - 1)) : found;
  const now = needs[index];
  const holding = useHolding();
  useEffect(() => {
    place.current = index;
    if (key !== undefined && now?.key !== key && !holding.answered.has(key))
      announce(`${key.split(' ', 1)[0]} was answered elsewhere.`);
    setKey(now?.key);
  }, [index, key, now?.key, announce, holding]);
  return { index, select: setKey };
}

interface InboxKeys {
  readonly move: (by: number) => void;
  readonly press: (key: string) => void;
}

function useInboxKeys({ move, press }: InboxKeys): void {
  const holding = useHolding();
  const last = useRef<AnswerKey>(undefined);
  const bindings = useMemo<readonly KeyBinding[]>(() => {
    const answering = (key: string) => {
      const now = { key, atMs: performance.now() };
      const isHeldDown = isRepeat(last.current, now);
      last.current = now;
      if (!isHeldDown) press(key);
    };
    const does = {
      y: 'Allow',
      n: 'Deny',
      a: 'Approve, or queue it again',
      r: 'Restart, resume or retry',
      t: 'Answer with a text',
      c: 'Cancel the task',
    };
    return [
      { keys: ['j', 'ArrowDown'], does: 'Next', run: () => move(1), isMove: true },
      { keys: ['k', 'ArrowUp'], does: 'Before', run: () => move(-1), isMove: true },
      ...ANSWER_KEYS.map((key): KeyBinding => ({ keys: [key], does: does[key], run: answering })),
      { keys: ['o'], does: 'Open the task (also Enter)', run: () => press('o') },
      { keys: ['u'], does: 'Take the last answer back', run: () => holding.takeBack() },
    ];
  }, [move, press, holding]);
  useKeys('Inbox', bindings);
}
