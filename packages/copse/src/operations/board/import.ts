import { parseBoardLine } from '../../board/export-line.ts';
import type { BoardLine } from '../../board/rules/board-line.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';

interface Input {
  /** Lines of an export: all of them as one text, or one after another. */
  readonly text: string | AsyncIterable<string>;
  /** Where they come from. */
  readonly name?: string;
}

interface Imported {
  readonly records: number;
  readonly events: number;
  /** Of the board. */
  readonly location: string;
}

export async function act(
  access: Pick<Access, 'board'>,
  { text, name = 'the text' }: Input,
): Promise<Imported> {
  return access.board(async ({ board }) => {
    const outcome = await board.importFrom(parsed(typeof text === 'string' ? linesOf(text) : text, name));
    if (outcome.kind !== 'imported') {
      const isFull = outcome.kind === 'not_empty';
      fail(
        isFull ? 'wrong_status' : 'invalid',
        `Nothing was imported. ${outcome.reason}${isFull ? ' Import it in a new clone, whose board is empty.' : ''}`,
        isFull ? 'copse board restore # to replace this board by a snapshot' : 'copse export --help',
      );
    }
    const { records, events } = outcome;
    return { records, events, location: board.location };
  });
}

export function view({ records, events }: Imported) {
  return { records, events };
}

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

async function* parsed(
  lines: AsyncIterable<string> | Iterable<string>,
  name: string,
): AsyncGenerator<BoardLine> {
  let number = 0;
  for await (const line of lines) {
    number += 1;
    const read = parseBoardLine(line);
    if (read.kind === 'refused') {
      fail(
        'invalid',
        `Line ${number} of ${name} is not part of an export: ${read.reason}.`,
        'copse export --help',
      );
    }
    yield read.line;
  }
}
