/** Finds what a finished candidate is made of that the repository may lack: its new commits, and what is new in them. */

import type { CommitId } from '../../kernel/ids.ts';
import type { Standing } from './bench.ts';
import { idBytesOf, pairs } from '../../git/objects/tree-diff.ts';

export async function adoptCandidate(standing: Standing, candidate: CommitId, onto: CommitId): Promise<void> {
  if (candidate === onto) return;
  const { objects, quarantine } = standing;
  const fresh: CommitId[] = [];
  for (let id: CommitId | undefined = candidate; id !== undefined && id !== onto && quarantine.has(id);) {
    fresh.push(id);
    id = (await objects.commit(id)).parents[0];
  }
  const ids: string[] = [];
  for (const id of fresh.toReversed()) {
    const { tree, parents } = await objects.commit(id);
    const before = parents[0] === undefined ? undefined : (await objects.commit(parents[0])).tree;
    await collect(standing, before, tree, ids);
    ids.push(id);
  }
  await quarantine.adopt(candidate, { onto, ids }, (lacking) => objects.reader.readAll(lacking));
}

/** What is the same as before is in the repository; so is everything below a folder that is not in quarantine. */
async function collect(
  standing: Standing,
  before: string | undefined,
  tree: string,
  ids: string[],
): Promise<void> {
  const { objects, quarantine } = standing;
  if (before === tree || !quarantine.has(tree)) return;
  const [old, now] = await Promise.all([
    before === undefined ? Buffer.alloc(0) : objects.tree(before),
    objects.tree(tree),
  ]);
  for (const pair of pairs(old, now, idBytesOf(objects))) {
    if (pair.now === undefined) continue;
    const { mode, id } = pair.now;
    if (mode === '40000') await collect(standing, pair.old?.id, id, ids);
    else if (mode !== '160000' && quarantine.has(id)) ids.push(id);
  }
  ids.push(tree);
}
