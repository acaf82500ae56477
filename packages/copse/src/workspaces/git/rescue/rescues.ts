/** The rescues of a repository: making, finding, reading and putting them back. */

import { type TaskId, parseTaskId, timestamp } from '../../../kernel/ids.ts';
import type { KeptTip, Rescue, Rescues } from '../../../git/port.ts';
import { utf8 } from '../../../git/output.ts';
import { subjectOf } from '../../../git/objects.ts';
import { git, type TrustedDir } from '../../../git/process.ts';
import { type RefWithCommit, listCommits } from '../../../git/refs/list-commits.ts';
import { type Policy, defaultPolicy } from '../../../kernel/policy.ts';
import { parseRescue } from './record.ts';
import { adoptTravelled, captureTravelling, wrapCommit } from './travel.ts';
import { restoreRescue } from './restore.ts';
import { snapshotWorktree } from './snapshot.ts';
import { RESCUE_REFS } from './snapshot-commits.ts';
import { diffTrees } from './restore-trees.ts';
import { emptyTree } from './snapshot-files.ts';

export function openRescues(dir: TrustedDir, limits: Policy['travel'] = defaultPolicy.travel): Rescues {
  return {
    snapshot: (request) => snapshotWorktree(dir, request),
    list: (task) => listRescues(dir, task),
    kept: () => listKeptTips(dir),
    find: async (ref) => (await listRescues(dir)).find((rescue) => rescue.ref === ref),
    changes: async (rescue) => {
      const changes = await diffTrees(dir, rescue.head ?? emptyTree(dir), rescue.commit);
      return [...changes].map(([file, { from, to }]) => ({
        path: utf8(file),
        change: from === undefined ? 'added' : to === undefined ? 'deleted' : 'changed',
      }));
    },
    travelling: (request) => captureTravelling(dir, request, limits),
    wrap: (of) => wrapCommit(dir, of),
    adopt: (commit) => adoptTravelled(dir, commit),
    restore: (rescue, worktree) => restoreRescue(dir, rescue, worktree),
  };
}

/** Oldest first. */
async function listRescues(dir: TrustedDir, task?: TaskId): Promise<readonly Rescue[]> {
  const all = await listCommits(dir, [`${RESCUE_REFS}/`]);
  const rescues = all
    .flatMap(({ ref, commit, message }) => parseRescue(ref, commit, message) ?? [])
    .filter((rescue) => task === undefined || rescue.task === task);
  return rescues.toSorted((one, other) => one.at - other.at || (one.ref < other.ref ? -1 : 1));
}

/**
 * The commits of branches that Copse deleted or moved back, under `refs/copse/keep/<task>/<time>-<commit>`. Only
 * commits that no branch, tag, remote or rescue reaches are listed. Agents can write refs, so refs with other names are
 * ignored.
 */
export const KEEP_REFS = 'refs/copse/keep';

/** Oldest first; of several that keep the same commit of a task, the latest. */
async function listKeptTips(dir: TrustedDir): Promise<readonly KeptTip[]> {
  const all = (await allKeptTips(dir)).toSorted((one, other) => one.at - other.at);
  const latest = new Map(all.map((tip) => [`${tip.task} ${tip.commit}`, tip]));
  const lost = await commitsOnlyHere(dir, [...latest.values()]);
  return [...latest.values()].filter(({ commit }) => lost.has(commit));
}

export async function allKeptTips(dir: TrustedDir): Promise<readonly KeptTip[]> {
  return (await listCommits(dir, [`${KEEP_REFS}/`])).flatMap((found) => keptTip(found) ?? []);
}

function keptTip({ ref, commit, message }: RefWithCommit): KeptTip | undefined {
  const [, id = '', at = ''] = NAMED.exec(ref) ?? [];
  const task = parseTaskId(id);
  if (task === undefined || !Number.isSafeInteger(Number(at))) return undefined;
  return { ref, commit, task, at: timestamp(Number(at)), subject: subjectOf(message) };
}

const NAMED = new RegExp(`^${KEEP_REFS}/([^/]+)/(\\d+)-[0-9a-f]+$`);

async function commitsOnlyHere(dir: TrustedDir, tips: readonly KeptTip[]): Promise<ReadonlySet<string>> {
  if (tips.length === 0) return new Set();
  // A ref whose object is gone reaches nothing.
  const elsewhere = ['--ignore-missing', '--branches', '--tags', '--remotes', `--glob=${RESCUE_REFS}/*`];
  const input = tips.map(({ commit }) => `${commit}\n`).join('');
  const output = await git(dir, ['rev-list', '--stdin', '--not', ...elsewhere], { input });
  return new Set(output.toString().split('\n'));
}
