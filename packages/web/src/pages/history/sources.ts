/** Events of the board by pages of event.list, and those of an export by parts of its file. */

import type { BoardLine } from '../../../../copse/src/board/rules/board-line.ts';
import { readEventView } from '../../../../copse/src/operations/views/data-view.ts';
import type { Client } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import type { NumberedEvent } from '../../store/world.ts';
import type { EventSource } from './timeline.ts';

const PAGE = 1_000;

export function eventsOfBoard(client: Client, last: number): EventSource {
  return {
    name: 'this board',
    last,
    async page(after, signal) {
      const { events } = await client.call('event.list', { after: String(after), limit: PAGE }, { signal });
      return events.map((viewed) => ({ number: viewed.number, event: readEventView(viewed) }));
    },
  };
}

/** Only places in the file are kept, not its lines: an export may be larger than the memory. */
export async function eventsOfExport(file: File): Promise<EventSource> {
  const places = await placesIn(file);
  const last = places.at(-1)?.number ?? 0;
  return {
    name: file.name,
    last,
    async page(after) {
      const at = places.findLastIndex(({ number }) => number <= after);
      const begin = places[Math.max(0, at)];
      const end = places[Math.max(0, at) + 1];
      if (begin === undefined || after >= last) return [];
      const text = await file.slice(begin.offset, end?.offset ?? file.size).text();
      return text.split('\n').flatMap(eventOfLine);
    },
  };
}

interface Place {
  /** The offset is behind this event. */
  readonly number: number;
  readonly offset: number;
}

const EVENT_START = '{"line":"event"';

async function placesIn(file: File): Promise<readonly Place[]> {
  const places: Place[] = [];
  let [count, isFirst] = [0, true];
  for await (const { text, offset, end } of linesOf(file)) {
    if (isFirst) requireBoard(text, file.name);
    isFirst = false;
    if (!text.startsWith(EVENT_START)) continue;
    if (count === 0) places.push({ number: 0, offset });
    count += 1;
    if (count % PAGE === 0) places.push({ number: count, offset: end });
  }
  if (isFirst) requireBoard('', file.name);
  if (count % PAGE !== 0) places.push({ number: count, offset: file.size });
  return places;
}

/** Lines with their places in bytes; only the beginning of a line is decoded here. */
async function* linesOf(file: File): AsyncGenerator<{ text: string; offset: number; end: number }> {
  const decoder = new TextDecoder();
  const reader = file.stream().getReader();
  let [held, offset] = [new Uint8Array(), 0];
  for (;;) {
    const { value, done } = await reader.read();
    const bytes: Uint8Array = value === undefined ? held : joined(held, value);
    let begin = 0;
    for (let end = bytes.indexOf(NEWLINE, begin); end !== -1; end = bytes.indexOf(NEWLINE, begin)) {
      yield {
        text: head(decoder, bytes.subarray(begin, end)),
        offset: offset + begin,
        end: offset + end + 1,
      };
      begin = end + 1;
    }
    held = bytes.slice(begin);
    offset += begin;
    if (!done) continue;
    if (held.length > 0) yield { text: head(decoder, held), offset, end: offset + held.length };
    return;
  }
}

const NEWLINE = 10;
const HEAD = 300;

function head(decoder: TextDecoder, bytes: Uint8Array): string {
  return decoder.decode(bytes.subarray(0, HEAD));
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  if (one.length === 0) return other;
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

function eventOfLine(text: string): readonly NumberedEvent[] {
  if (!text.startsWith(EVENT_START)) return [];
  const line = JSON.parse(text) as BoardLine;
  return line.line === 'event' ? [{ number: line.recorded.number, event: line.recorded.event }] : [];
}

function requireBoard(text: string, name: string): void {
  if (text.startsWith('{"line":"board","format":1,')) return;
  throw new Problem({
    code: 'invalid',
    status: 0,
    detail: `${name} is not an export of a board.`,
    next: ['copse export > board.jsonl'],
  });
}
