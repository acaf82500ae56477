/** Opens the automatic resolution of conflicts, with the commands of copse.yml. */

import { randomUUID } from 'node:crypto';

import { openResolving } from '../../queue/resolve/open.ts';
import type { TrustedDir } from '../../git/process.ts';
import { type AttemptId, brand } from '../../kernel/ids.ts';
import { runCommands, runOrFail } from '../../workspaces/files/commands.ts';
import type { CommandLines, CommandsOutcome } from '../../workspaces/ports/furnishing.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { Resolving } from '../../queue/ports/merging.ts';
import type { Config } from '../../config/schema.ts';
import { systemTimer } from '../parts.ts';
import type { ChecksSurroundings } from './checks.ts';

export function resolvingOf(
  dir: TrustedDir,
  { merge_drivers: drivers, lockfiles }: Pick<Config['landing'], 'merge_drivers' | 'lockfiles'>,
  { policy, confined }: { readonly policy: Policy; readonly confined: ChecksSurroundings },
): Resolving {
  const { workspace, resolutions: memory } = policy;
  return openResolving(dir, {
    drivers,
    lockfiles,
    commands: { run: (lines) => runAsCheck(lines, confined) },
    commandTimeoutMs: workspace.commandTimeoutMs,
    memory,
    now: () => systemTimer.now(),
  });
}

/** The merge has code of agents that has not landed. So they run as checks do, and write only the folder they start in. */
async function runAsCheck(
  lines: CommandLines,
  { env, sandbox: open }: ChecksSurroundings,
): Promise<CommandsOutcome> {
  if (open === null) return runCommands(lines);
  const run = `resolve-${randomUUID()}`;
  const sandbox = await open(run, 'folder');
  const known = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  try {
    return await runOrFail({
      ...lines,
      env: { ...Object.fromEntries(known), ...lines.env },
      isWhole: true,
      confined: { sandbox, attempt: brand<AttemptId>(run) },
    });
  } finally {
    sandbox.close();
  }
}
