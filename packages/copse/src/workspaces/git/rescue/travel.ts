/**
 * Snapshots that travel to other machines: the commit of a rescue (snapshot.ts), with these differences.
 *
 *   always made     also of a clean worktree, whose snapshot has the tree of HEAD
 *   left out        files and folders that look like secrets, and files that are too large; the branch says which
 *   its parents     HEAD, the state, the snapshot before; commits that only a reflog knows stay on their machine
 *   its message     does not name the folder of the worktree
 *
 * No byte of index, HEAD, branch or files changes. No ref is made here: the caller pushes the commit.
 */

import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';

import { type CommitId, brand } from '../../../kernel/ids.ts';
import type { Policy } from '../../../kernel/policy.ts';
import {
  type Place,
  hasOperation,
  isOperationFile,
  readHead,
  readNotes,
  requirePlace,
  withScratch,
} from '../../../git/worktrees/place.ts';
import { nul, onDisk, utf8 } from '../../../git/output.ts';
import { git, gitLine, type TrustedDir } from '../../../git/process.ts';
import { requireBoundedTip } from '../../../git/refs/bounded-tip.ts';
import type { Rescues, TravelRequest, TravelSnapshot, TravelledRescue } from '../../../git/port.ts';
import { looksSecret } from '../../rules/travel.ts';
import { isValidBranchName } from '../../rules/naming.ts';
import { unusualPermissions } from './permissions.ts';
import { type NamedRescue, type RescueRecord, messageOf, parseRecord, parseRescue } from './record.ts';
import { changedPaths, createRef, saveState } from './snapshot.ts';
import { existingCommits, idsIn, makeCommit } from './snapshot-commits.ts';
import { type Files, type LeaveOut, captureFiles } from './snapshot-files.ts';

export async function captureTravelling(
  dir: TrustedDir,
  request: TravelRequest,
  limits: Policy['travel'],
): Promise<TravelSnapshot> {
  const place = requirePlace(dir, request.worktree);
  return withScratch(dir, async (scratch) => {
    const head = readHead(place);
    const named = 'ref' in head ? head.ref : head.commit;
    const own = `refs/heads/${request.branch}`;
    const notes = operationNotes(place);
    const known = await existingCommits(dir, [named, own, ...idsIn(notes.values(), dir)]);
    const at = known.get(named);
    if (at === undefined) return { kind: 'no_commit' };
    await requireBoundedTip(dir, brand(at.commit), `The worktree of ${request.task}`);
    const left = new Set<string>();
    const captured = await captureFiles(
      dir,
      place,
      scratch,
      () => Promise.resolve(at.commit),
      leaving(left, limits),
    );
    const files = await withoutStagedSecrets(dir, place, captured, { before: at.tree, left });
    const mark = markOf([named, at.commit, files.tree, files.staged?.tree ?? '', ...notes.values()]);
    const isClean = files.tree === at.tree;
    const about = { head: brand<CommitId>(at.commit), mark, isClean, left: [...left].map(utf8).toSorted() };
    if (mark === request.known) return { kind: 'unchanged', ...about };

    const changed = files.changed ?? (await changedPaths(dir, at.tree, files.tree));
    const permissions = unusualPermissions(place.worktree, changed, scratch);
    const of = { place, notes, files, before: at.tree, scratch, request, permissions };
    const state = await saveState(dir, of);
    const branchTip = known.get(own)?.commit;
    const others = [...known.values()].map(({ commit }) => commit).filter((id) => id !== at.commit);
    const onBranch = 'ref' in head ? head.ref.replace(/^refs\/heads\//, '') : '';
    const record: RescueRecord = {
      task: request.task,
      why: 'handover',
      atMs: request.at,
      worktree: '',
      branch: isValidBranchName(onBranch) ? onBranch : null,
      isDetached: 'commit' in head,
      head: about.head,
      changed: changed.length,
      state,
      staged: files.staged?.tree ?? null,
      notSaved: files.notSaved,
      branchTip: branchTip === undefined || branchTip === at.commit ? null : brand<CommitId>(branchTip),
    };
    const before = request.previous === null ? [] : [request.previous];
    const parents = [at.commit, ...(state === null ? [] : [state]), ...new Set([...others, ...before])];
    const commit = await makeCommit(dir, {
      tree: files.tree,
      parents,
      message: messageOf(record),
      atMs: request.at,
    });
    return { kind: 'captured', commit: brand<CommitId>(commit), ...about };
  });
}

/** Gives a snapshot that was fetched a rescue ref on this machine, with which it can be restored and undone. */
export async function adoptTravelled(
  dir: TrustedDir,
  commit: CommitId,
): Promise<TravelledRescue | undefined> {
  const text = (await git(dir, ['cat-file', 'commit', commit])).toString();
  const message = text.slice(text.indexOf('\n\n') + 2);
  const record = parseRecord(message);
  const fields = nameIn(message);
  if (fields === undefined || record.head === undefined) return undefined;
  const ref = await createRef(dir, fields, commit);
  const rescue = parseRescue(ref, commit, message);
  return rescue && { ...rescue, branchTip: record.branchTip ?? null };
}

/** The fields that name a ref. */
function nameIn(message: string): NamedRescue | undefined {
  const subject = /^Rescue of (cp-[0-9a-z]+) /.exec(message)?.[1];
  const atMs = Number(/"atMs": (\d+)/.exec(message)?.[1]);
  if (subject === undefined || !Number.isSafeInteger(atMs)) return undefined;
  return { task: brand(subject), why: 'handover', atMs };
}

/** Only what continues an operation; a reflog names people. */
function operationNotes(place: Place): ReadonlyMap<string, Buffer> {
  if (place.isMain || !hasOperation(place.gitDir)) return new Map();
  return new Map([...readNotes(place)].filter(([name]) => isOperationFile(name)));
}

function leaving(left: Set<string>, { fileBytes, changedBytes }: Policy['travel']): LeaveOut {
  return (worktree, { edited, untracked }) => {
    let bytes = 0;
    const isNew = new Set(untracked);
    for (const name of [...edited, ...untracked]) {
      const found = lstatSync(onDisk(worktree, name), { throwIfNoEntry: false });
      const size = found?.isFile() === true ? found.size : 0;
      const isSecret = isNew.has(name) && looksSecret(utf8(name));
      if (isSecret || size > fileBytes || bytes + size > changedBytes) left.add(name);
      else bytes += size;
    }
    return left;
  };
}

/** What was only staged is not untracked any more. */
async function withoutStagedSecrets(
  dir: TrustedDir,
  { worktree }: Place,
  files: Files,
  { before, left }: { readonly before: string; readonly left: Set<string> },
): Promise<Files> {
  if (files.staged === undefined || files.staged.tree === before) return files;
  const argv = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--diff-filter=A'];
  const added = await git(dir, [...argv, before, files.staged.tree]);
  const secrets = added
    .toString('latin1')
    .split('\0')
    .filter((name) => name !== '' && looksSecret(utf8(name)));
  if (secrets.length === 0) return files;
  for (const name of secrets) left.add(name);
  const options = { index: files.index, workTree: worktree, isRaw: true };
  await git(dir, ['update-index', '-z', '--force-remove', '--stdin'], { ...options, input: nul(secrets) });
  const tree = await gitLine(dir, ['write-tree'], options);
  return { ...files, tree, staged: undefined, changed: undefined };
}

function markOf(parts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
}

/** A snapshot of a commit as it is, for finished work whose worktree is not looked at. */
export async function wrapCommit(
  dir: TrustedDir,
  { task, head, at, previous }: Parameters<Rescues['wrap']>[0],
): Promise<CommitId> {
  const tree = await gitLine(dir, ['rev-parse', `${head}^{tree}`]);
  const record: RescueRecord = {
    task,
    why: 'handover',
    atMs: at,
    worktree: '',
    branch: null,
    isDetached: false,
    head,
    changed: 0,
    state: null,
    staged: null,
    notSaved: [],
    branchTip: null,
  };
  const parents = [head, ...(previous === null ? [] : [previous])];
  return brand(await makeCommit(dir, { tree, parents, message: messageOf(record), atMs: at }));
}
