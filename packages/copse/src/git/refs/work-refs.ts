/**
 * Snapshots of work on the remote: `refs/copse/work/<task>/<token>`, one ref for each attempt.
 *
 * What is fetched gets a ref under `refs/copse/fetched/` here, so that it stays until it is no longer needed. Whether a tip is
 * the one that the board has is the caller's question: others may be able to push to the remote.
 */

import { randomBytes } from 'node:crypto';

import { type CommitId, type FencingToken, brand, parseTaskId } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import type { ListedWork, RemoteFailure, TransferOptions, WorkRef, WorkRefs } from '../port.ts';
import { git, tryGit, type TrustedDir } from '../process.ts';
import {
  FETCH_OPTIONS,
  PUSH_OPTIONS,
  type Address,
  addressOf,
  lastLine,
  reach,
  remoteName,
  transfer,
} from './remote.ts';

const WORK = 'refs/copse/work';
const FETCHED = 'refs/copse/fetched';

export function openWorkRefs(dir: TrustedDir): WorkRefs {
  return {
    push: (of, commit, options = {}) =>
      withRemote(dir, (address) => push(dir, address, { of, commit, options })),
    fetch: (refs, options = {}) => withRemote(dir, (address) => fetch(dir, address, refs, options)),
    list: () => withRemote(dir, (address) => list(dir, address)),
    drop: (refs, branches) => withRemote(dir, (address) => drop(dir, address, refs, branches)),
    newBytes: (commit, except) => newBytes(dir, commit, except),
  };
}

function workRef({ task, token }: WorkRef): string {
  return `${WORK}/${task}/${token}`;
}

function fetchedRef({ task, token }: WorkRef): string {
  return `${FETCHED}/${task}/${token}`;
}

/** The fetched one, and the mark that it was taken over (workspaces/act/shared/take-over.ts). */
function copiesOf(of: WorkRef): readonly string[] {
  return [fetchedRef(of), `refs/copse/taken/${of.task}/${of.token}`];
}

async function withRemote<T>(
  dir: TrustedDir,
  work: (address: Address) => Promise<T | RemoteFailure>,
): Promise<T | RemoteFailure> {
  const name = remoteName(dir);
  if (name === undefined)
    return { kind: 'failed', because: 'no_remote', reason: 'The repository has no remote.' };
  const address = addressOf(dir, name);
  return 'because' in address ? { kind: 'failed', ...address } : work(address);
}

/** How remotes refuse a forced push. */
const NOT_FORCED = /non-fast-forward|force[- ]push/i;

async function push(
  dir: TrustedDir,
  address: Address,
  {
    of,
    commit,
    options,
  }: { readonly of: WorkRef; readonly commit: CommitId; readonly options: TransferOptions },
): Promise<{ readonly kind: 'pushed' } | RemoteFailure> {
  const ref = workRef(of);
  const argv = ['push', ...PUSH_OPTIONS, '--', address.name];
  const send = (refspec: string) => transfer(dir, address, [...argv, refspec], options);
  let sent = await send(`+${commit}:${ref}`);
  if (!('because' in sent) && sent.code !== 0 && NOT_FORCED.test(sent.stdout.toString() + sent.stderr)) {
    // Then the ref is made anew. After any other refusal the snapshot before must stay.
    await send(`:${ref}`);
    sent = await send(`${commit}:${ref}`);
  }
  if ('because' in sent) return { kind: 'failed', ...sent };
  if (sent.code === 0) return { kind: 'pushed' };
  const reason = `${address.shown} did not take ${ref}: ${lastLine(sent.stderr)}`;
  return { kind: 'failed', because: 'rejected', reason };
}

async function fetch(
  dir: TrustedDir,
  address: Address,
  refs: readonly WorkRef[],
  options: TransferOptions,
): Promise<{ readonly kind: 'fetched'; readonly missing: readonly WorkRef[] } | RemoteFailure> {
  if (refs.length === 0) return { kind: 'fetched', missing: [] };
  const fetched = await fetchAll(dir, address, refs, options);
  if (fetched === 'done') return { kind: 'fetched', missing: [] };
  // One that the remote lacks fails the whole fetch.
  const there = await list(dir, address, refs.map(workRef));
  if (there.kind === 'failed') return there;
  const known = new Set(there.refs.map(workRef));
  const wanted = refs.filter((one) => known.has(workRef(one)));
  const missing = refs.filter((one) => !known.has(workRef(one)));
  if (wanted.length === 0) return { kind: 'fetched', missing };
  const again = await fetchAll(dir, address, wanted, options);
  return again === 'done' ? { kind: 'fetched', missing } : { kind: 'failed', ...again };
}

async function fetchAll(
  dir: TrustedDir,
  address: Address,
  refs: readonly WorkRef[],
  options: TransferOptions,
): Promise<'done' | Omit<RemoteFailure, 'kind'>> {
  const namespace = `refs/copse/fetch/${randomBytes(9).toString('hex')}`;
  try {
    const refspecs = refs.map((one) => `+${workRef(one)}:${namespace}/${one.task}/${one.token}`);
    const argv = ['fetch', ...FETCH_OPTIONS, '--', address.name, ...refspecs];
    const result = await transfer(dir, address, argv, options);
    if ('because' in result) return result;
    if (result.code !== 0) return { because: 'unreachable', reason: lastLine(result.stderr) };
    const input = refs.map((one) => `update ${fetchedRef(one)}\0${namespace}/${one.task}/${one.token}\0\0`);
    await git(dir, ['update-ref', '--no-deref', '-z', '--stdin'], { input: input.join('') });
    return 'done';
  } finally {
    await forget(dir, [...(await tipsOf(dir, `${namespace}/`)).keys()]);
  }
}

async function list(
  dir: TrustedDir,
  address: Address,
  patterns: readonly string[] = [`${WORK}/*`],
): Promise<
  | { readonly kind: 'listed'; readonly refs: readonly (WorkRef & { readonly commit: CommitId })[] }
  | RemoteFailure
> {
  const argv = ['ls-remote', '--quiet', '--', address.name, ...patterns];
  const listed = await reach(dir, address, argv, defaultPolicy.workspace.fetchTimeoutMs);
  if ('because' in listed) return { kind: 'failed', ...listed };
  if (listed.code !== 0) return { kind: 'failed', because: 'unreachable', reason: lastLine(listed.stderr) };
  const refs = listed.stdout
    .toString()
    .split('\n')
    .flatMap((line) => {
      const [, commit = '', id = '', token = ''] =
        /^([0-9a-f]+)\trefs\/copse\/work\/([^/]+)\/(\d+)$/.exec(line) ?? [];
      const task = parseTaskId(id);
      if (task === undefined) return [];
      return [{ task, token: Number(token) as FencingToken, commit: brand<CommitId>(commit) }];
    });
  return { kind: 'listed', refs };
}

/** One push for all. A branch that moved stays, and a ref that is gone already is no failure. */
async function drop(
  dir: TrustedDir,
  address: Address,
  refs: readonly ListedWork[],
  branches: Parameters<WorkRefs['drop']>[1] = [],
): Promise<{ readonly kind: 'dropped' } | RemoteFailure> {
  if (refs.length + branches.length === 0) return { kind: 'dropped' };
  const leases = [
    ...refs.flatMap(({ commit, ...of }) => (commit ? [`--force-with-lease=${workRef(of)}:${commit}`] : [])),
    ...branches.map(({ branch, tip }) => `--force-with-lease=refs/heads/${branch}:${tip}`),
  ];
  const refspecs = [...refs.map(workRef), ...branches.map(({ branch }) => `refs/heads/${branch}`)];
  const argv = ['push', ...PUSH_OPTIONS, ...leases, '--', address.name, ...refspecs.map((ref) => `:${ref}`)];
  const pushed = await reach(dir, address, argv, defaultPolicy.workspace.fetchTimeoutMs);
  if ('because' in pushed) return { kind: 'failed', ...pushed };
  if (pushed.code !== 0 && refs.length > 0) {
    const left = await list(dir, address, refs.map(workRef));
    if (left.kind === 'failed') return left;
    const reason = `${address.shown} did not delete them: ${lastLine(pushed.stderr)}`;
    if (left.refs.length > 0) return { kind: 'failed', because: 'rejected', reason };
  }
  for (const { branch, tip } of branches)
    await tryGit(dir, ['update-ref', '-d', `refs/remotes/${address.name}/${branch}`, tip]);
  await forget(dir, refs.flatMap(copiesOf));
  return { kind: 'dropped' };
}

/** What a push would send at most, packed. */
async function newBytes(dir: TrustedDir, commit: CommitId, except: readonly CommitId[]): Promise<number> {
  const input = [commit, ...except.map((id) => `^${id}`)].join('\n');
  const argv = ['rev-list', '--objects', '--disk-usage', '--stdin', '--not', '--ignore-missing', '--remotes'];
  const { code, stdout } = await tryGit(dir, argv, { input: `${input}\n` });
  return code === 0 ? Number(stdout.toString().trim()) : 0;
}

async function forget(dir: TrustedDir, refs: readonly string[]): Promise<void> {
  if (refs.length === 0) return;
  const input = refs.map((ref) => `delete ${ref}\0\0`).join('');
  await tryGit(dir, ['update-ref', '--no-deref', '-z', '--stdin'], { input });
}

async function tipsOf(dir: TrustedDir, prefix: string): Promise<ReadonlyMap<string, CommitId>> {
  const output = await git(dir, ['for-each-ref', '--format=%(refname) %(objectname)', prefix]);
  const lines = output.toString().split('\n').filter(Boolean);
  return new Map(lines.map((line) => [line.split(' ')[0] ?? '', brand<CommitId>(line.split(' ')[1] ?? '')]));
}
