/** The board as of an event. Nothing can be changed here: what is shown may have gone since. */

import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';

import { shown } from '../../../../copse/src/kernel/text.ts';
import { asProblem } from '../../api/as-problem.ts';
import type { Problem } from '../../api/problem.ts';
import { PageHead } from '../../parts/page-head.tsx';
import { Empty, NotReadYet, Refused } from '../../parts/page-state.tsx';
import { useDesk, useEventNumber, useIsRead } from '../../store/hooks.tsx';
import styles from './history.module.css';
import { PastBoard } from './past-board.tsx';
import { Slider } from './slider.tsx';
import { eventsOfBoard, eventsOfExport } from './sources.ts';
import { type EventSource, type Moment, Timeline } from './timeline.ts';

export default function HistoryPage() {
  const { client } = useDesk();
  const now = useEventNumber();
  const isRead = useIsRead();
  const [source, setSource] = useState<EventSource>();
  const [problem, setProblem] = useState<Problem>();
  /** Of exports that were opened: two may have one name. */
  const [count, setCount] = useState(0);
  // The board goes on while a person looks back, so its end is where the look began.
  const first = useRef(0);
  if (first.current === 0) first.current = now;
  const opened = useMemo(
    () => source ?? (first.current > 0 ? eventsOfBoard(client, first.current) : undefined),
    // A new end once the first snapshot is there.
    [client, source, now > 0],
  );
  const open = async (file: File) => {
    try {
      setProblem(undefined);
      setSource(await eventsOfExport(file));
      setCount((count) => count + 1);
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    <div className={styles.page}>
      <PageHead title="History" className={styles.head}>
        <label className={styles.open}>
          Open an export …
          <input
            type="file"
            accept=".jsonl,.ndjson,.json,text/plain"
            onChange={({ target }) => {
              const [file] = target.files ?? [];
              if (file) void open(file);
              // The same file may be chosen again, after it changed.
              target.value = '';
            }}
          />
        </label>
        <code>copse export &gt; board.jsonl</code>
        {source && (
          <button
            type="button"
            onClick={() => {
              first.current = 0;
              setSource(undefined);
            }}
          >
            Back to this board
          </button>
        )}
      </PageHead>
      {problem && <Refused problem={problem} onAgain={() => setProblem(undefined)} />}
      {opened === undefined && !isRead && <NotReadYet what="the board" />}
      {(opened?.last ?? (isRead ? 0 : 1)) === 0 && (
        <Empty title="The board has no events yet.">
          <p>Its history begins with the first task:</p>
          <code>copse add "Fix the login page"</code>
        </Empty>
      )}
      {opened && opened.last > 0 && <Past key={source ? count : 'board'} source={opened} />}
    </div>
  );
}

function Past({ source }: { readonly source: EventSource }) {
  const timeline = useMemo(() => new Timeline(source), [source]);
  const [wanted, setWanted] = useState(source.last);
  const { moment, way, problem, again } = useMoment(timeline, wanted);
  return (
    <>
      <div className={styles.banner} role="note">
        <p>
          <strong>
            <span aria-hidden="true">↶</span> You are looking at the past
          </strong>{' '}
          of {shown(source.name)}: event {moment?.at ?? wanted} of {source.last}. Actions are off here.
        </p>
        <Link href="/board">Back to the present</Link>
      </div>
      <Slider last={source.last} wanted={wanted} way={way} moment={moment} onChange={setWanted} />
      {problem && <Refused problem={problem} onAgain={again} />}
      {moment && <PastBoard tasks={moment.world.task} />}
    </>
  );
}

/** The last answer stays until the next is there; a look that is no longer wanted ends. */
function useMoment(timeline: Timeline, wanted: number) {
  const [moment, setMoment] = useState<Moment>();
  const [way, setWay] = useState<number>();
  const [problem, setProblem] = useState<Problem>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const look = new AbortController();
    const { signal } = look;
    const onWay = (number: number) => {
      if (!signal.aborted && wanted - number > 0) setWay(number);
    };
    const run = async () => {
      try {
        const found = await timeline.at(wanted, signal, onWay);
        if (signal.aborted) return;
        setProblem(undefined);
        setMoment(found);
      } catch (error) {
        if (!signal.aborted) setProblem(asProblem(error));
      }
      if (!signal.aborted) setWay(undefined);
    };
    const timer = setTimeout(() => void run(), SETTLE_MS);
    return () => {
      clearTimeout(timer);
      look.abort();
    };
  }, [timeline, wanted, tries]);
  const again = useCallback(() => setTries((count) => count + 1), []);
  return { moment, way, problem, again };
}

/** While the slider is being dragged. */
const SETTLE_MS = 60;
