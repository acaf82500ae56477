/**
 * Pushes one commit to one branch, only forwards, and only to an address that was accepted (remote.ts). With `from`, the remote
 * compares and swaps: a push that comes late, from a leader that was stopped meanwhile, changes nothing.
 */

import type { BranchName, CommitId } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import type { Pushed } from '../ports/merging.ts';
import { type GitResult, tryGit, type TrustedDir } from '../../git/process.ts';
import {
  PUSH_OPTIONS,
  addressOf,
  lastLine,
  reach,
  lackOfRemote,
  remoteName,
  remoteRefs,
} from '../../git/refs/remote.ts';
import { isAncestor } from '../../git/refs/refs.ts';

export async function pushBranch(
  dir: TrustedDir,
  branch: BranchName,
  commit: CommitId,
  { timeoutMs, from }: { readonly timeoutMs?: number | undefined; readonly from?: CommitId | null } = {},
): Promise<Pushed> {
  // The lease would let git replace what the branch has.
  if (from && !(await isAncestor(dir, from, commit)))
    throw new Error(`${commit} must not be pushed to ${branch}: it does not contain ${from}.`);
  const answered = await pushAndListen(dir, branch, commit, {
    timeoutMs,
    ...(from !== undefined && { from }),
  });
  return answered.kind === 'pushed' ? { kind: 'pushed' } : answered;
}

/** Git's own words when another push was first. A remote that notices it later words it differently, so it is asked. */
const STALE = /^(stale info|fetch first|non-fast-forward)/;

async function hasMoved(
  dir: TrustedDir,
  branch: BranchName,
  from: CommitId | null,
  refusal: string,
  until: number,
): Promise<boolean> {
  if (STALE.test(refusal)) return true;
  const ref = `refs/heads/${branch}`;
  const left = Math.max(1, until - performance.now());
  const tip = (await remoteRefs(dir, ref, left)).get(ref);
  return tip !== undefined && tip !== from;
}

type Answered =
  /** The remote's answer, line by line: often the address of a page to continue on. */
  | { readonly kind: 'pushed'; readonly said: readonly string[] }
  | Exclude<Pushed, { readonly kind: 'pushed' }>;

/** The options are for the remote; a remote that supports none refuses the push. */
export async function pushAndListen(
  dir: TrustedDir,
  branch: BranchName,
  commit: CommitId,
  {
    timeoutMs = defaultPolicy.workspace.fetchTimeoutMs,
    options = [],
    from,
  }: {
    readonly timeoutMs?: number | undefined;
    readonly options?: readonly string[];
    readonly from?: CommitId | null;
  },
): Promise<Answered> {
  const remote = remoteName(dir);
  if (remote === undefined) {
    return { kind: 'failed', because: 'no_remote', reason: `the repository ${lackOfRemote(dir)}` };
  }
  const address = addressOf(dir, remote);
  if ('because' in address) {
    const because = address.because === 'no_remote' ? 'no_remote' : 'unreachable';
    return { kind: 'failed', because, reason: address.reason };
  }
  const asked = options.map((option) => `--push-option=${oneLine(option)}`);
  const lease = from === undefined ? [] : [`--force-with-lease=refs/heads/${branch}:${from ?? ''}`];
  const argv = ['push', ...PUSH_OPTIONS, ...asked, ...lease, '--', remote, `${commit}:refs/heads/${branch}`];
  const began = performance.now();
  const result = await reach(dir, address, argv, timeoutMs, { isTransfer: true });
  const until = ('because' in result ? began : performance.now()) + timeoutMs;
  const isDone = !('because' in result) && result.code === 0;
  const refusal = 'because' in result || isDone ? undefined : refusalIn(result, branch);
  if (refusal !== undefined) {
    const isLate = from !== undefined && (await hasMoved(dir, branch, from, refusal, until));
    const because = isLate ? 'moved' : 'rejected';
    return { kind: 'failed', because, reason: `${remote} did not take ${branch}: ${refusal}` };
  }
  if (isDone || (await isThere(dir, branch, commit, until - performance.now()))) {
    // Git would do so if the remote had a refspec here. A failure does no harm.
    await tryGit(dir, ['update-ref', '-m', 'copse: pushed', `refs/remotes/${remote}/${branch}`, commit]);
    return { kind: 'pushed', said: saidBy(result).map(withoutSecrets) };
  }
  const reason = `${remote} could not be reached: ${withoutSecrets(lastLine(result.stderr))}`;
  return { kind: 'failed', because: 'unreachable', reason };
}

/**
 * A push whose answer was lost may have arrived. And when nothing is new, the remote closes the connection while git still
 * writes the options, and git may die of a broken pipe.
 */
async function isThere(
  dir: TrustedDir,
  branch: BranchName,
  commit: CommitId,
  timeoutMs: number,
): Promise<boolean> {
  if (timeoutMs < 1) return false;
  const ref = `refs/heads/${branch}`;
  return (await remoteRefs(dir, ref, timeoutMs)).get(ref) === commit;
}

/** Parses `!`, the refspec and the reason from the porcelain output, and adds the remote's own message for people. */
function refusalIn({ stdout, stderr }: GitResult, branch: BranchName): string | undefined {
  const [, why] =
    stdout
      .toString()
      .split('\n')
      .map((line) => line.split('\t'))
      .filter(([sign, refs = '']) => sign === '!' && refs.endsWith(`:refs/heads/${branch}`))
      .map(([, , summary = '']) => /^\[(?:remote )?rejected\] ?(.*)$/.exec(summary))
      .find((found) => found !== null) ?? [];
  if (why === undefined) return undefined;
  const said = saidBy({ stderr });
  const short = why.replace(/^\((.*)\)$/, '$1');
  return withoutSecrets(said.length === 0 ? `${short}.` : `${short}. ${said.join('\n')}`);
}

function saidBy({ stderr }: Pick<GitResult, 'stderr'>): readonly string[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('remote: '))
    .map((line) => line.slice('remote: '.length).trim())
    .filter((line) => line !== '');
}

/** Git refuses options with line breaks. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** Removes the name and the password from an address; both may contain an @. */
function withoutSecrets(text: string): string {
  return text.replaceAll(/:\/\/[^/\s]*@/g, '://');
}
