/**
 * `.gitattributes` can change how a file is merged (`merge=union`, `-merge`). The target's attributes count, not the branch's,
 * and only with drivers built into git: Copse's git directory configures no others. Git reads attributes from files, so
 * Copse writes those of the target that matter into a folder.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import { type Objects, TreeView } from '../../git/objects.ts';
import { latin1, utf8 } from '../../git/output.ts';
import { RecentCache } from '../../kernel/recent-cache.ts';

export interface Attributes {
  /** The same for the same files at the same paths. */
  readonly key: string;
  readonly folder: string;
}

/** Undefined when no attributes of the target matter for these paths. */
export async function layAttributes(
  objects: Objects,
  parent: string,
  target: string,
  paths: Iterable<string>,
): Promise<Attributes | undefined> {
  const view = new TreeView(objects, target);
  const found: (readonly [string, string])[] = [];
  for (const folder of foldersOf(paths)) {
    const entry = await view.find(latin1(`${folder}.gitattributes`));
    if (entry?.mode.startsWith('100')) found.push([`${folder}.gitattributes`, entry.id]);
  }
  const contents = await Promise.all(found.map(([, id]) => contentOf(objects, id)));
  if (!contents.some((content) => MATTERS.test(content.toString('latin1')))) return undefined;
  const key = createHash('sha256').update(JSON.stringify(found)).digest('hex');
  const folder = path.join(parent, `attributes-${key}`);
  if (!existsSync(folder)) lay(folder, new Map(found.map(([place], at) => [place, contents[at] ?? NOTHING])));
  return { key, folder };
}

/** Other attributes do not affect a merge. */
const MATTERS = /merge|binary/;
const MOST_BYTES = defaultPolicy.resolving.attributeBytes;
const NOTHING = Buffer.alloc(0);

const seen = new RecentCache<string, Buffer>(4 * MOST_BYTES, (content) => content.length + 100);

async function contentOf(objects: Objects, id: string): Promise<Buffer> {
  const known = seen.get(id);
  if (known !== undefined) return known;
  const fact = await objects.facts(id);
  const isFit = fact?.type === 'blob' && fact.size <= MOST_BYTES;
  const content = isFit ? await objects.blob(id) : NOTHING;
  seen.set(id, Buffer.from(content));
  return content;
}

/** Appears by one rename, because other processes may read it at the same moment. */
function lay(folder: string, files: ReadonlyMap<string, Buffer>): void {
  const draft = `${folder}.draft`;
  for (const [place, content] of files) {
    mkdirSync(path.dirname(path.join(draft, place)), { recursive: true });
    writeFileSync(path.join(draft, place), content);
  }
  renameSync(draft, folder);
}

/** Each ends in a slash; the top is empty. Skips names that would lead out of the folder: a crafted tree can hold them. */
function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set(['']);
  for (const name of paths) {
    const parts = utf8(name).split('/').slice(0, -1);
    if (parts.some((part) => /^\.{0,2}$|^\.git$|[\n\0]|\uFFFD/i.test(part))) continue;
    for (const [depth] of parts.entries()) folders.add(`${parts.slice(0, depth + 1).join('/')}/`);
  }
  return folders;
}
