/**
 * What happened to a task, in sections: what came before its first attempt, each attempt, each landing. Pure.
 *
 *   - A claim of the task begins an attempt, an entry into the queue begins a landing; each other event belongs to the section
 *     that began last.
 *   - What is told late about an attempt, its session or a landing belongs to the section of that record.
 *   - Every event is in one section; sections and events are the newest first.
 */

import type { BoardEvent } from '../../../../../copse/src/board/rules/event.ts';
import type { Claim } from '../../../../../copse/src/tasks/rules/task.ts';
import type { NumberedEvent } from '../../../store/world.ts';
import { phaseWord } from '../../../parts/status-word.ts';

export type TimelineMark = 'bad' | 'person' | 'landing' | 'good' | 'work';

interface SectionResult {
  readonly text: string;
  readonly mark: TimelineMark;
}

export interface TimelineSection {
  /** Of the first event. */
  readonly number: number;
  readonly kind: 'start' | 'earlier' | 'attempt' | 'landing';
  /** Of an attempt, where it is known. */
  readonly attempt: string | undefined;
  readonly agent: string | undefined;
  readonly isByHand: boolean;
  /** Of a landing. */
  readonly target: string | undefined;
  readonly conversation: 'new' | 'follows' | 'continues' | undefined;
  readonly phases: readonly string[];
  readonly handbacks: number;
  /** Undefined while it goes on. */
  readonly result: SectionResult | undefined;
  readonly from: number;
  /** Of the result; what is told later took no more time. */
  readonly to: number;
  readonly events: readonly NumberedEvent[];
}

export function timelineSections(events: readonly NumberedEvent[]): readonly TimelineSection[] {
  const grouped = new Grouped(events[0]?.event.type === 'task.created' ? 'start' : 'earlier');
  for (const one of events) grouped.add(one);
  return grouped.sections.flatMap((begun) => sectionOf(begun)).toReversed();
}

interface Begun extends Pick<TimelineSection, 'kind' | 'attempt' | 'agent' | 'isByHand' | 'target'> {
  readonly events: NumberedEvent[];
}

class Grouped {
  readonly sections: Begun[];
  #current: Begun;
  readonly #ofRecord = new Map<string, Begun>();

  constructor(kind: 'start' | 'earlier') {
    this.#current = {
      kind,
      attempt: undefined,
      agent: undefined,
      isByHand: false,
      target: undefined,
      events: [],
    };
    this.sections = [this.#current];
  }

  add(one: NumberedEvent): void {
    const { event } = one;
    const claim = claimOf(event);
    const isHandback = event.type === 'task.handed_back';
    // A handback ends the section before; the attempt that it begins has the events after it.
    if (claim !== undefined && !isHandback) this.#beginAttempt(claim);
    if (event.type === 'attempt.started' && this.#ofRecord.get(event.id) === undefined)
      this.#begin({ kind: 'attempt', attempt: event.id }, [event.id, event.session]);
    if (event.type === 'landing.queued') this.#begin({ kind: 'landing', target: event.target }, [event.id]);
    this.#sectionOf(event).events.push(one);
    if (claim !== undefined && isHandback) this.#beginAttempt(claim);
  }

  #beginAttempt({ attempt, session, agent, isByHand }: Claim): void {
    this.#begin({ kind: 'attempt', attempt, agent, isByHand: isByHand === true }, [attempt, session]);
  }

  #begin(given: Partial<Begun> & Pick<Begun, 'kind'>, records: readonly string[]): void {
    const none = { attempt: undefined, agent: undefined, isByHand: false, target: undefined };
    this.#current = { ...none, ...given, events: [] };
    this.sections.push(this.#current);
    for (const record of records) this.#ofRecord.set(record, this.#current);
  }

  #sectionOf(event: BoardEvent): Begun {
    const about = event.type === 'ledger.added' ? event.session : event.id;
    return this.#ofRecord.get(about ?? '') ?? this.#current;
  }
}

function claimOf(event: BoardEvent): Claim | undefined {
  switch (event.type) {
    case 'task.claimed':
    case 'task.resumed':
      return event.claim;
    case 'task.restarted':
    case 'task.handed_back':
      return event.grant?.claim;
    default:
      return undefined;
  }
}

function sectionOf({ events, ...of }: Begun): readonly TimelineSection[] {
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined) return [];
  const section: TimelineSection = {
    ...of,
    number: first.number,
    from: first.event.at,
    to: last.event.at,
    handbacks: events.filter(({ event }) => event.type === 'task.handed_back').length,
    conversation: undefined,
    phases: [],
    result: undefined,
    events: events.toReversed(),
  };
  for (const { event } of events) Object.assign(section, told(section, event));
  return [section];
}

/** What an event says about its section. */
function told(section: TimelineSection, event: BoardEvent): Partial<TimelineSection> {
  switch (event.type) {
    case 'session.opened':
      return {
        agent: section.agent ?? event.agent,
        conversation: event.follows === null ? 'new' : 'follows',
        ...withPhase(section, event.phase),
      };
    case 'session.reopened':
      return { conversation: 'continues', ...withPhase(section, event.phase) };
    case 'session.advanced':
      return withPhase(section, event.phase);
    default: {
      const result = resultOf(section, event);
      return result === null ? {} : { result, to: event.at };
    }
  }
}

function withPhase({ phases }: TimelineSection, phase: Parameters<typeof phaseWord>[0]) {
  const word = phaseWord(phase);
  return word === null || phases.at(-1) === word ? {} : { phases: [...phases, word] };
}

/** Null: it says nothing about the end; undefined: the section goes on again. */
function resultOf(section: TimelineSection, event: BoardEvent): SectionResult | undefined | null {
  const isLanding = section.kind === 'landing';
  switch (event.type) {
    case 'task.crashed':
      return bad('crashed');
    case 'task.failed':
      return bad('failed');
    case 'task.stuck':
      return person('stuck');
    case 'task.needs_attention':
      return person('needs you');
    case 'task.cancelled':
      return bad('cancelled');
    case 'task.paused':
      return work('paused');
    case 'task.parked':
      return work('postponed');
    case 'task.sent_to_review':
      return person('finished, in review');
    case 'task.queued':
      return isLanding ? null : good('finished');
    case 'task.done':
      return event.how === 'landed' ? good('landed') : good('done');
    case 'task.handed_back':
      return isLanding ? person('handed back') : null;
    case 'attempt.ended':
      return section.result === undefined ? work(event.reason.replaceAll('_', ' ')) : null;
    case 'landing.landed':
      return good('landed');
    case 'landing.conflicted':
      return bad('conflict');
    case 'landing.rejected':
      return bad('cannot land');
    case 'landing.withdrawn':
      return section.result === undefined ? work('left the queue') : null;
    case 'landing.requeued':
      return undefined;
    default:
      return null;
  }
}

const bad = (text: string): SectionResult => ({ text, mark: 'bad' });
const person = (text: string): SectionResult => ({ text, mark: 'person' });
const good = (text: string): SectionResult => ({ text, mark: 'good' });
const work = (text: string): SectionResult => ({ text, mark: 'work' });
