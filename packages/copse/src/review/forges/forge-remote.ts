import type { ForgeRemote } from '../port.ts';
import { pushAndListen } from '../../queue/target/push.ts';
import { remoteRefs, usualAddress } from '../../git/refs/remote.ts';
import type { TrustedDir } from '../../git/process.ts';

/** The remote, as whoever opens pull requests needs it. */
export function forgeRemote(dir: TrustedDir, timeoutMs: number): ForgeRemote {
  return {
    address: () => usualAddress(dir),
    push: (branch, commit, options = []) => pushAndListen(dir, branch, commit, { timeoutMs, options }),
    refs: (pattern) => remoteRefs(dir, pattern, timeoutMs),
  };
}
