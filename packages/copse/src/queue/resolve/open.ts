/**
 * Resolves a conflict without anybody, or says what it tried.
 *
 *   1. merge drivers of copse.yml             resolve-drivers.ts
 *   2. as the same conflict was before        resolve-before.ts
 *   3. generated files, written anew          resolve-generated.ts
 *
 * Generated files come last: what they are made from has to be merged by then. All files or none: a merge with one file in
 * conflict is a conflict. Only files with two versions of their content are touched; where one side removed, renamed or
 * replaced something, somebody has to say what is meant.
 *
 * A command may give another result tomorrow, and candidates are built more than once. So what was made of a conflict is
 * kept for as long as the process runs, what was generated longer than that and for all that lead to the same
 * (resolve-again.ts), and what could not be resolved is not tried again: the next conflict has another
 * head, or another target.
 */

import { type CommitId, brand } from '../../kernel/ids.ts';
import type { Ends, LandedBranch, Resolving } from '../ports/merging.ts';
import { commitsOf } from '../../git/objects/history.ts';
import { knownObjectsOf } from '../../git/objects/objects.ts';
import { gitLine } from '../../git/process.ts';
import { isKnown, remember } from './before.ts';
import { readBlobs, readConflict } from './conflict.ts';
import { findDrivers } from './drivers.ts';
import { listOtherSide } from './sides.ts';
import { type Answer, type ResolveSettings, generatedFiles, resolveOnce, writeResolution } from './work.ts';
import { utf8 } from '../../git/byte-names.ts';
import { withScratch } from '../../git/worktrees/place.ts';
import type { TrustedDir } from '../../git/directory/trusted-dir.ts';

export function openResolving(dir: TrustedDir, settings: ResolveSettings): Resolving {
  const known = new Map<string, Promise<Answer>>();
  const failed = new Map<string, readonly string[]>();
  return {
    async resolve(conflict) {
      const key = keyOf(conflict);
      const answer = known.get(key) ?? resolveOnce(dir, settings, conflict);
      keepNewest(known, key, answer);
      const found = await answer.catch((error: unknown) => {
        known.delete(key);
        throw error;
      });
      if (found.resolved) return writeResolution(dir, conflict, found);
      keepNewest(failed, key, found.tried);
      return undefined;
    },
    mayResolve: (conflict) => mayResolve(dir, settings, conflict),
    tried: (conflict) => failed.get(keyOf(conflict)) ?? [],
    otherSide: (ends, files, limit) => listOtherSide(dir, ends, files, limit),
    learn: (landed) => learn(dir, settings, landed),
  };
}

const KEPT = 200;

function keyOf({ onto, head }: Ends): string {
  return `${onto} ${head}`;
}

function keepNewest<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > KEPT && oldest !== undefined) map.delete(oldest);
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

const MOST_STEPS = 50;

/** What is true of most branches, found without starting a process: back to where the branch began, no commit is a merge. */
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

const MOST_MERGES = 50;

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
