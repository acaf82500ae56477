import { createReadStream } from 'node:fs';
import path from 'node:path';

import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/board/import.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { unreadText } from '../../read-text.ts';
import { withBoard } from '../../with-board.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word = '-'] = words;
  const file = word === '-' ? word : path.resolve(cli.cwd, word);
  const name = word === '-' ? 'standard input' : shown(file);
  await withBoard(
    cli,
    async (context) => {
      const access = { board: <T>(work: (here: typeof context) => Promise<T>) => work(context) };
      const imported = await act(access, { text: linesOf(cli, file, name), name });
      if (options.json) return cli.output.json(view(imported));
      const { records, events, location } = imported;
      cli.output.line(`Imported ${records} records and ${events} events into ${shown(location)}`);
    },
    // An import also brings back a board that was lost.
    { mayReplaceLost: true },
  );
}

async function* linesOf(cli: Cli, file: string, name: string): AsyncGenerator<string> {
  try {
    yield* textLines(file === '-' ? cli.stdin() : createReadStream(file));
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    fail('not_found', unreadText(error, name), 'copse import --help');
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
