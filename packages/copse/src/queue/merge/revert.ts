/**
 * Reverts without files. To take back the change from B to L on the tip T, Copse makes two commits with the parent L, one with
 * the tree of T and one with the tree of B, and merges them: their base is L, so the result is T without the change.
 *
 * The commits of a landing are read from the target: from the landing's last commit back along first parents, while the
 * commits name its task and are not the end of another landing. At a merge commit this stops after one step, because its first
 * parent is the target before the landing.
 */

import { defaultPolicy } from '../../kernel/policy.ts';
import { type CommitId, type TaskId, brand } from '../../kernel/ids.ts';
import type { CommitSummary, Reverted, Reverting, RevertRequest } from '../ports/merging.ts';
import {
  isReachable,
  type Commit,
  asBytes,
  oneLine,
  readable,
  subjectOf,
  type Objects,
  diffTrees,
} from '../../git/objects.ts';
import { identityEnv } from '../../git/identity.ts';
import { type TargetMerger, MergeEngine, adoptCandidate, openTargetMerger } from './engine.ts';
import { endingIn, trailersIn } from './trailers.ts';
import { gitLine, type TrustedDir } from '../../git/process.ts';
import { isAncestor } from '../../git/refs/refs.ts';
import { utf8 } from '../../git/output.ts';

/** The long-lived gits do not keep the process alive. */
export function openReverting(dir: TrustedDir): Reverting & { readonly close: () => Promise<void> } {
  const engine = new MergeEngine(dir);
  return {
    revert: (request) => engine.use(() => revert(engine, request)),
    close: () => engine.close(),
  };
}

async function revert(engine: MergeEngine, request: RevertRequest): Promise<Reverted> {
  const { objects, dir } = engine;
  const { landed: end, onto } = request;
  if (!(await isPartOf(objects, end, onto))) return { kind: 'not_there' };
  const { commits, before } = await broughtBy(objects, request);
  if (before === undefined) return { kind: 'brought_nothing' };
  const [tip, landed] = await Promise.all([objects.commit(onto), objects.commit(end)]);
  const changes = await diffTrees(objects, before.tree, landed.tree);
  const paths = changes.map(({ path }) => path);
  const merger = await openTargetMerger(engine, { target: tip.tree, paths });
  const merged = await mergeWithout(merger, { tip, landed, before });
  if (merged.kind !== 'clean') {
    const files = merged.files.map(utf8).toSorted();
    return { kind: 'conflict', files, later: await laterIn(objects, request, files) };
  }
  if (merged.tree === tip.tree) return { kind: 'nothing_left' };
  const { at } = request;
  const author = await authorAt(dir, at);
  const message = messageOf(request, commits);
  const what = { tree: merged.tree, parents: [onto], author, encoding: undefined, message, at };
  const commit = merger.write(what);
  if (!request.isTrial) {
    await adoptCandidate(engine, commit, onto);
    await engine.quarantine.bring(commit);
  }
  return { kind: 'reverted', commit, before: before.id, commits: commits.map(summaryOf) };
}

async function isPartOf(objects: Objects, commit: CommitId, of: CommitId): Promise<boolean> {
  const [found] = await objects.reader.check([`${commit}^{commit}`]);
  if (found === undefined) return false;
  return (await isReachable(objects, commit, of)) ?? isAncestor(objects.dir, commit, of);
}

interface LandedCommits {
  /** The newest first. */
  readonly commits: readonly Commit[];
  /** The commit that they were built on; undefined when there are none. */
  readonly before: Commit | undefined;
}

async function broughtBy(objects: Objects, request: RevertRequest): Promise<LandedCommits> {
  const commits: Commit[] = [];
  let commit = await objects.commit(request.landed);
  while (isOf(commit, request.reverts) && !request.others.has(commit.id)) {
    commits.push(commit);
    const [parent] = commit.parents;
    // A root commit, or the end of a shallow history.
    if (parent === undefined) return { commits: [], before: undefined };
    commit = await objects.commit(parent);
  }
  return { commits, before: commits.length === 0 ? undefined : commit };
}

function isOf({ message }: Commit, task: TaskId): boolean {
  return trailersIn(message).some(
    ({ key, value }) => key.toLowerCase() === 'task' && value.toLowerCase() === task.toLowerCase(),
  );
}

interface Trees {
  readonly tip: Commit;
  readonly landed: Commit;
  readonly before: Commit;
}

async function mergeWithout(merger: TargetMerger, { tip, landed, before }: Trees) {
  const ours = merger.writeTemporary(tip.tree, [landed.id]);
  const theirs = merger.writeTemporary(before.tree, [landed.id]);
  // Two equal trees give one commit, and there is nothing to merge.
  if (ours === theirs) return { kind: 'clean', tree: tip.tree } as const;
  const merged = await merger.merge(ours, theirs);
  if (merged === undefined)
    throw new Error(
      `git finds no common commit of ${ours} and ${theirs}, though both have the parent ${landed.id}.`,
    );
  return merged;
}

async function authorAt(dir: TrustedDir, at: RevertRequest['at']): Promise<string> {
  const { GIT_AUTHOR_NAME: name = '', GIT_AUTHOR_EMAIL: email = '' } = await identityEnv(dir);
  const plain = (text: string) => oneLine(text).replaceAll(/[<>]/g, '');
  return asBytes(`${plain(name)} <${plain(email)}> ${Math.floor(at / 1_000)} +0000`);
}

/** More would make the message unreadable. */
const MOST_LISTED = 50;

function messageOf({ task, reverts, title, landed }: RevertRequest, commits: readonly Commit[]): string {
  const listed = commits.slice(0, MOST_LISTED).toReversed();
  const more = commits.length > listed.length ? ['- …'] : [];
  const lines = [...more, ...listed.map((commit) => `- ${oneLine(subjectIn(commit))}`)];
  const text = `Revert "${oneLine(title)}"\n\nTakes back what ${reverts} landed:\n\n${lines.join('\n')}`;
  return endingIn(asBytes(text), [
    { key: 'Task', value: task },
    { key: 'Reverts', value: `${reverts} ${landed}` },
  ]);
}

function subjectIn(commit: Commit): string {
  return readable(commit, subjectOf(commit.message));
}

function summaryOf(commit: Commit): CommitSummary {
  const text = readable(commit, commit.message).trim();
  const [, ...paragraphs] = text.split(/\n[ \t\r]*\n/);
  const isMerge = commit.parents.length > 1;
  return { id: commit.id, subject: subjectIn(commit), body: paragraphs.join('\n\n'), isMerge };
}

const MOST_LATER = defaultPolicy.target.laterCommits;
/** As many as fit into one command. */
const MOST_FILES = 500;

/** The target's commits after the landing that changed these files, the newest first. */
async function laterIn(
  objects: Objects,
  { landed, onto }: RevertRequest,
  files: readonly string[],
): Promise<readonly CommitSummary[]> {
  const choice = [`--max-count=${MOST_LATER}`, '--topo-order', '--full-history', onto, `^${landed}`];
  const argv = ['rev-list', ...choice, '--', ...files.slice(0, MOST_FILES)];
  const ids = (await gitLine(objects.dir, argv)).split('\n').filter((line) => line !== '');
  const commits = await Promise.all(ids.map((id) => objects.commit(brand<CommitId>(id))));
  return commits.map(summaryOf);
}
