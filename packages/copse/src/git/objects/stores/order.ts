/** Trees, commits and tags in an order in which each comes after what it names. */

import path from 'node:path';

import { namesIn } from '../../../kernel/system/names-in.ts';
import type { TrustedDir } from '../../process.ts';
import type { UnbroughtObject } from '../../port.ts';
import type { NewObject } from '../put.ts';
import { entryAt } from '../tree-folder.ts';

interface Ordered {
  readonly ordered: readonly NewObject[];
  /** Those that name an object which is neither here nor in the repository. */
  readonly incomplete: readonly UnbroughtObject[];
}

export async function inOrder(
  dir: TrustedDir,
  objects: readonly NewObject[],
  lackingIn: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<Ordered> {
  const byId = new Map(objects.map((object) => [object.id, { object, names: namesOf(dir, object) }]));
  const elsewhere = new Set<string>();
  for (const { names } of byId.values()) for (const id of names ?? []) if (!byId.has(id)) elsewhere.add(id);
  // A partial clone lacks objects that its remote has.
  const lacking = isPartial(dir.commonDir) ? new Set<string>() : await lackingIn([...elsewhere]);
  const [ordered, blocked] = [new Set<NewObject>(), new Map<string, string>()];
  // Without recursion: a branch may have any number of commits.
  const open = [...byId.keys()];
  const entered = new Set<string>();
  for (let id = open.at(-1); id !== undefined; id = open.at(-1)) {
    const { object, names } = byId.get(id) ?? {};
    const isDone = object === undefined || ordered.has(object) || blocked.has(id);
    const waiting = isDone || entered.has(id) ? [] : (names ?? []).filter((one) => byId.has(one));
    entered.add(id);
    if (waiting.length > 0) {
      // Not as arguments of one call: a tree may have more entries than the stack holds.
      for (const one of waiting) open.push(one);
      continue;
    }
    open.pop();
    if (isDone) continue;
    const missing = names?.find((one) => lacking.has(one) || blocked.has(one));
    if (names === undefined) blocked.set(id, 'it is malformed');
    else if (missing === undefined) ordered.add(object);
    else blocked.set(id, `it names ${missing}, which is missing or damaged`);
  }
  return { ordered: [...ordered], incomplete: [...blocked].map(([id, why]) => ({ id, why })) };
}

/** Undefined when it cannot be parsed. */
function namesOf(
  { objectFormat }: Pick<TrustedDir, 'objectFormat'>,
  { type, content }: NewObject,
): readonly string[] | undefined {
  const idBytes = objectFormat === 'sha256' ? 32 : 20;
  if (type === 'tree') return namesInTree(content, idBytes);
  const [header = ''] = content.toString('latin1').split('\n\n', 1);
  const found = header.matchAll(type === 'commit' ? /^(?:tree|parent) (\w+)$/gm : /^object (\w+)$/gm);
  const names = Array.from(found, ([, id = '']) => id);
  const isWhole =
    names.length > 0 && names.every((id) => id.length === 2 * idBytes && /^[0-9a-f]+$/.test(id));
  return isWhole ? names : undefined;
}

/** The commit of a submodule is in another repository. */
const SUBMODULE = '160000';

function namesInTree(tree: Buffer, idBytes: number): readonly string[] | undefined {
  const names: string[] = [];
  try {
    for (
      let entry = entryAt(tree, 0, idBytes);
      entry !== undefined;
      entry = entryAt(tree, entry.end, idBytes)
    )
      if (entry.mode !== SUBMODULE) names.push(entry.id);
    return names;
  } catch {
    return undefined;
  }
}

function isPartial(commonDir: string): boolean {
  return namesIn(path.join(commonDir, 'objects', 'pack')).some((name) => name.endsWith('.promisor'));
}
