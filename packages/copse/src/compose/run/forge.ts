/** Opens the forge of the remote, for pull requests. */

import { openForge } from '../../review/forges/open.ts';
import { forgeRemote } from '../../review/forges/forge-remote.ts';
import type { TrustedDir } from '../../git/process.ts';
import type { Policy } from '../../kernel/policy.ts';
import type { Forge } from '../../review/port.ts';
import type { Config } from '../../config/schema.ts';
import { systemTimer } from '../parts.ts';

export interface ForgeSettings {
  readonly kind: Config['landing']['forge'];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly policy: Policy;
}

export function forgeOf(dir: TrustedDir, { kind, env, policy }: ForgeSettings): Forge {
  return openForge({
    remote: forgeRemote(dir, policy.workspace.fetchTimeoutMs),
    kind,
    environment: env,
    timeoutMs: policy.pullRequest.timeoutMs,
    now: () => systemTimer.now(),
  });
}
