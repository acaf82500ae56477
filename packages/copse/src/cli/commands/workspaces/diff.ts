import { isUtf8 } from 'node:buffer';

import { diffTask } from '../../../workspaces/act/diff.ts';
import { diffView } from '../../../operations/views/workspace-views.ts';
import { fileLines, sizeText } from '../../../explain/changes.ts';
import { patchForReader } from '../../screen/diff-text.ts';
import { requireTaskHere } from './task-here.ts';
import type { Invocation } from '../../invocation.ts';
import { stop, withWorkspaces } from '../../with-workspaces.ts';

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
    if (found.kind === 'refused') stop(found, 'not_found');
    const { diff } = found;
    if (options.json) {
      const patch = !withoutPatch && isUtf8(diff.patch) ? diff.patch.toString() : null;
      cli.output.json(diffView(task, found, patch));
    } else if (withoutPatch) {
      for (const line of fileLines(diff.files)) cli.output.line(line);
      cli.output.line(sizeText(diff));
    } else {
      await cli.output.raw(patchForReader(diff.patch, cli.output));
    }
  });
}
