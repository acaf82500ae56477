/**
 * Saves everything in a worktree that no ref keeps, as one commit under `refs/copse/rescue/<task>/`:
 *
 *   its tree        every file that is tracked, or untracked and not ignored, byte for byte
 *   first parent    the commit of HEAD, if there is one
 *   next parent     the state, if there is more than files: `gitdir/` has git's files about an operation in progress,
 *                   `staged` the index as a tree, `unmerged` and `stages/` the sides of conflicts, `intended` the paths
 *                   of `add -N`, `permissions` those of changed files that a tree cannot hold
 *   more parents    commits that only this worktree knows
 *
 * No byte of index, HEAD, branch or files changes. The ref is written last, and never over another; until it exists,
 * nothing is reported as saved, and every failure throws.
 *
 * Of a worktree whose folder was deleted, staged and committed content is saved; its files are lost.
 *
 * Not saved, but named in the message: the files of nested repositories and of submodules. Never saved: ignored files,
 * empty folders, sockets and pipes. All of them stay in the folder, which a removal moves to the trash whole.
 */

import { existsSync, lstatSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { type BranchName, type CommitId, brand, parseTaskId } from '../../../kernel/ids.ts';
import { isValidBranchName } from '../../rules/naming.ts';
import type { SnapshotOutcome, SnapshotRequest } from '../../../git/port.ts';
import { nul, entries } from '../../../git/output.ts';
import { unusualPermissions } from './permissions.ts';
import { refsOf } from '../../../git/long-lived.ts';
import { git, gitLine, GitFailed, tryGit, type TrustedDir } from '../../../git/process.ts';
import { registrationAt } from '../../../git/worktrees/registrations.ts';
import { requireBoundedTip } from '../../../git/refs/bounded-tip.ts';
import { updateRef } from '../../../git/refs/refs.ts';
import { type NamedRescue, type RescueRecord, messageOf, parseRescue, refOf } from './record.ts';
import { existingCommits, idsIn, makeCommit, unreferencedTips } from './snapshot-commits.ts';
import { ANY_NAME, type Files, captureFiles, captureIndex, emptyTree } from './snapshot-files.ts';
import {
  type Head,
  type Place,
  hasOperation,
  readHead,
  readNotes,
  requirePlace,
  withScratch,
} from '../../../git/worktrees/place.ts';

export async function snapshotWorktree(dir: TrustedDir, request: SnapshotRequest): Promise<SnapshotOutcome> {
  if (parseTaskId(request.task) !== request.task) throw new Error(`${request.task} is not the id of a task.`);
  // A file or link at the path of the worktree goes to the trash as it is.
  const kind = lstatSync(request.worktree, { throwIfNoEntry: false });
  if (kind !== undefined && !kind.isDirectory()) return { kind: 'nothing_to_save' };
  return withScratch(dir, async (scratch) => {
    const { place, head } = findPlace(dir, request, scratch);
    const notes = readNotes(place);
    const commits = findCommits(dir, head, notes, request.asBranch);
    const headCommit = async () => (await commits).at?.commit;
    const [files, { at, tips, isBranchGone }] = await Promise.all([
      existsSync(place.worktree)
        ? captureFiles(dir, place, scratch, headCommit)
        : captureIndex(dir, place, scratch, headCommit),
      commits,
    ]);
    const before = at?.tree ?? emptyTree(dir);
    const isNothingLost =
      'ref' in head &&
      !isBranchGone &&
      tips.length === 0 &&
      files.tree === before &&
      isAsCommitted(files, before) &&
      (place.isMain || !hasOperation(place.gitDir));
    if (isNothingLost) return { kind: 'nothing_to_save' };

    const changed = files.changed ?? (await changedPaths(dir, before, files.tree));
    const permissions = unusualPermissions(place.worktree, changed, scratch);
    const state = await saveState(dir, { place, notes, files, before, scratch, request, permissions });
    const branch = 'ref' in head ? head.ref.replace(/^refs\/heads\//, '') : '';
    const record: RescueRecord = {
      task: request.task,
      why: request.why,
      atMs: request.at,
      worktree: place.worktree,
      branch: isValidBranchName(branch) ? branch : null,
      isDetached: 'commit' in head,
      head: at === undefined ? null : brand<CommitId>(at.commit),
      changed: changed.length,
      state,
      staged: files.staged?.tree ?? null,
      notSaved: files.notSaved,
    };
    const commit = await makeCommit(dir, {
      tree: files.tree,
      parents: [...(at === undefined ? [] : [at.commit]), ...(state === null ? [] : [state]), ...tips],
      message: messageOf(record),
      atMs: request.at,
    });
    const ref = await createRef(dir, record, commit);
    const rescue = parseRescue(ref, commit, messageOf(record));
    if (rescue === undefined) throw new Error(`${ref} was written but cannot be read as a rescue.`);
    return { kind: 'saved', rescue };
  });
}

/** A broken worktree has no git directory to read; an empty one stands in for it. */
function findPlace(
  dir: TrustedDir,
  { worktree, asBranch }: SnapshotRequest,
  scratch: string,
): { readonly place: Place; readonly head: Head } {
  const deleted = existsSync(worktree) ? undefined : registrationAt(dir.commonDir, worktree);
  if (deleted) {
    const place = { worktree, gitDir: deleted.gitDir, isMain: false };
    return { place, head: readHead(place) };
  }
  try {
    const place = requirePlace(dir, worktree);
    return { place, head: readHead(place) };
  } catch (error) {
    if (asBranch === undefined) throw error;
    const gitDir = path.join(scratch, 'none');
    mkdirSync(gitDir);
    const place = { worktree: realpathSync(worktree), gitDir, isMain: false };
    return { place, head: { ref: `refs/heads/${asBranch}` } };
  }
}

interface Commits {
  /** Undefined when HEAD has no commit yet. */
  readonly at: { readonly commit: string; readonly tree: string } | undefined;
  readonly tips: readonly string[];
  /** The branch of HEAD was deleted: `at` is where HEAD was last. */
  readonly isBranchGone: boolean;
}

async function findCommits(
  dir: TrustedDir,
  head: Head,
  notes: ReadonlyMap<string, Buffer>,
  branch: BranchName | undefined,
): Promise<Commits> {
  const named = 'ref' in head ? head.ref : head.commit;
  const known = await existingCommits(dir, [named, ...idsIn(notes.values(), dir)]);
  // Another branch without a commit is an unborn one (`git checkout --orphan`): it has no last commit.
  const isOwn = 'ref' in head && head.ref === `refs/heads/${branch}`;
  const before = isOwn ? lastOf(notes.get('logs/HEAD')).map((id) => known.get(id)) : [];
  const at = known.get(named) ?? before.find((commit) => commit !== undefined);
  // The commit of a detached HEAD is kept as the rescue's first parent.
  const others = new Set([...known.values()].map(({ commit }) => commit).filter((id) => id !== at?.commit));
  if (at !== undefined) await requireBoundedTip(dir, brand(at.commit), `The worktree of ${named}`);
  const tips = await unreferencedTips(dir, [...others], at?.commit);
  return { at, tips, isBranchGone: at !== undefined && !known.has(named) };
}

/** The commits of the last line of a reflog, the newer one first; deleting a branch leaves a line without one. */
function lastOf(reflog: Buffer | undefined): readonly string[] {
  const last = reflog?.toString('latin1').trimEnd().split('\n').at(-1) ?? '';
  const [older = '', newer = ''] = last.split(' ');
  return [newer, older];
}

function isAsCommitted({ staged }: Files, before: string): boolean {
  return (
    staged !== undefined &&
    staged.tree === before &&
    staged.unmerged.length === 0 &&
    staged.intended.length === 0
  );
}

interface StateRequest {
  readonly place: Place;
  readonly notes: ReadonlyMap<string, Buffer>;
  readonly files: Files;
  readonly before: string;
  readonly scratch: string;
  readonly request: Pick<SnapshotRequest, 'task' | 'at'>;
  readonly permissions: readonly string[];
}

export async function saveState(
  dir: TrustedDir,
  { place, notes, files, before, scratch, request, permissions }: StateRequest,
): Promise<string | null> {
  const { staged } = files;
  const workTree = path.join(scratch, 'state');
  const index = path.join(scratch, 'state-index');
  const needsStaged = staged !== undefined && staged.tree !== before && staged.tree !== files.tree;
  const content = new Map<string, Buffer>();
  if (staged && staged.unmerged.length > 0) content.set('unmerged', nul(staged.unmerged));
  if (staged && staged.intended.length > 0) content.set('intended', nul(staged.intended));
  if (permissions.length > 0) content.set('permissions', nul(permissions));
  if (content.size === 0 && !needsStaged && !hasOperation(place.gitDir)) return null;
  for (const [name, note] of notes) content.set(`gitdir/${name}`, note);

  mkdirSync(workTree);
  for (const [name, bytes] of content) {
    mkdirSync(path.join(workTree, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(workTree, name), bytes);
  }
  const options = { workTree, index, isRaw: true };
  const names = nul([...content.keys()].map((name) => Buffer.from(name).toString('latin1')));
  await git(dir, ['update-index', '-z', '--add', '--stdin'], { ...options, input: names });
  if (staged && staged.unmerged.length > 0) {
    await git(dir, ['update-index', '-z', '--index-info'], {
      ...options,
      input: nul(staged.unmerged.flatMap(stageAsFile)),
    });
  }
  if (needsStaged) await git(dir, [...ANY_NAME, 'read-tree', '--prefix=staged/', staged.tree], options);
  const tree = await gitLine(dir, ['write-tree'], options);
  const message = `What git noted about the worktree of ${request.task}\n`;
  return makeCommit(dir, { tree, parents: [], message, atMs: request.at });
}

/** Keeps one side of a conflict under its id. */
function stageAsFile(line: string): readonly string[] {
  const [mode, id] = line.split(' ');
  return mode === '160000' ? [] : [`100644 ${id}\tstages/${id}`];
}

export async function changedPaths(
  dir: TrustedDir,
  before: string,
  after: string,
): Promise<readonly string[]> {
  return entries(await git(dir, ['diff-tree', '-r', '-z', '--name-only', '--no-renames', before, after]));
}

export async function createRef(dir: TrustedDir, record: NamedRescue, commit: string): Promise<string> {
  for (let turn = 1; ; turn += 1) {
    const ref = refOf(record, turn);
    const made = await refsOf(dir).move(ref, null, brand<CommitId>(commit));
    if (made.kind === 'moved') return ref;
    // Saved a moment ago, and nothing has changed since.
    if (made.tip === commit) return ref;
    if (made.because === 'changed') continue;
    const argv = ['update-ref', ref, commit, '0'.repeat(commit.length)];
    const { code, stderr } = await updateRef(dir, argv);
    if (code === 0) return ref;
    const taken = await tryGit(dir, ['rev-parse', '--verify', '--quiet', ref]);
    if (taken.code !== 0) throw new GitFailed(argv, code, stderr);
  }
}
