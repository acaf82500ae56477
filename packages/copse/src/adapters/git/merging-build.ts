/** Candidates, and whether there could be one; what they promise is said in merging.ts. */

import type { CommitId } from '../../domain/ids.ts';
import type { Candidate, CandidateRequest } from '../../ports/merging.ts';
import { type Bench, type MergedTree, type Standing, withBench } from './merging-bench.ts';
import { type Branch, loadBranch } from './merging-branch.ts';
import { type Commit, asBytes, copseAt, oneLine, readCommit } from './merging-commit.ts';
import { replay } from './merging-rebase.ts';
import { squashMessage, squashAuthor } from './merging-squash.ts';
import { type Trailer, endingIn } from './merging-trailers.ts';
import { findReverts, isOnTop } from './merging-verify.ts';
import { gitLine } from './process.ts';
import { utf8 } from './snapshot-files.ts';
import type { TrustedDir } from './trusted-dir.ts';

export async function buildCandidate(
  dir: TrustedDir,
  standing: Standing,
  request: CandidateRequest,
): Promise<Candidate> {
  const { onto, head } = request;
  const branch = await loadBranch(dir, standing.reader, onto, head);
  if (branch.commits.length === 0) return nothing(onto);
  return withBench(dir, standing, { onto, paths: branch.own }, (bench) => build(bench, branch, request));
}

/** The paths by which the head could not land now. */
export async function tryCandidate(
  dir: TrustedDir,
  standing: Standing,
  onto: CommitId,
  head: CommitId,
): Promise<readonly string[]> {
  const branch = await loadBranch(dir, standing.reader, onto, head);
  if (branch.commits.length === 0) return [];
  const request = { onto, paths: branch.own, isThrowaway: true };
  return withBench(dir, standing, request, async (bench) => {
    const merged = await bench.merge(onto, head);
    if (merged === undefined || merged.clean) return [];
    const target = await readCommit(standing.reader, onto);
    const replayed = branch.isLinear && (await replay(bench, branch, { target, merged }, NO_DETAILS));
    return replayed ? [] : merged.files.map(utf8);
  });
}

const NO_DETAILS = { title: '', trailers: [], at: 0 as CandidateRequest['at'] };

async function build(bench: Bench, branch: Branch, request: CandidateRequest): Promise<Candidate> {
  const { onto, head } = request;
  const merged = await bench.merge(onto, head);
  if (merged === undefined) return { built: false, because: 'unrelated' };
  const target = await readCommit(bench.reader, onto);
  // What a branch is empty from the beginning was made so on purpose.
  const isMeantEmpty = branch.isEmpty && request.method !== 'squash';
  if (merged.clean && merged.tree === target.tree && !isMeantEmpty) return nothing(onto);
  const made = await shape(bench, { branch, target, merged, request });
  if (made === undefined) {
    const files = merged.clean ? [] : merged.files.map(utf8);
    return { built: false, because: 'conflict', files, theirs: await otherSide(bench.dir, request, files) };
  }
  const files = await findReverts(bench, branch, target, made.tree);
  if (files.length > 0) return { built: false, because: 'reverts', files };
  if (!(await isOnTop(bench, made, onto)))
    throw new Error(`The candidate ${made.commit} does not contain ${onto}, the tip of ${request.target}.`);
  return { built: true, commit: made.commit, commits: made.commits, note: made.note };
}

function nothing(onto: CommitId): Candidate {
  return { built: true, commit: onto, commits: 0, note: null };
}

interface Made {
  readonly commit: CommitId;
  readonly tree: string;
  readonly commits: number;
  readonly note: string | null;
}

interface Material {
  readonly branch: Branch;
  readonly target: Commit;
  readonly merged: MergedTree;
  readonly request: CandidateRequest;
}

/** Undefined when it conflicts. */
async function shape(bench: Bench, material: Material): Promise<Made | undefined> {
  const { branch, target, merged, request } = material;
  const { method, onto, at } = request;
  const trailers = trailersOf(request);
  if (method === 'merge') return merged.clean ? mergeCommit(bench, material, merged.tree, null) : undefined;
  if (method === 'squash') {
    if (!merged.clean) return undefined;
    const author = squashAuthor(branch.commits) ?? copseAt(at);
    const message = squashMessage(branch.commits, { title: request.title, author, trailers });
    const { tree } = merged;
    const commit = bench.write({ tree, parents: [onto], author, encoding: undefined, message, at });
    return { commit, tree, commits: 1, note: null };
  }
  const name = request.branch;
  const replayed = branch.isLinear
    ? await replay(bench, branch, { target, merged }, { title: request.title, trailers, at })
    : undefined;
  const isSame = replayed !== undefined && (!merged.clean || replayed.tree === merged.tree);
  if (isSame) return { ...replayed, note: null };
  if (!merged.clean) return undefined;
  const why = !branch.isLinear
    ? `${name} has merges of its own`
    : replayed === undefined
      ? `a commit of ${name} conflicts by itself, though all of them together do not`
      : `commit by commit, ${name} would change more than its commits do together`;
  const note = `Merged instead of rebased: ${why}.`;
  return mergeCommit(bench, material, merged.tree, note);
}

function mergeCommit(bench: Bench, { branch, request }: Material, tree: string, note: string | null): Made {
  const { onto, head, at, title, target } = request;
  const text = asBytes(`Merge ${request.branch} into ${target}\n\n${oneLine(title)}`);
  const message = endingIn(text, trailersOf(request));
  const parents = [onto, head];
  const commit = bench.write({ tree, parents, author: copseAt(at), encoding: undefined, message, at });
  return { commit, tree, commits: branch.commits.length + 1, note };
}

function trailersOf({ task, plan }: CandidateRequest): readonly Trailer[] {
  return [{ key: 'Task', value: task }, ...(plan === null ? [] : [{ key: 'Plan', value: plan }])];
}

const MOST_OF_OTHER_SIDE = 20;
/** As many as fit into one command. */
const MOST_FILES = 500;

async function otherSide(
  dir: TrustedDir,
  { onto, head }: CandidateRequest,
  files: readonly string[],
): Promise<readonly CommitId[]> {
  const choice = [`--max-count=${MOST_OF_OTHER_SIDE}`, '--topo-order', '--full-history', '--no-merges'];
  const argv = ['rev-list', ...choice, onto, `^${head}`, '--', ...files.slice(0, MOST_FILES)];
  const lines = (await gitLine(dir, argv)).split('\n');
  return lines.filter((line) => line !== '') as readonly string[] as readonly CommitId[];
}
