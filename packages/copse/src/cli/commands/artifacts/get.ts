import { linkSync, lstatSync, rmSync } from 'node:fs';
import path from 'node:path';

import { withAccess } from '../../../compose/operations/access.ts';
import { hasCode } from '../../../kernel/system/error-code.ts';
import { writeAtomically } from '../../../kernel/system/write-atomically.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import { act, readContent, view } from '../../../operations/plans/artifact-content.ts';
import type { Artifact } from '../../../tasks/rules/ledger.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { messageOf } from '../../read-text.ts';

interface Options {
  readonly force?: boolean;
  readonly after?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [id = '', file = '-'] = words;
  if (file.trim() === '')
    fail('invalid', 'The name of the file is empty.', `copse artifact get ${id} content.bin`);
  if (options.json) return printPage(cli, id, file, options);
  if (options.after !== undefined)
    fail('usage', '--after needs --json.', `copse artifact get ${id} --json --after 0`);
  await withAccess(cli, async (access) => {
    const { artifact, content } = await readContent(access, id);
    if (file === '-') return print(cli, artifact, content);
    write(path.resolve(cli.cwd, file), content, { ...options, named: file, id: artifact.id });
    cli.output.note(`Wrote ${content.length} bytes to ${shown(file)}`);
  });
}

async function printPage(cli: Cli, id: string, file: string, { after = '0' }: Options): Promise<void> {
  if (file !== '-') fail('usage', 'Give a file or --json, not both.', `copse artifact get ${id} --json`);
  if (!/^\d{1,15}$/.test(after))
    fail('invalid', `--after must be a number, not "${after}".`, 'copse artifact get --help');
  await withAccess(cli, async (access) =>
    cli.output.json(view(await act(access, { artifact: id, after: Number(after) }))),
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
  { force = false, named, id }: Pick<Options, 'force'> & { readonly named: string; readonly id: string },
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
      'Check the path and the free disk space.',
    );
  } finally {
    rmSync(aside, { force: true });
  }
}
