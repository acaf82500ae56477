import { isUtf8 } from 'node:buffer';

import { diffTask } from '../../app/diff.ts';
import { shown } from '../../domain/text.ts';
import type { ChangedFile } from '../../ports/diff.ts';
import { diffView } from '../../protocol/workspace-views.ts';
import { isTerminal } from '../ask.ts';
import { requireTaskHere } from '../here.ts';
import type { Invocation } from '../invocation.ts';
import { stop, withWorkspaces } from '../with-workspaces.ts';

interface Options {
  readonly stat?: boolean;
  readonly uncommitted?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withWorkspaces(cli, async (context) => {
    const task = await requireTaskHere(context, cli, words[0]);
    const withoutPatch = options.stat ?? false;
    const found = await diffTask(context, task, {
      includeUncommitted: options.uncommitted ?? false,
      withoutPatch,
    });
    if (!found.found) stop(found, 'not_found');
    const { diff } = found;
    if (options.json) {
      const patch = !withoutPatch && isUtf8(diff.patch) ? diff.patch.toString() : null;
      cli.output.json(diffView(task, found, patch));
    } else if (withoutPatch) {
      for (const line of summary(diff.files)) cli.output.line(line);
      cli.output.line(`${diff.files.length} files, +${diff.inserted} -${diff.deleted}`);
    } else {
      await cli.output.raw(forReader(diff.patch));
    }
  });
}

/** Byte for byte into a file or a pipe; on a terminal nothing that it would obey. */
function forReader(patch: Buffer): string | Buffer {
  return isTerminal() ? shown(patch.toString()) : patch;
}

function summary(files: readonly ChangedFile[]): readonly string[] {
  return files.map(({ path, from, change, lines }) => {
    const counts = lines === null ? 'binary' : `+${lines.inserted} -${lines.deleted}`;
    const name = from === null ? shown(path) : `${shown(from)} → ${shown(path)}`;
    return `${change.padEnd('type_changed'.length)}  ${counts.padEnd(12)}  ${name}`;
  });
}
