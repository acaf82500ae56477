/** Opens the automatic resolution of conflicts, with the commands of copse.yml. */

import { openResolving } from '../../queue/resolve/open.ts';
import type { TrustedDir } from '../../git/process.ts';
import { runCommands } from '../../workspaces/files/commands.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { Resolving } from '../../queue/ports/merging.ts';
import type { Config } from '../../config/schema.ts';
import { systemTimer } from '../parts.ts';

export function resolvingOf(
  dir: TrustedDir,
  { merge_drivers: drivers, lockfiles }: Pick<Config['landing'], 'merge_drivers' | 'lockfiles'>,
  { workspace, resolutions: memory }: Policy,
): Resolving {
  return openResolving(dir, {
    drivers,
    lockfiles,
    commands: { run: runCommands },
    commandTimeoutMs: workspace.commandTimeoutMs,
    memory,
    now: () => systemTimer.now(),
  });
}
