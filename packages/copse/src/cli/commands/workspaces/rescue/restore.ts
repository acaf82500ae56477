import path from 'node:path';

import { withAccess } from '../../../../compose/operations/access.ts';
import { shellWord } from '../../../../kernel/shell.ts';
import { counted } from '../../../../kernel/text.ts';
import { act, view } from '../../../../operations/worktrees/rescues/restore.ts';
import type { Invocation } from '../../../invocation.ts';

interface Options {
  readonly into?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const into = options.into === undefined ? undefined : path.resolve(cli.cwd, options.into);
  const restored = await withAccess(cli, (access) => act(access, { rescue: words[0] ?? '', into }));
  if (options.json) return cli.output.json(view(restored));
  const { rescue, folder, files } = restored;
  cli.output.line(`Restored ${counted(files, 'file')} of ${rescue.task}: cd ${shellWord(folder)}`);
}
