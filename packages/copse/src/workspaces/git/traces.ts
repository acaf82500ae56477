/** What refs, worktrees and the trailers of landed commits show of tasks, without the board. */

import { defaultPolicy } from '../../kernel/policy.ts';
import { type BranchName, type CommitId, type TaskId, brand, parseTaskId } from '../../kernel/ids.ts';
import { subjectOf } from '../../git/objects.ts';
import { type TrustedDir, git } from '../../git/process.ts';
import { listCommits } from '../../git/refs/list-commits.ts';
import { registrations } from '../../git/worktrees/registrations.ts';
import type { TaskTraces } from '../rules/rebuild.ts';

const MOST_COMMITS = defaultPolicy.worktreeFiles.tracedCommits;

/** By the order of their ids. */
export async function findTraces(
  dir: TrustedDir,
  target: BranchName | undefined,
): Promise<readonly TaskTraces[]> {
  const found = new Map<TaskId, Found>();
  const of = (task: TaskId): Found => {
    const known = found.get(task) ?? newFound(task);
    found.set(task, known);
    return known;
  };
  for (const { name, path } of registrations(dir.commonDir)) {
    const task = parseTaskId(name);
    if (task !== undefined) of(task).worktree = path;
  }
  const merged = target === undefined ? new Set<string>() : await branchesIn(dir, target);
  for (const { ref, commit, message } of await listCommits(dir, [HEADS, 'refs/copse/'])) {
    const kept = /^refs\/copse\/(?:keep|rescue)\/([^/]+)\//.exec(ref)?.[1];
    const keptFor = kept === undefined ? undefined : parseTaskId(kept);
    if (keptFor !== undefined) of(keptFor).kept += 1;
    if (!ref.startsWith(HEADS)) continue;
    const task = taskIn(ref.slice(HEADS.length));
    if (task === undefined) continue;
    const one = of(task);
    one.branch = { name: brand(ref.slice(HEADS.length)), tip: commit, isMerged: merged.has(ref) };
    if (!one.branch.isMerged) one.subject = subjectOf(message);
  }
  if (target !== undefined) {
    for (const { commit, task, subject } of await landed(dir, target)) {
      const one = of(task);
      one.landed ??= commit;
      // The subject of a merge names only branches.
      if (!subject.startsWith('Merge ')) one.subject ??= subject;
    }
  }
  return [...found.values()].toSorted((one, other) => (one.task < other.task ? -1 : 1));
}

type Found = { -readonly [K in keyof TaskTraces]: TaskTraces[K] };

function newFound(task: TaskId): Found {
  return { task, branch: null, worktree: null, landed: null, kept: 0, subject: null };
}

const HEADS = 'refs/heads/';

/** A branch pattern may put the id anywhere. */
function taskIn(branch: string): TaskId | undefined {
  for (const [word] of branch.matchAll(/cp-[a-z0-9]+/g)) {
    const task = parseTaskId(word);
    if (task !== undefined) return task;
  }
  return undefined;
}

async function branchesIn(dir: TrustedDir, target: BranchName): Promise<ReadonlySet<string>> {
  const output = await git(dir, ['for-each-ref', '--format=%(refname)', `--merged=${HEADS}${target}`, HEADS]);
  return new Set(output.toString().split('\n'));
}

interface LandedCommit {
  readonly commit: CommitId;
  readonly task: TaskId;
  readonly subject: string;
}

/** Newest first. */
async function landed(dir: TrustedDir, target: BranchName): Promise<readonly LandedCommit[]> {
  const format = '--format=%H%x00%s%x00%(trailers:key=Task,valueonly,separator=%x00)';
  const limit = `--max-count=${MOST_COMMITS}`;
  const output = await git(dir, ['log', limit, '--grep=^Task: ', format, `${HEADS}${target}`, '--']);
  return output
    .toString()
    .split('\n')
    .flatMap((line) => {
      const [commit = '', subject = '', ...tasks] = line.split('\0');
      return tasks.flatMap((text) => {
        const task = parseTaskId(text.trim());
        return task === undefined ? [] : [{ commit: brand<CommitId>(commit), task, subject }];
      });
    });
}
