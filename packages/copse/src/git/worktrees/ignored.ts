/** What git ignores in a worktree that was moved to the trash: nothing but the trash has it. */

import { lstatSync } from 'node:fs';
import path from 'node:path';

import type { Git, Ignored } from '../port.ts';
import { tryGit, type TrustedDir } from '../process.ts';
import { entries, utf8 } from '../output.ts';

/** As many as are worth naming; there may be thousands. */
const NAMED = 5;
/** Written anew for every attempt. */
const COPSES_OWN: ReadonlySet<string> = new Set(['.copse/', 'AGENT_CONTEXT.md']);

export async function ignoredIn(
  dir: TrustedDir,
  { files, gitDir, isThin }: Parameters<Git['ignored']>[0],
): Promise<Ignored | undefined> {
  // Somebody deleted the folder, or put something else there.
  if (!lstatSync(files, { throwIfNoEntry: false })?.isDirectory()) return { count: 0, first: [] };
  // The rules themselves may be among what was taken out.
  const rules = isThin ? [] : ['--ignored', '--exclude-standard'];
  const argv = ['ls-files', '-z', '--others', ...rules, '--directory', '--no-empty-directory'];
  // An index that git cannot read says nothing about what is tracked; then the rules alone decide.
  for (const index of [path.join(gitDir, 'index'), path.join(gitDir, 'no index')]) {
    const { code, stdout } = await tryGit(dir, argv, { workTree: files, index });
    if (code !== 0) continue;
    const found = entries(stdout).filter((name) => !COPSES_OWN.has(name));
    return { count: found.length, first: found.slice(0, NAMED).map(utf8) };
  }
  return undefined;
}
