/**
 * Resolves a conflict without a person or an agent, or lists its attempts.
 *
 *   1. merge drivers of copse.yml       drivers.ts
 *   2. recorded resolutions             rerere.ts
 *   3. regenerated files                generated.ts
 *
 * Generated files come last, because their sources must be merged first. All files or none: a merge with one file in conflict
 * is a conflict. Only files with two versions of their content are resolved; where one side removed, renamed or replaced a
 * file, a person or an agent decides.
 *
 * A command may give another result tomorrow, and candidates are built more than once. So the result for a conflict is kept
 * while the process runs, and generated files are kept on disk for every conflict with the same key. A conflict that could
 * not be resolved is not tried again: the next one has another head or another target.
 */

import { defaultPolicy } from '../../kernel/policy.ts';
import { RecentCache } from '../../kernel/recent-cache.ts';
import { type CommitId, brand } from '../../kernel/ids.ts';
import type { Ends, LandedBranch, Resolving } from '../ports/merging.ts';
import { commitsOf, knownObjectsOf } from '../../git/objects.ts';
import { gitLine, type TrustedDir } from '../../git/process.ts';
import { isKnown, remember } from './rerere.ts';
import { readBlobs, readConflict } from './conflict.ts';
import { findDrivers } from './drivers.ts';
import { logCommits } from '../merge/branch.ts';
import {
  type ResolveOutcome,
  type ResolveSettings,
  generatedFiles,
  resolveOnce,
  writeResolution,
} from './resolver.ts';
import { utf8 } from '../../git/output.ts';
import { withScratch } from '../../git/worktrees/place.ts';

export function openResolving(dir: TrustedDir, settings: ResolveSettings): Resolving {
  const known = new RecentCache<string, Promise<ResolveOutcome>>(KEPT);
  const failed = new RecentCache<string, readonly string[]>(KEPT);
  return {
    async resolve(conflict) {
      const key = keyOf(conflict);
      const answer = known.get(key) ?? resolveOnce(dir, settings, conflict);
      known.set(key, answer);
      const found = await answer.catch((error: unknown) => {
        known.delete(key);
        throw error;
      });
      if (found.kind === 'resolved') return writeResolution(dir, conflict, found);
      failed.set(key, found.tried);
      return undefined;
    },
    mayResolve: (conflict) => mayResolve(dir, settings, conflict),
    tried: (conflict) => failed.get(keyOf(conflict)) ?? [],
    otherSide: async ({ onto, head }, files, limit) =>
      files.length === 0
        ? []
        : logCommits(dir, [`--max-count=${limit}`, onto, `^${head}`, '--', ...files.slice(0, MOST_FILES)]),
    learn: (landed) => learn(dir, settings, landed),
  };
}

const MOST_FILES = defaultPolicy.resolving.files;

const KEPT = 400;

function keyOf({ onto, head }: Ends): string {
  return `${onto} ${head}`;
}

async function mayResolve(dir: TrustedDir, settings: ResolveSettings, ends: Ends): Promise<boolean> {
  return withScratch(dir, async (scratch) => {
    const { contents, files } = await readConflict(dir, scratch, ends);
    const names = [...files.keys()];
    const drivers = await findDrivers(dir, scratch, settings.drivers, names);
    const generated = generatedFiles(settings.lockfiles);
    const hasWay = (file: string) => {
      const content = contents.get(file);
      return content && (drivers.has(file) || generated.has(file) || isKnown(dir, content.marked));
    };
    return names.length > 0 && names.every(hasWay);
  });
}

async function learn(
  dir: TrustedDir,
  { memory, now }: ResolveSettings,
  { onto, head, base }: LandedBranch,
): Promise<readonly string[]> {
  const learned = new Set<string>();
  if (await isWithoutMerges(dir, head, [onto, base])) return [];
  for (const { id, parents } of await mergesOf(dir, onto, head)) {
    const [ours, theirs] = parents;
    if (ours === undefined || theirs === undefined || parents.length !== 2) continue;
    await withScratch(dir, async (scratch) => {
      const { contents } = await readConflict(dir, scratch, { onto: ours, head: theirs });
      const names = [...contents.keys()].map((file) => `${id}:${file}`);
      const results = await readBlobs(dir, names);
      for (const { file, marked } of contents.values()) {
        const resolved = results.get(`${id}:${file}`);
        if (resolved !== undefined && remember(dir, { marked, resolved }, memory, now()))
          learned.add(utf8(file));
      }
    });
  }
  return [...learned];
}

const MOST_STEPS = defaultPolicy.resolving.steps;

/** True for most branches, and found without starting a process: no commit back to the branch's beginning is a merge. */
async function isWithoutMerges(
  dir: TrustedDir,
  head: CommitId,
  beginnings: readonly (CommitId | null | undefined)[],
): Promise<boolean> {
  const objects = knownObjectsOf(dir);
  await objects.lookAhead(head);
  let at = head;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    if (beginnings.includes(at)) return true;
    const [parent, ...others] = (await objects.commit(at)).parents;
    if (parent === undefined || others.length > 0) return false;
    at = parent;
  }
  return false;
}

const MOST_MERGES = defaultPolicy.resolving.merges;

async function mergesOf(
  dir: TrustedDir,
  onto: CommitId,
  head: CommitId,
): Promise<readonly { readonly id: CommitId; readonly parents: readonly CommitId[] }[]> {
  const known = await commitsOf(knownObjectsOf(dir), head, onto);
  if (known !== undefined)
    return known
      .filter(({ parents }) => parents.length > 1)
      .toReversed()
      .slice(0, MOST_MERGES);
  const choice = ['--min-parents=2', `--max-count=${MOST_MERGES}`, '--parents', head, `^${onto}`];
  const lines = (await gitLine(dir, ['rev-list', ...choice, '--'])).split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [id = '', ...parents] = line.split(' ');
      return { id: brand<CommitId>(id), parents: parents.map((parent) => brand<CommitId>(parent)) };
    });
}
