import type { ForgeRemote } from '../port.ts';
import { pushAndListen } from '../../queue/target/push.ts';
import { remoteRefs, usualAddress } from '../../git/refs/remote.ts';
import type { TrustedDir } from '../../git/process.ts';

/** The remote, as a forge needs it. */
export function forgeRemote(dir: TrustedDir, timeoutMs: number): ForgeRemote {
  return {
    address: () => usualAddress(dir),
    push: async (branch, commit, options = []) => {
      const pushed = await pushAndListen(dir, branch, commit, { timeoutMs, options });
      if (pushed.kind === 'pushed') return { kind: 'pushed', said: pushed.said };
      const { because, reason } = pushed;
      return { kind: 'failed', because: because === 'moved' ? 'rejected' : because, reason };
    },
    refs: (pattern) => remoteRefs(dir, pattern, timeoutMs),
  };
}
