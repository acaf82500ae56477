/** What happened to the task by attempts and landings, the newest first. The sentences are those of `copse events`. */

import { type ReactNode, useMemo, useState } from 'react';

import { eventClause } from '../../../../../copse/src/explain/rules/event-sentences.ts';
import { capitalised } from '../../../../../copse/src/explain/rules/status.ts';
import { counted, shown } from '../../../../../copse/src/kernel/text.ts';
import { spanText } from '../../../../../copse/src/kernel/time.ts';
import { readEventView } from '../../../../../copse/src/operations/views/data-view.ts';
import { allEvents, eventPages } from '../../../api/events.ts';
import type { OutputOf } from '../../../api/operations.ts';
import { Problem, endsPage } from '../../../api/problem.ts';
import { clipped } from '../../../parts/clipped.ts';
import { Loading, Refused } from '../../../parts/page-state.tsx';
import { useToast } from '../../../parts/toasts.tsx';
import { useAnswer, useDesk } from '../../../store/hooks.tsx';
import type { NumberedEvent } from '../../../store/world.ts';
import type { ShownTask } from '../page.tsx';
import { Since } from '../since.tsx';
import styles from './timeline.module.css';
import { hasEarlier, merged, withNewest } from './event-pages.ts';
import { type TimelineMark, type TimelineSection, timelineSections } from './sections.ts';

type ListedEvent = OutputOf<'event.list'>['events'][number];

const NEWEST = 200;
const EARLIER = 1_000;

/** Only programs use these. */
const QUIET = new Set([
  'attempt.process_known',
  'session.conversation_known',
  'attempt.snapshotted',
  'attempt.hook_started',
  'landing.journalled',
  'resource.taken',
  'resource.released',
]);

export function Timeline({ task }: { readonly task: ShownTask }) {
  const { events, newest, hasMore, isBusy, readEarlier } = useEvents(task.id);
  const { data, error, refetch } = newest;
  const sections = useMemo(
    () =>
      timelineSections(
        events
          .filter(({ type }) => !QUIET.has(type))
          .map((viewed) => ({ number: viewed.number, event: readEventView(viewed) })),
      ),
    [events],
  );
  if (endsPage(error, data)) return <Refused problem={error} onAgain={() => void refetch()} />;
  if (data === undefined) return <Loading what="the timeline" />;
  return (
    <>
      <ol className={styles.sections} aria-label="What happened, newest first">
        {sections.map((section) => (
          <Section key={section.number} section={section} task={task} />
        ))}
      </ol>
      {hasMore && (
        <button type="button" className={styles.more} aria-disabled={isBusy} onClick={readEarlier}>
          {isBusy ? 'Reading …' : 'Show earlier events'}
        </button>
      )}
    </>
  );
}

function useEvents(task: string) {
  const { client } = useDesk();
  const toast = useToast();
  const input = { task, last: NEWEST, limit: NEWEST };
  const newest = useAnswer('event.list', input, {
    about: ['task', 'session', 'attempt', 'landing', 'workspace', 'ledger', 'artifact', 'check'],
    task,
    read: (signal) => allEvents(client, input, { signal }),
  });
  const [read, setRead] = useState<{ readonly of: unknown; readonly events: readonly ListedEvent[] }>({
    of: undefined,
    events: [],
  });
  const [start, setStart] = useState<number>();
  const [isBusy, setBusy] = useState(false);
  const { data } = newest;
  if (data !== undefined && data !== read.of)
    setRead({ of: data, events: withNewest(read.events, data.events, data.events.length >= NEWEST) });
  const isAll = data !== undefined && data.events.length < NEWEST;
  const readEarlier = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      // Counted from the newest: events that came meanwhile make this page overlap with those that are known.
      const last = read.events.length + EARLIER;
      const [first] = read.events;
      const found: ListedEvent[] = [];
      for await (const { events } of eventPages(client, { task, last, limit: EARLIER })) {
        found.push(...events);
        if (found.length >= EARLIER || (found.at(-1)?.number ?? 0) >= (first?.number ?? 0)) break;
      }
      setStart(found[0]?.number === first?.number ? first?.number : undefined);
      setRead((before) => ({ ...before, events: merged(found, before.events) }));
    } catch (error) {
      const next = error instanceof Problem ? error.next : [];
      toast({ text: error instanceof Error ? error.message : String(error), isProblem: true, next });
    } finally {
      setBusy(false);
    }
  };
  return {
    events: read.events,
    newest,
    hasMore: hasEarlier(read.events, isAll ? read.events[0]?.number : start),
    isBusy,
    readEarlier: () => void readEarlier(),
  };
}

function Section({ section, task }: { readonly section: TimelineSection; readonly task: ShownTask }) {
  const { events, result } = section;
  return (
    <li className={styles.section}>
      <details open>
        <summary>
          <h2>{titleOf(section, task)}</h2>
          {result && (
            <strong data-mark={result.mark}>
              <span aria-hidden="true">{MARKS[result.mark]}</span> {result.text}
            </strong>
          )}
          <span className={styles.faint}>{factsOf(section).join(' · ')}</span>
        </summary>
        <ol className={styles.events}>
          {events.map((one) => (
            <Event key={one.number} event={one.event} />
          ))}
        </ol>
      </details>
    </li>
  );
}

function Event({ event }: Pick<NumberedEvent, 'event'>): ReactNode {
  const mark = markOf(event.type);
  return (
    <li data-mark={mark}>
      <span className={styles.mark} aria-hidden="true">
        {MARKS[mark]}
      </span>
      <span>{clipped(capitalised(sentenceOf(event)))}</span>
      <Since at={new Date(event.at).toISOString()} />
    </li>
  );
}

/** An event of a newer Copse has no sentence here. */
function sentenceOf(event: NumberedEvent['event']): string {
  try {
    return eventClause(event);
  } catch {
    return event.type;
  }
}

function titleOf(
  { kind, attempt, agent, isByHand, target }: TimelineSection,
  { attempts }: ShownTask,
): string {
  if (kind === 'landing') return `Landing in ${shown(target ?? 'its target')}`;
  if (kind === 'start') return 'Before any attempt';
  if (kind === 'earlier') return 'Earlier';
  const at = attempts.findIndex(({ id }) => id === attempt);
  const by = agent ?? attempts[at]?.agent;
  if (isByHand) return `Work by hand${by ? `: ${shown(by)}` : ''}`;
  return `Attempt${at === -1 ? '' : ` ${at + 1}`}${by ? ` by ${shown(by)}` : ''}`;
}

const CONVERSATIONS = {
  new: 'new conversation',
  follows: 'new conversation after an earlier one',
  continues: 'same conversation',
} as const;

/** What a person wants to know of a section without reading its events. */
function factsOf({
  kind,
  conversation,
  phases,
  handbacks,
  result,
  from,
  to,
}: TimelineSection): readonly string[] {
  if (kind === 'start' || kind === 'earlier') return [];
  return [
    ...(result === undefined ? [] : [`took ${spanText(to - from)}`]),
    ...(conversation === undefined ? [] : [CONVERSATIONS[conversation]]),
    ...(phases.length === 0 ? [] : [`phases: ${phases.join(' → ')}`]),
    ...(handbacks === 0 || kind === 'landing' ? [] : [counted(handbacks, 'handback')]),
  ];
}

const MARKS: Readonly<Record<TimelineMark, string>> = {
  bad: '✗',
  person: '?',
  landing: '⇥',
  good: '✓',
  work: '·',
};

function markOf(type: string): TimelineMark {
  if (/crashed|failed|conflicted|rejected|interrupted/.test(type)) return 'bad';
  if (/attention|stuck|asked|sent_to_review|handed_back/.test(type)) return 'person';
  if (type === 'task.done' || type === 'landing.landed') return 'good';
  return type.startsWith('landing.') ? 'landing' : 'work';
}
