/**
 * How many paths differ between two trees, without listing them: a few small trees, each many times in the next, can stand for
 * more paths than any program can list. Each pair of trees is read once, and what is below it is counted once.
 */

import { defaultPolicy } from '../../kernel/policy.ts';
import type { Objects } from './objects.ts';
import { folderIn, idBytesOf, pairs, tooLarge } from './tree-pairs.ts';

export interface Bounds {
  readonly changedPaths: number;
  readonly folderDepth: number;
}

/** Throws when more paths differ than the policy allows. `what` begins the message. */
export async function requireBounded(
  objects: Objects,
  one: string | undefined,
  other: string | undefined,
  what: string,
  bounds: Bounds = defaultPolicy.git,
): Promise<void> {
  const counted = await countChanges(objects, one, other, bounds);
  if (counted === 'too_deep') throw tooLarge(what, `has folders nested more than ${bounds.folderDepth} deep`);
  if (counted > bounds.changedPaths) throw tooLarge(what, `changes more than ${bounds.changedPaths} paths`);
}

interface CountedTree {
  readonly files: number;
  readonly below: readonly string[];
}

/** More than `changedPaths` stands for any larger number. */
async function countChanges(
  objects: Objects,
  one: string | undefined,
  other: string | undefined,
  { changedPaths: most, folderDepth }: Bounds,
): Promise<number | 'too_deep'> {
  if (one === other) return 0;
  const nodes = new Map<string, CountedTree>();
  let level = new Map([[keyOf(one, other), [one, other] as const]]);
  const order: string[] = [];
  for (let depth = 0; level.size > 0; depth += 1) {
    if (depth > folderDepth) return 'too_deep';
    if (order.length + level.size > most) return most + 1;
    const next = new Map<string, readonly [string | undefined, string | undefined]>();
    await Promise.all(
      [...level].map(async ([key, [from, to]]) => {
        const [before, after] = await Promise.all([treeOf(objects, from), treeOf(objects, to)]);
        const below: string[] = [];
        let files = 0;
        for (const { old, now } of pairs(before, after, idBytesOf(objects))) {
          const [left, right] = [folderIn(old), folderIn(now)];
          const isFolder = left !== undefined || right !== undefined;
          if (!isFolder) files += 1;
          else below.push(keyOf(left, right));
          if (isFolder && !nodes.has(keyOf(left, right))) next.set(keyOf(left, right), [left, right]);
          if (files + below.length > most) break;
        }
        nodes.set(key, { files, below });
      }),
    );
    order.push(...level.keys());
    level = new Map([...next].filter(([key]) => !nodes.has(key)));
  }
  return total(nodes, keyOf(one, other), most);
}

/** Without recursion: folders may be nested as deep as the policy allows. */
function total(nodes: ReadonlyMap<string, CountedTree>, root: string, most: number): number {
  const totals = new Map<string, number>();
  const open = [root];
  for (let key = open.at(-1); key !== undefined; key = open.at(-1)) {
    const { files, below } = nodes.get(key) ?? { files: 0, below: [] };
    const missing = below.filter((one) => !totals.has(one));
    if (missing.length > 0) {
      open.push(...new Set(missing));
      continue;
    }
    open.pop();
    totals.set(
      key,
      Math.min(
        most + 1,
        below.reduce((sum, one) => sum + (totals.get(one) ?? 0), files),
      ),
    );
  }
  return totals.get(root) ?? 0;
}

function keyOf(one: string | undefined, other: string | undefined): string {
  return `${one ?? ''}:${other ?? ''}`;
}

async function treeOf(objects: Objects, id: string | undefined): Promise<Buffer> {
  return id === undefined ? NOTHING : objects.tree(id);
}

const NOTHING = Buffer.alloc(0);
