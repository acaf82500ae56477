/**
 * What needs a person, one list. The selected one is open: what there is to know, and its answers. Moving selects, Enter opens
 * its page, the letters of `copse inbox` answer it, and the next one is selected.
 */

import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { VList, type VListHandle } from 'virtua';

import type { AnswerKey } from '../../../../copse/src/explain/rules/inbox/answers.ts';
import { useAnnounce } from '../../parts/announcer.tsx';
import { type KeyBinding, useKeys } from '../../parts/keys.ts';
import { useShowsTask } from '../../parts/open-task.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { Empty, Loading, NotAnew, Refused } from '../../parts/page-state.tsx';
import { useToast } from '../../parts/toasts.tsx';
import type { AnyAnswer } from '../../store/hooks.tsx';
import type { GivenAnswer } from './answering.ts';
import { withoutEmptyFields } from './fields.ts';
import styles from './inbox.module.css';
import { decideKey } from './keys.ts';
import { NeedRow } from './need-row.tsx';
import { type Row, type Selection, decideSelection } from './rows.ts';
import { useHolding } from './use-holding.ts';
import { useNeeds } from './use-needs.ts';

/** The keys of all kinds; which of them answer depends on the selected one. */
const ANSWER_KEYS = ['y', 'n', 'a', 'r', 't', 'c'] as const;

export default function InboxPage() {
  const { asked, rows, isCurrent } = useNeeds();
  if (asked.data) return <Inbox asked={asked} rows={rows} isCurrent={isCurrent} />;
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

interface InboxProps {
  readonly asked: AnyAnswer;
  readonly rows: readonly Row[];
  readonly isCurrent: boolean;
}

function Inbox({ asked, rows, isCurrent }: InboxProps) {
  const { index, wanted, select, movedAtMs } = useSelection(rows, isCurrent);
  const selected = rows[index];
  const list = useRef<VListHandle>(null);
  const root = useRef<HTMLDivElement>(null);
  const wantsFocus = useRef(false);
  const [pressed, setPressed] = useState<{ readonly key: string; readonly at: number }>();
  const holding = useHolding();
  const toast = useToast();
  useShowsTask(selected?.need.task);
  useEffect(() => holding.catchUp(toast), [holding, toast]);

  const focus = (key: string | undefined) => {
    wantsFocus.current = true;
    if (key === undefined) return;
    select(key);
    const { fields } = holding;
    fields.set(withoutEmptyFields(fields.now, key));
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
    if (index !== -1) list.current?.scrollToIndex(index, { align: 'nearest' });
    return focusRow(root.current, selected?.key, () => {
      wantsFocus.current = false;
    });
  });
  useInboxKeys({
    move: (by) => focus(rows[Math.min(rows.length - 1, Math.max(0, index + by))]?.key),
    open: () => setPressed({ key: 'o', at: performance.now() }),
    answer: (key, last) => {
      const decision = decideKey({ key, last, row: selected, wanted, movedAtMs: movedAtMs.current });
      if (decision.kind === 'said') toast({ text: decision.text });
      if (decision.kind === 'pressed') setPressed({ key: key.key, at: key.atMs });
    },
  });
  const answer = (given: GivenAnswer) => {
    wantsFocus.current = true;
    holding.hold(given, toast);
  };
  const waiting = rows.filter(({ isGone }) => !isGone).length;
  return (
    <div className={styles.inbox} ref={root}>
      <PageHead title="Inbox" className={styles.head}>
        {waiting > 0 && <p>{waiting === 1 ? '1 waits for you' : `${waiting} wait for you`}</p>}
      </PageHead>
      <NotAnew answers={[asked]} />
      {rows.length === 0 && (wanted === undefined ? <NothingNeeds /> : <Loading what="what needs you" />)}
      {rows.length > 0 && (
        <VList ref={list} data={rows} className={styles.list} keepMounted={index === -1 ? [] : [index]}>
          {(row, at) => (
            <NeedRow
              key={row.key}
              row={row}
              isSelected={at === index}
              onSelect={() => focus(row.key)}
              onLeave={() => {
                wantsFocus.current = true;
                select(undefined);
              }}
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

function useSelection(rows: readonly Row[], isCurrent: boolean) {
  const [before, setBefore] = useState<Selection>(() => ({
    key: undefined,
    place: 0,
    wanted: new URLSearchParams(location.search).get('task') ?? undefined,
  }));
  const announce = useAnnounce();
  const toast = useToast();
  const holding = useHolding();
  const movedAtMs = useRef<number>(undefined);
  const { selection, index, said } = decideSelection(before, {
    rows,
    isCurrent,
    isAnsweredHere: (key) => holding.answers.has(key),
  });
  const { key, place, wanted } = selection;
  const isLinked = before.wanted !== undefined;
  useEffect(() => {
    if (said !== undefined) {
      // The person asked for another task, so this is shown too.
      if (isLinked) toast({ text: said });
      else announce(said);
      movedAtMs.current = performance.now();
    }
    setBefore({ key, place, wanted });
  }, [said, isLinked, key, place, wanted, announce, toast]);
  return {
    index,
    wanted,
    movedAtMs,
    /** Without a key it is the line in the same place. */
    select: (next: string | undefined) => setBefore({ key: next, place, wanted: undefined }),
  };
}

interface InboxKeys {
  readonly move: (by: number) => void;
  readonly open: () => void;
  readonly answer: (key: AnswerKey, last: AnswerKey | undefined) => void;
}

function useInboxKeys({ move, open, answer }: InboxKeys): void {
  const holding = useHolding();
  const last = useRef<AnswerKey>(undefined);
  const bindings = useMemo<readonly KeyBinding[]>(() => {
    const answering = (key: string) => {
      const now = { key, atMs: performance.now() };
      answer(now, last.current);
      last.current = now;
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
      { keys: ['o'], does: 'Open the task (also Enter)', run: open },
      { keys: ['u'], does: 'Take the last answer back', run: () => holding.takeBack() },
    ];
  }, [move, open, answer, holding]);
  useKeys('Inbox', bindings);
}
