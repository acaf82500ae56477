import { lstat, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';

import type { BoardLine } from '../../../board/rules/board-line.ts';
import type { Artifact } from '../../../tasks/rules/ledger.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { messageOf } from '../../read-text.ts';
import { withBoard } from '../../with-board.ts';

const CHUNK = 64 * 1024;

interface Options {
  readonly force?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [file = '-'] = words;
  if (file.trim() === '') fail('invalid', 'The name of the file is empty.', 'copse export board.jsonl');
  await withBoard(cli, async ({ board }) => {
    const sink = file === '-' ? standardOutput(cli) : await newFile(path.resolve(cli.cwd, file), options);
    let lines = 0;
    let kept = 0;
    let waiting = '';
    await board.exportTo(async (line) => {
      lines += 1;
      if (isKeptFile(line)) kept += 1;
      waiting += `${JSON.stringify(line)}\n`;
      if (waiting.length < CHUNK) return;
      await sink.write(waiting);
      waiting = '';
    });
    await sink.write(waiting);
    await sink.end();
    if (kept > 0)
      cli.output.note(
        `The export has ${counted(kept, 'artifact')} without the content: the files stay in .copse/artifacts of the machine that added them.`,
      );
    if (file !== '-') cli.output.note(`Exported ${lines} lines to ${shown(file)}`);
  });
}

/** Patches can be made again from the commits. */
function isKeptFile(line: BoardLine): boolean {
  if (line.line !== 'record' || line.kind !== 'artifact') return false;
  return (line.record as Artifact).kind === 'file';
}

interface Sink {
  write(text: string): Promise<void>;
  end(): Promise<void>;
}

function standardOutput({ output }: Cli): Sink {
  return { write: (text) => output.raw(text), end: () => Promise.resolve() };
}

/** Readable by its owner only, because a board may hold secrets. It gets its name when it is complete. */
async function newFile(file: string, { force }: Options): Promise<Sink> {
  const there = await lstat(file).catch(() => undefined);
  if (there && !there.isFile()) {
    return fail('wrong_status', `${shown(file)} is not a regular file.`, 'copse export > board.jsonl');
  }
  if (there && !force) {
    return fail('wrong_status', `${shown(file)} already exists.`, `copse export ${shellWord(file)} --force`);
  }
  const partial = `${file}.${process.pid}.partial`;
  const handle = await orExplain(file, () => open(partial, 'wx', 0o600));
  const giveUp = async () => {
    await handle.close();
    await rm(partial, { force: true });
  };
  return {
    write: (text) => orExplain(file, () => handle.writeFile(text), giveUp),
    async end() {
      await orExplain(file, () => handle.sync(), giveUp);
      await handle.close();
      await rename(partial, file);
    },
  };
}

async function orExplain<T>(file: string, work: () => Promise<T>, giveUp?: () => Promise<void>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await giveUp?.();
    return fail(
      'unavailable',
      `${shown(file)} cannot be written: ${messageOf(error)}.`,
      'Check the path and the free disk space.',
    );
  }
}
