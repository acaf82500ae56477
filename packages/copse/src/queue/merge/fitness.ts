/**
 * Whether every git can check out what a change adds: its names, its modes, and that its objects are there. What the target has
 * already is not judged: it was there before.
 */

import { type Objects, type TreeChange, TreeView, diffTrees } from '../../git/objects.ts';
import { utf8 } from '../../git/output.ts';
import { foldedName, unfitName, unfitPath, unfitTopName } from '../rules/portable-names.ts';

export interface Landed {
  /** The trees of the target before and after. */
  readonly before: string;
  readonly after: string;
  /** Paths that commits which land too have besides, one character per byte. */
  readonly between: Iterable<string>;
}

/** Clauses, each about one file. */
export async function findUnfit(
  objects: Objects,
  { before, after, between }: Landed,
): Promise<readonly string[]> {
  const [target, result] = [new TreeView(objects, before), new TreeView(objects, after)];
  const changes = (await diffTrees(objects, before, after)).filter((change) => change.after !== undefined);
  const added = changes.filter((change) => change.before === undefined).map(({ path }) => path);
  const problems = new Set<string>();
  for (const path of new Set([...added, ...between]))
    for (const problem of await problemsOf(path, target)) problems.add(problem);
  for (const problem of await findCollisions(added, { target, result })) problems.add(problem);
  for (const { path } of changes) {
    const mode = await result.rawMode(path);
    if (mode !== undefined && !MODES.has(mode)) problems.add(`${utf8(path)} has the mode ${mode}`);
  }
  for (const problem of await findMissing(objects, changes)) problems.add(problem);
  return [...problems].toSorted().slice(0, MOST_LISTED);
}

const MOST_LISTED = 20;
const MODES: ReadonlySet<string> = new Set(['100644', '100755', '100664', '120000', '160000']);

async function problemsOf(path: string, target: TreeView): Promise<readonly string[]> {
  const text = utf8(path);
  const isUtf8 = !text.includes('\ufffd') || Buffer.from(text).equals(Buffer.from(path, 'latin1'));
  const found: string[] = [];
  const whole = unfitPath({ bytes: path.length, isUtf8 });
  if (whole !== null && (await target.find(path)) === undefined) found.push(`${text} ${whole}`);
  const parts = path.split('/');
  for (const [at, part] of parts.entries()) {
    const why = unfitName(utf8(part), part.length) ?? (at === 0 ? unfitTopName(utf8(part)) : null);
    if (why === null || (await target.find(parts.slice(0, at + 1).join('/'))) !== undefined) continue;
    found.push(`${utf8(parts.slice(0, at + 1).join('/'))} ${why}`);
  }
  return found;
}

interface Views {
  readonly target: TreeView;
  readonly result: TreeView;
}

/** Files that would be one file where case or the form of accents does not count. */
async function findCollisions(
  added: readonly string[],
  { target, result }: Views,
): Promise<readonly string[]> {
  const fresh = new Map<string, Set<string>>();
  for (const path of added) {
    const parts = path.split('/');
    for (const [at, part] of parts.entries()) {
      const folder = parts.slice(0, at).join('/');
      fresh.set(folder, (fresh.get(folder) ?? new Set()).add(part));
    }
  }
  const found: string[] = [];
  for (const [folder, names] of fresh) {
    const all = new Map<string, string[]>();
    for (const name of await result.names(folder)) {
      const key = foldedName(utf8(name));
      all.set(key, [...(all.get(key) ?? []), name]);
    }
    const inside = (name: string) => (folder === '' ? name : `${folder}/${name}`);
    for (const name of names) {
      const other = all.get(foldedName(utf8(name)))?.find((one) => one !== name);
      if (other === undefined || (await target.find(inside(name))) !== undefined) continue;
      found.push(`${utf8(inside(name))} and ${utf8(inside(other))} are one file on macOS and Windows`);
    }
  }
  return found;
}

async function findMissing(objects: Objects, changes: readonly TreeChange[]): Promise<readonly string[]> {
  const files = changes.flatMap(({ path, after }) =>
    after === undefined || after.mode === '160000' ? [] : [{ path, id: after.id }],
  );
  const found = await objects.reader.check(files.map(({ id }) => id));
  const problems: string[] = [];
  for (const [at, { path, id }] of files.entries()) {
    const facts = found[at] ?? (await objects.facts(id));
    if (facts?.type !== 'blob') problems.push(`${utf8(path)} has no content: the object ${id} is missing`);
  }
  return problems;
}
