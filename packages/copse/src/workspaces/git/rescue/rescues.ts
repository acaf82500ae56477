/** The rescues of a repository: making, finding, reading and putting them back. */

import { type CommitId, type TaskId, brand, parseTaskId, timestamp } from '../../../kernel/ids.ts';
import type { KeptTip, Rescue, Rescues } from '../../../git/port.ts';
import { utf8 } from '../../../git/output.ts';
import { git, type TrustedDir } from '../../../git/process.ts';
import { parseRescue } from './record.ts';
import { restoreRescue } from './restore.ts';
import { snapshotWorktree } from './snapshot.ts';
import { RESCUE_REFS } from './snapshot-commits.ts';
import { diffTrees } from './restore-trees.ts';
import { emptyTree } from './snapshot-files.ts';

export function openRescues(dir: TrustedDir): Rescues {
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
    restore: (rescue, worktree) => restoreRescue(dir, rescue, worktree),
  };
}

/** Oldest first. */
async function listRescues(dir: TrustedDir, task?: TaskId): Promise<readonly Rescue[]> {
  const format = '--format=%(refname)%00%(objectname)%00%(objecttype)%00%(contents)%00';
  const output = await git(dir, ['for-each-ref', format, `${RESCUE_REFS}/`]);
  const fields = output.toString().split('\0');
  const rescues: Rescue[] = [];
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [ref = '', commit = '', type = '', message = ''] = fields.slice(at, at + 4);
    const rescue = type === 'commit' ? parseRescue(ref.trimStart(), commit, message) : undefined;
    if (rescue && (task === undefined || rescue.task === task)) rescues.push(rescue);
  }
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
  const format = '--format=%(refname)%00%(objectname)%00%(objecttype)%00%(contents:subject)';
  const output = await git(dir, ['for-each-ref', format, `${KEEP_REFS}/`]);
  const all = output
    .toString()
    .split('\n')
    .flatMap((line) => parseTip(line.split('\0')) ?? [])
    .toSorted((one, other) => one.at - other.at);
  const latest = new Map(all.map((tip) => [`${tip.task} ${tip.commit}`, tip]));
  const lost = await commitsOnlyHere(dir, [...latest.values()]);
  return [...latest.values()].filter(({ commit }) => lost.has(commit));
}

export function parseTip([ref = '', commit = '', type, subject = '']: readonly string[]):
  | KeptTip
  | undefined {
  const [, id = '', at = ''] = NAMED.exec(ref) ?? [];
  const task = parseTaskId(id);
  if (type !== 'commit' || task === undefined || !Number.isSafeInteger(Number(at))) return undefined;
  return { ref, commit: brand<CommitId>(commit), task, at: timestamp(Number(at)), subject };
}

const NAMED = new RegExp(`^${KEEP_REFS}/([^/]+)/(\\d+)-[0-9a-f]+$`);

async function commitsOnlyHere(dir: TrustedDir, tips: readonly KeptTip[]): Promise<ReadonlySet<string>> {
  if (tips.length === 0) return new Set();
  const elsewhere = ['--branches', '--tags', '--remotes', `--glob=${RESCUE_REFS}/*`];
  const input = tips.map(({ commit }) => `${commit}\n`).join('');
  const output = await git(dir, ['rev-list', '--stdin', '--not', ...elsewhere], { input });
  return new Set(output.toString().split('\n'));
}
