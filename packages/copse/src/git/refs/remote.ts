/**
 * Reaches remotes, only at the address that Copse read when it made its git directory, or that a person accepted since.
 *
 * Copse compares this address with the repository's configuration each time. If they differ, an agent may have written the
 * new one, so Copse neither sends nor fetches until a person accepts it.
 *
 * Fetched tips first go to refs with a random name, and from there to `refs/remotes`: git would follow a prepared symbolic ref
 * and move its target. Git gets the remote's name, not its address: an address may hold a password, and every process can
 * read the arguments of others.
 */

import { randomBytes } from 'node:crypto';
import path from 'node:path';

import { type BranchName, type CommitId, brand } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import type { Fetched, RemoteDeletion, TransferOptions } from '../port.ts';
import { GitFailed, type GitResult, git, tryGit, type TrustedDir } from '../process.ts';
import { type Settings, readSettings, remoteAddresses, usualRemote } from '../directory/trusted-config.ts';
import { makeTrustedDir } from '../directory/trusted-dir.ts';

/** With its progress, from which `reach` sees that a slow transfer goes on. */
export const FETCH_OPTIONS = [
  '--progress',
  '--no-tags',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
  '--no-write-fetch-head',
  '--no-prune',
  '--refmap=',
];
export const PUSH_OPTIONS = [
  '--porcelain',
  '--progress',
  '--no-verify',
  '--no-signed',
  '--no-follow-tags',
  '--recurse-submodules=no',
];

type NotReached = 'no_remote' | 'unreachable' | 'remote_changed';
export interface Address {
  readonly name: string;
  readonly shown: string;
}
export interface Unreached {
  readonly because: NotReached;
  readonly reason: string;
}
/** `stderr`: what git and the remote said before the connection ended. */
type Unanswered = Unreached & { readonly stderr: string };

/** Fetches branches to `refs/remotes/<remote>`. Skips branches that the remote lacks. */
export async function fetchBranches(
  dir: TrustedDir,
  remote: string,
  branches: readonly BranchName[],
  timeoutMs: number = defaultPolicy.workspace.fetchTimeoutMs,
): Promise<Fetched> {
  const address = addressOf(dir, remote);
  if ('because' in address) return { kind: 'failed', ...address };
  if (branches.length === 0) return { kind: 'fetched' };
  const found = await tipsAt(dir, address, branches, timeoutMs);
  if ('because' in found) return { kind: 'failed', ...found };
  const known = await trackedTips(dir, remote);
  const wanted = [...found.tips].filter(([branch, tip]) => known.get(branch) !== tip);
  if (wanted.length === 0) return { kind: 'fetched' };
  const namespace = `refs/copse/fetch/${randomBytes(9).toString('hex')}`;
  try {
    const refspecs = wanted.map(([branch]) => `+refs/heads/${branch}:${namespace}/${branch}`);
    const argv = ['fetch', ...FETCH_OPTIONS, '--', remote, ...refspecs];
    const failed = await reach(dir, address, argv, timeoutMs, { isTransfer: true });
    if ('because' in failed) return { kind: 'failed', ...failed };
    if (failed.code !== 0) throw new GitFailed(argv, failed.code, failed.stderr);
    for (const [branch] of wanted) {
      const argv = ['update-ref', '-m', 'copse: fetched', `refs/remotes/${remote}/${branch}`];
      await git(dir, [...argv, `${namespace}/${branch}`]);
    }
    return { kind: 'fetched' };
  } finally {
    await forget(dir, namespace);
  }
}

/** Deletes a branch at the remote if it has the expected tip. */
export async function pushDelete(
  dir: TrustedDir,
  remote: string,
  branch: BranchName,
  expectedTip: CommitId,
  timeoutMs: number = defaultPolicy.workspace.fetchTimeoutMs,
): Promise<RemoteDeletion> {
  const address = addressOf(dir, remote);
  if ('because' in address) return { kind: 'refused', reason: address.reason };
  const ref = `refs/heads/${branch}`;
  const lease = `--force-with-lease=${ref}:${expectedTip}`;
  const argv = ['push', ...PUSH_OPTIONS, lease, '--', remote, `:${ref}`];
  const pushed = await reach(dir, address, argv, timeoutMs);
  if ('because' in pushed) return { kind: 'refused', reason: pushed.reason };
  const known = `refs/remotes/${remote}/${branch}`;
  const forgetBranch = () => tryGit(dir, ['update-ref', '-d', known, expectedTip]);
  if (pushed.code === 0) {
    await forgetBranch();
    return { kind: 'deleted' };
  }
  // Every host words a refusal differently, so ask for the present tip.
  const found = await tipsAt(dir, address, [branch], timeoutMs);
  if ('because' in found) return { kind: 'refused', reason: found.reason };
  const tip = found.tips.get(branch);
  if (tip === undefined) {
    await forgetBranch();
    return { kind: 'absent' };
  }
  if (tip === expectedTip) {
    const reason = `${address.shown} did not delete ${branch}: ${lastLine(pushed.stderr)}`;
    return { kind: 'refused', reason };
  }
  const reason = `${branch} at ${address.shown} is at ${tip}, not at ${expectedTip}, so Copse kept it.`;
  return { kind: 'changed', reason };
}

/** The default remote: `origin`, or the only one. */
export function remoteName(dir: TrustedDir): string | undefined {
  return usualRemote(...settingsOf(dir));
}

function settingsOf(dir: TrustedDir): readonly Settings[] {
  return [path.join(dir.plain, 'config'), path.join(dir.commonDir, 'config')].map(readSettings);
}

/** Why there is no default remote; it follows "the repository". */
export function lackOfRemote(dir: TrustedDir): string {
  return settingsOf(dir).some((settings) => remoteAddresses(settings).size > 0)
    ? 'has several remotes, and none is called origin (git remote rename <name> origin)'
    : 'has no remote (git remote add origin <address>)';
}

/** The default remote's address, without name and password, if Copse may use it. */
export function usualAddress(dir: TrustedDir): { readonly address: string } | { readonly reason: string } {
  const name = remoteName(dir);
  if (name === undefined) return { reason: `The repository ${lackOfRemote(dir)}.` };
  const found = addressOf(dir, name);
  return 'because' in found ? { reason: found.reason } : { address: found.shown };
}

/** The default remote's refs that match a pattern; none when it cannot be reached. */
export async function remoteRefs(
  dir: TrustedDir,
  pattern: string,
  timeoutMs: number = defaultPolicy.workspace.fetchTimeoutMs,
): Promise<ReadonlyMap<string, CommitId>> {
  const name = remoteName(dir);
  const address = name === undefined ? undefined : addressOf(dir, name);
  if (address === undefined || 'because' in address) return new Map();
  const listed = await reach(dir, address, ['ls-remote', '--quiet', '--', address.name, pattern], timeoutMs);
  if ('because' in listed || listed.code !== 0) return new Map();
  const lines = listed.stdout.toString().split('\n').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const [tip = '', ref = ''] = line.split('\t');
      return [ref, brand<CommitId>(tip)] as const;
    }),
  );
}

/** Accepts the present addresses of the repository's remotes. */
export function acceptRemotes(dir: TrustedDir): ReadonlyMap<string, string> {
  return accepted(makeTrustedDir(dir, { isAccepting: true }));
}

function accepted(dir: TrustedDir): ReadonlyMap<string, string> {
  return remoteAddresses(readSettings(path.join(dir.plain, 'config')));
}

function configured(dir: TrustedDir): ReadonlyMap<string, string> {
  return remoteAddresses(readSettings(path.join(dir.commonDir, 'config')));
}

export function addressOf(dir: TrustedDir, remote: string): Address | Unreached {
  const [then, now] = [accepted(dir).get(remote), configured(dir).get(remote)];
  if (then === undefined && now === undefined) {
    return { because: 'no_remote', reason: `The repository has no remote ${remote}.` };
  }
  if (then === now && then !== undefined) return { name: remote, shown: withoutPassword(then) };
  const reason = `The address of ${remote} changed from ${withoutPassword(then)} to ${withoutPassword(now)}, so Copse does not use it. To accept the change: copse config accept-remotes`;
  return { because: 'remote_changed', reason };
}

/** Removes the name and the password from an address. */
export function withoutPassword(url = 'none'): string {
  return url.replace(/^([\w+.-]+:\/\/)[^/@]*@/, '$1');
}

async function tipsAt(
  dir: TrustedDir,
  address: Address,
  branches: readonly BranchName[],
  timeoutMs: number,
): Promise<{ readonly tips: ReadonlyMap<BranchName, CommitId> } | Unreached> {
  const refs = branches.map((branch) => `refs/heads/${branch}`);
  const argv = ['ls-remote', '--quiet', '--', address.name, ...refs];
  const listed = await reach(dir, address, argv, timeoutMs);
  if ('because' in listed) return listed;
  if (listed.code !== 0) throw new GitFailed(argv, listed.code, listed.stderr);
  const tips = new Map<BranchName, CommitId>();
  for (const line of listed.stdout.toString().split('\n')) {
    const [tip = '', ref = ''] = line.split('\t');
    // ls-remote also matches the end of a longer name.
    if (refs.includes(ref)) tips.set(brand(ref.slice('refs/heads/'.length)), brand(tip));
  }
  return { tips };
}

/** By branch. Symbolic refs count as absent. */
async function trackedTips(dir: TrustedDir, remote: string): Promise<ReadonlyMap<string, string>> {
  const prefix = `refs/remotes/${remote}/`;
  const output = await git(dir, ['for-each-ref', '--format=%(refname) %(objectname) %(symref)', prefix]);
  const tips = new Map<string, string>();
  for (const line of output.toString().split('\n')) {
    const [ref = '', tip = '', alias = ''] = line.split(' ');
    if (ref !== '' && alias === '') tips.set(ref.slice(prefix.length), tip);
  }
  return tips;
}

/**
 * Git gives exit code 128 for every failure to reach a remote, with a message of ssh, curl or its own. A transfer may take as
 * long as it makes progress: its timeout counts from the last sign of it.
 */
export async function reach(
  dir: TrustedDir,
  address: Address,
  argv: readonly string[],
  timeoutMs: number,
  { isTransfer = false, signal }: { readonly isTransfer?: boolean; readonly signal?: AbortSignal } = {},
): Promise<GitResult | Unanswered> {
  const unanswered = (said: string): Unanswered => {
    const stderr = withoutProgress(said);
    const reason = `${address.shown} could not be reached: ${lastLine(stderr)}`;
    return { because: 'unreachable', reason, stderr };
  };
  try {
    const result = await tryGit(dir, argv, {
      isNetwork: true,
      timeoutMs,
      isTransfer,
      ...(signal && { signal }),
    });
    if (result.code === 128) return unanswered(result.stderr);
    return { ...result, stderr: withoutProgress(result.stderr) };
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    return unanswered(error.stderr);
  }
}

/** A given time is a limit: the caller has no longer. */
export function transfer(
  dir: TrustedDir,
  address: Address,
  argv: readonly string[],
  { timeoutMs, signal }: TransferOptions,
): Promise<GitResult | Unanswered> {
  const mostMs = timeoutMs ?? defaultPolicy.workspace.fetchTimeoutMs;
  return reach(dir, address, argv, mostMs, {
    isTransfer: timeoutMs === undefined,
    ...(signal && { signal }),
  });
}

/** Git ends a line of progress with a carriage return, until it is done; the remote's has `remote: ` before it. */
function withoutProgress(stderr: string): string {
  return stderr
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r', line.length - 2) + 1))
    .flatMap((line) => (PROGRESS.test(line) ? whyItEnded(line) : [line]))
    .join('\n');
}

/** Behind git's last words, which may be progress (`GitFailed`). */
function whyItEnded(line: string): readonly string[] {
  const [, why] = /\((it [^()]*)\)$/.exec(line) ?? [];
  return why === undefined ? [] : [why];
}

const PROGRESS =
  /^(remote: )?([A-Z][a-z]+( [a-z]+)*: +\d+(% |[ ,(]|$)|Total \d+ \(delta|Delta compression using)/;

export function lastLine(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const telling = lines.find((line) => line.startsWith('fatal: ')) ?? lines.at(-1) ?? 'git said nothing';
  return `${telling
    .replace(/^fatal: /, '')
    .replace(/\.$/, '')
    .replace(/:\/\/[^/@\s]*@/g, '://')}.`;
}

async function forget(dir: TrustedDir, namespace: string): Promise<void> {
  const output = await git(dir, ['for-each-ref', '--format=delete %(refname)', `${namespace}/`]);
  if (output.length > 0) await git(dir, ['update-ref', '--stdin'], { input: output });
}
