import { linkSync, lstatSync, rmSync } from 'node:fs';
import path from 'node:path';

import { machineText } from '../../../agents/act/artifacts.ts';
import type { Artifact } from '../../../tasks/rules/ledger.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { shown } from '../../../kernel/text.ts';
import { hasCode } from '../../../kernel/system/error-code.ts';
import { writeAtomically } from '../../../kernel/system/write-atomically.ts';
import type { Board } from '../../../board/port.ts';
import { readArtifact } from '../../../compose/on-demand.ts';
import { nodeHere, requireRepository } from '../../../compose/open.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { messageOf } from '../../read-text.ts';
import { withBoard } from '../../with-board.ts';
import { requireArtifact } from '../../../operations/find.ts';

interface Options {
  readonly force?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [id = '', file = '-'] = words;
  if (file.trim() === '')
    fail('invalid', 'The name of the file is empty.', `copse artifact get ${id} content.bin`);
  await withBoard(cli, async ({ board }) => {
    const artifact = await requireArtifact(board, id);
    const content = await contentOf(cli, board, artifact);
    if (file === '-') return print(cli, artifact, content);
    write(path.resolve(cli.cwd, file), content, { ...options, named: file, id: artifact.id });
    cli.output.note(`Wrote ${content.length} bytes to ${shown(file)}`);
  });
}

async function contentOf(cli: Cli, board: Board, artifact: Artifact): Promise<Uint8Array> {
  const { id, kind, address } = artifact;
  if (kind === 'commit')
    fail('wrong_status', `${id} is the commit ${address}: git has it.`, `git show ${address}`);
  if (kind === 'uri')
    fail(
      'wrong_status',
      `${id} is an address, which Copse never opens: ${shown(address)}`,
      `copse artifact show ${id}`,
    );
  const read = await readArtifact(cli, artifact);
  if (read.kind === 'read') return read.content;
  const node = nodeHere(requireRepository(cli));
  const isElsewhere =
    read.kind === 'missing' && artifact.content !== undefined && artifact.content.node !== node;
  return fail(
    'not_found',
    await machineText({ board, node }, artifact, read.kind),
    isElsewhere ? `copse artifact get ${id} # on that machine` : `copse artifact show ${id}`,
  );
}

/** An agent wrote it: its control characters would act on a terminal. */
async function print({ output }: Cli, { id }: Artifact, content: Uint8Array): Promise<void> {
  if (output.isTerminal && CONTROLS.test(Buffer.from(content).toString('latin1')))
    fail(
      'wrong_status',
      `${id} contains control characters, which a terminal would obey.`,
      `copse artifact get ${id} content.bin`,
    );
  await output.raw(content);
}

// Everything but tab, line feed and carriage return before a line feed.
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|\xc2[\x80-\x9f]/;

/** Without `--force`, a file that appears meanwhile is not replaced either. */
function write(
  file: string,
  content: Uint8Array,
  { force = false, named, id }: Options & { readonly named: string; readonly id: string },
): void {
  const there = lstatSync(file, { throwIfNoEntry: false });
  if (there && !there.isFile())
    fail('wrong_status', `${shown(named)} is not a regular file.`, `copse artifact get ${id} content.bin`);
  const exists = (): never =>
    fail(
      'wrong_status',
      `${shown(named)} already exists.`,
      `copse artifact get ${id} ${shellWord(named)} --force`,
    );
  if (there && !force) exists();
  const aside = `${file}.${process.pid}.partial`;
  try {
    if (force) return writeAtomically(file, content, { isDurable: true });
    writeAtomically(aside, content, { isDurable: true });
    linkSync(aside, file);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) exists();
    fail(
      'unavailable',
      `${shown(named)} cannot be written: ${messageOf(error)}.`,
      'check the path and the free disk space',
    );
  } finally {
    rmSync(aside, { force: true });
  }
}
