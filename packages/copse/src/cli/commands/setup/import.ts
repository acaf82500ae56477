import { createReadStream } from 'node:fs';
import path from 'node:path';

import { parseBoardLine } from '../../../board/export-line.ts';
import type { BoardLine } from '../../../board/rules/board-line.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { messageOf } from '../../read-text.ts';
import { withBoard } from '../../with-board.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [file = '-'] = words;
  await withBoard(
    cli,
    async ({ board }) => {
      const outcome = await board.importFrom(linesOf(cli, file === '-' ? file : path.resolve(cli.cwd, file)));
      if (outcome.kind !== 'imported') {
        fail(
          outcome.kind === 'not_empty' ? 'wrong_status' : 'invalid',
          `Nothing was imported. ${outcome.reason}`,
          outcome.kind === 'not_empty' ? INTO_AN_EMPTY_ONE : 'copse export --help',
        );
      }
      const { records, events } = outcome;
      if (options.json) cli.output.json({ records, events });
      else cli.output.line(`Imported ${records} records and ${events} events into ${shown(board.location)}`);
    },
    { mayReplaceLost: true },
  );
}

const INTO_AN_EMPTY_ONE =
  'Import it in a new clone, whose board is empty. To replace this board by a snapshot: copse board restore';

async function* linesOf(cli: Cli, file: string): AsyncGenerator<BoardLine> {
  const input = file === '-' ? cli.stdin() : createReadStream(file);
  const name = file === '-' ? 'standard input' : shown(file);
  let number = 0;
  try {
    for await (const line of textLines(input)) {
      number += 1;
      const parsed = parseBoardLine(line);
      if (parsed.kind === 'refused') {
        fail(
          'invalid',
          `Line ${number} of ${name} is not part of an export: ${parsed.reason}.`,
          'copse export --help',
        );
      }
      yield parsed.line;
    }
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    fail('not_found', `${name} cannot be read: ${messageOf(error)}. Check the path.`, 'copse import --help');
  }
}

/** Only line feeds end a line: `readline` would also split at U+2028, which JSON strings may contain. */
async function* textLines(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of input) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
  if (rest !== '') yield rest;
}
