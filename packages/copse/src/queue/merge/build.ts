/** Builds candidates, or tries whether one could be built. open.ts states what a candidate promises. */

import { unreachable } from '../../kernel/unreachable.ts';
import type { CommitId } from '../../kernel/ids.ts';
import type { Candidate, CandidateRequest, ConflictedMerge, Resolution } from '../ports/merging.ts';
import type { MergeMethod } from '../rules/landing.ts';
import type { Merged } from '../../git/long-lived.ts';
import { type TargetMerger, type MergeEngine, adoptCandidate, openTargetMerger } from './engine.ts';
import { type Branch, loadBranch } from './branch.ts';
import { type Commit, asBytes, copseAt, oneLine, type Objects } from '../../git/objects.ts';
import { findUnfit } from './fitness.ts';
import { replay } from './rebase.ts';
import { squashMessage, squashAuthor } from './squash.ts';
import { type Trailer, endingIn } from './trailers.ts';
import { type ResolvedConflict, findReverts, isOnTop } from './verify.ts';
import { latin1, utf8 } from '../../git/output.ts';

export function buildCandidate(
  engine: MergeEngine,
  request: CandidateRequest,
  resolve?: Resolve,
): Promise<Candidate> {
  return engine.use(async () => {
    const { objects } = engine;
    const { onto, head } = request;
    const [branch, target] = await Promise.all([loadBranch(objects, onto, head), objects.commit(onto)]);
    if (branch.commits.length === 0) return nothing(target);
    const merger = await openTargetMerger(engine, { target: target.tree, paths: branch.own });
    const candidate = await build(merger, { branch, target, request }, (merged) =>
      resolveMerge(engine, request, merged, resolve),
    );
    if (candidate.kind === 'built') await adoptCandidate(engine, candidate.commit, onto);
    return candidate;
  });
}

interface Tried {
  /** The paths that conflict if the head lands now. */
  readonly conflicts: readonly string[];
  readonly unfit: readonly string[];
}

export function tryCandidate(
  engine: MergeEngine,
  onto: CommitId,
  head: CommitId,
  method: MergeMethod,
): Promise<Tried> {
  return engine.use(async () => {
    const { objects } = engine;
    const [branch, target] = await Promise.all([loadBranch(objects, onto, head), objects.commit(onto)]);
    if (branch.commits.length === 0) return { conflicts: [], unfit: [] };
    const merger = await openTargetMerger(engine, { target: target.tree, paths: branch.own });
    const merged = await mergeWhole(merger, branch, target);
    const check = async (tree: string) => {
      const between = method === 'squash' ? [] : branch.own;
      return {
        conflicts: [],
        unfit: await findUnfit(objects, { before: target.tree, after: tree, between }),
      };
    };
    if (merged === undefined) return { conflicts: [], unfit: [] };
    if (merged.kind === 'clean') return check(merged.tree);
    const mayReplay = method === 'rebase' && branch.isLinear;
    const replayed = mayReplay && (await replay(merger, branch, { target, merged }, NO_DETAILS));
    return replayed ? check(replayed.tree) : { conflicts: merged.files.map(utf8), unfit: [] };
  });
}

const NO_DETAILS = { title: '', trailers: [], at: 0 as CandidateRequest['at'] };

/** Undefined for unrelated histories. */
async function mergeWhole(merger: TargetMerger, branch: Branch, target: Commit): Promise<Merged | undefined> {
  const { onto, head, before, isLinear } = branch;
  if (isLinear) {
    const { tree: side } = await merger.objects.commit(head);
    const tree = await merger.splice({ base: before, side, onto: target.tree });
    if (tree !== undefined) return { kind: 'clean', tree };
  }
  return merger.merge(onto, head);
}

interface BuildInput {
  readonly branch: Branch;
  readonly target: Commit;
  readonly request: CandidateRequest;
}

type MergedInput = BuildInput & { readonly merged: Merged };

type TryToResolve = (merged: Merged) => Promise<Resolved | undefined>;

async function build(merger: TargetMerger, task: BuildInput, tryToResolve: TryToResolve): Promise<Candidate> {
  const { branch, target, request } = task;
  const { onto } = request;
  const merged = await mergeWhole(merger, branch, target);
  if (merged === undefined) return { kind: 'unrelated' };
  // A branch of empty commits was made on purpose.
  const isMeantEmpty = branch.isEmpty && request.method !== 'squash';
  if (merged.kind === 'clean' && merged.tree === target.tree && !isMeantEmpty) return nothing(target);
  const plain = await shape(merger, { ...task, merged });
  const resolved = plain === undefined ? await tryToResolve(merged) : undefined;
  const made = resolved === undefined ? plain : shapeResolved(merger, task, resolved);
  if (made === undefined) {
    const files = merged.kind === 'clean' ? [] : merged.files.map(utf8);
    const theirs = await otherSide(merger.objects, request, files);
    return { kind: 'conflict', files, theirs };
  }
  if (made.tree === target.tree && resolved !== undefined) return nothing(target, resolved.note);
  const files = await findReverts(merger, { branch, target, tree: made.tree, resolved });
  if (files.length > 0) return { kind: 'reverts', files };
  const between = request.method === 'squash' ? [] : branch.own;
  const landed = { before: target.tree, after: made.tree, between };
  const problems = await findUnfit(merger.objects, landed);
  if (problems.length > 0) return { kind: 'unfit', problems };
  if (!(await isOnTop(merger, made, onto)))
    throw new Error(`The candidate ${made.commit} does not contain ${onto}, the tip of ${request.target}.`);
  return { kind: 'built', ...made };
}

export type Resolve = (conflict: ConflictedMerge) => Promise<Resolution | undefined>;

interface Resolved extends ResolvedConflict {
  /** Without conflicts. */
  readonly tree: string;
  readonly note: string;
}

/** Accepts changes to the files in conflict and to the files that the resolution names. */
async function resolveMerge(
  { quarantine }: MergeEngine,
  { onto, head }: CandidateRequest,
  merged: Merged,
  resolve: Resolve | undefined,
): Promise<Resolved | undefined> {
  if (merged.kind === 'clean' || resolve === undefined) return undefined;
  const { tree, files } = merged;
  // The resolution reads the target from the repository.
  await quarantine.bring(onto);
  quarantine.flush();
  const resolution = await resolve({ onto, head, tree, files: files.map(utf8), env: quarantine.env });
  if (resolution === undefined) return undefined;
  const paths = new Set([...files, ...resolution.files.map(latin1)]);
  return { tree: resolution.tree, note: resolution.note, merged: tree, paths };
}

function nothing({ id, tree }: Commit, note: string | null = null): Candidate {
  return { kind: 'built', commit: id, tree, commits: 0, note };
}

interface Made {
  readonly commit: CommitId;
  readonly tree: string;
  readonly commits: number;
  readonly note: string | null;
}

/** Undefined when it conflicts. */
async function shape(merger: TargetMerger, material: MergedInput): Promise<Made | undefined> {
  const { merged, request } = material;
  switch (request.method) {
    case 'merge':
      return merged.kind === 'clean' ? mergeCommit(merger, material, merged.tree, null) : undefined;
    case 'squash':
      return merged.kind === 'clean' ? squash(merger, material, merged.tree, null) : undefined;
    case 'rebase':
      return rebase(merger, material);
    default:
      return unreachable(request.method);
  }
}

async function rebase(merger: TargetMerger, material: MergedInput): Promise<Made | undefined> {
  const { branch, target, merged, request } = material;
  const name = request.branch;
  const details = { title: request.title, trailers: trailersOf(request), at: request.at };
  const mayReplay = branch.isLinear || merged.kind === 'clean';
  const replayed = mayReplay ? await replay(merger, branch, { target, merged }, details) : undefined;
  const isSame = replayed !== undefined && (merged.kind !== 'clean' || replayed.tree === merged.tree);
  if (isSame) return { ...replayed, note: branch.isLinear ? null : `Rebased without the merges of ${name}.` };
  if (merged.kind !== 'clean') return undefined;
  const why = !branch.isLinear
    ? `a rebase would lose the conflict resolutions in the merge commits of ${name}`
    : replayed === undefined
      ? `a single commit of ${name} conflicts, though the whole branch does not`
      : `a rebase commit by commit gives another result than a merge of ${name}`;
  return squash(merger, material, merged.tree, `Landed as one squashed commit, because ${why}.`);
}

/** Rebase becomes squash here: the commits conflict one by one. */
function shapeResolved(merger: TargetMerger, task: BuildInput, { tree, note }: Resolved): Made {
  const { method } = task.request;
  switch (method) {
    case 'merge':
      return mergeCommit(merger, task, tree, note);
    case 'squash':
    case 'rebase':
      return squash(merger, task, tree, note);
    default:
      return unreachable(method);
  }
}

function squash(
  merger: TargetMerger,
  { branch, request }: BuildInput,
  tree: string,
  note: string | null,
): Made {
  const { onto, at, title } = request;
  const author = squashAuthor(branch.commits) ?? copseAt(at);
  const message = squashMessage(branch.commits, { title, author, trailers: trailersOf(request) });
  const commit = merger.write({ tree, parents: [onto], author, encoding: undefined, message, at });
  return { commit, tree, commits: 1, note };
}

function mergeCommit(
  merger: TargetMerger,
  { branch, request }: BuildInput,
  tree: string,
  note: string | null,
): Made {
  const { onto, head, at, title, target } = request;
  const text = asBytes(`Merge ${request.branch} into ${target}\n\n${oneLine(title)}`);
  const message = endingIn(text, trailersOf(request));
  const parents = [onto, head];
  const commit = merger.write({ tree, parents, author: copseAt(at), encoding: undefined, message, at });
  return { commit, tree, commits: branch.commits.length + 1, note };
}

function trailersOf({ task, plan }: CandidateRequest): readonly Trailer[] {
  return [{ key: 'Task', value: task }, ...(plan === null ? [] : [{ key: 'Plan', value: plan }])];
}

const MOST_OF_OTHER_SIDE = 20;
/** As many as fit into one command. */
const MOST_FILES = 500;

async function otherSide(
  objects: Objects,
  { onto, head }: CandidateRequest,
  files: readonly string[],
): Promise<readonly CommitId[]> {
  const choice = [`--max-count=${MOST_OF_OTHER_SIDE}`, '--topo-order', '--full-history', '--no-merges'];
  const argv = ['rev-list', ...choice, onto, `^${head}`, '--', ...files.slice(0, MOST_FILES)];
  const lines = (await objects.askGit(argv)).toString().split('\n');
  return lines.filter((line) => line !== '') as readonly string[] as readonly CommitId[];
}
