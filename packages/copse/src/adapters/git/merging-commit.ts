/**
 * Commits as git stores them, byte for byte: a message or a name need not be UTF-8, so all text here has one character
 * per byte.
 */

import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { deflateSync } from 'node:zlib';

import { type CommitId, type Timestamp, brand } from '../../domain/ids.ts';
import { type ObjectReader } from './long-lived.ts';
import { latin1, utf8 } from './snapshot-files.ts';
import type { TrustedDir } from './trusted-dir.ts';

export interface Commit {
  readonly id: CommitId;
  readonly parents: readonly CommitId[];
  readonly tree: string;
  /** Name, address, time and zone. */
  readonly author: string;
  /** In which message and names are written, where that is not UTF-8. */
  readonly encoding: string | undefined;
  readonly message: string;
}

export type NewCommit = Omit<Commit, 'id'> & { readonly at: Timestamp };

/** Who made it; always the same, so that the same commit is made again. */
const COMMITTER = 'Copse <copse@localhost>';

export function copseAt(at: Timestamp): string {
  return `${COMMITTER} ${Math.floor(at / 1_000)} +0000`;
}

/** The parents are those that it names, unless they are said: a shallow clone lacks some. */
export async function readCommit(
  reader: ObjectReader,
  id: CommitId,
  known?: readonly CommitId[],
): Promise<Commit> {
  const found = await reader.read(id);
  if (found?.type !== 'commit') throw new Error(`The commit ${id} is not in the repository any more.`);
  const text = found.content.toString('latin1');
  const end = text.indexOf('\n\n');
  const headers = end === -1 ? text : text.slice(0, end);
  const header = (name: string) => new RegExp(`^${name} (.+)$`, 'm').exec(headers)?.[1];
  const parents =
    known ?? Array.from(headers.matchAll(/^parent (\w+)$/gm), ([, of = '']) => brand<CommitId>(of));
  const tree = header('tree');
  if (tree === undefined) throw new Error(`The commit ${id} is damaged: it has no tree.`);
  // To git, a message ends where a NUL is.
  const [message = ''] = end === -1 ? [''] : text.slice(end + 2).split('\0', 1);
  return { id, parents, tree, author: header('author') ?? '', encoding: header('encoding'), message };
}

/** An author that git could not read, and a host would not take, is replaced. */
const AUTHOR = /^[^<>\0\n]*<[^<>\0\n]*> \d{1,15} [+-]\d{4}$/;

export function encodeCommit({ tree, parents, author, encoding, message, at }: NewCommit): Buffer {
  const headers = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${AUTHOR.test(author) ? author : copseAt(at)}`,
    `committer ${copseAt(at)}`,
    ...(encoding === undefined ? [] : [`encoding ${encoding}`]),
  ];
  return Buffer.from(`${headers.join('\n')}\n\n${message}`, 'latin1');
}

/** As UTF-8, for text that is put together from several commits. */
export function readable({ encoding }: Pick<Commit, 'encoding'>, text: string): string {
  if (encoding === undefined) return utf8(text);
  try {
    return new TextDecoder(encoding).decode(Buffer.from(text, 'latin1'));
  } catch {
    // An encoding that nobody knows.
    return utf8(text);
  }
}

export const asBytes = latin1;

/** What people or agents wrote, where only one line may be. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\u0000-\u001F\u007F]+/g, ' ').trim();
}

/** The first paragraph, as one line. */
export function subjectOf(message: string): string {
  const [first = ''] = message.replace(/^\s+/, '').split(/\n[ \t\r]*(?:\n|$)/, 1);
  return first.replaceAll(/\s*\n\s*/g, ' ').trim();
}

/** What was written, for good once `settle` has returned. */
export interface Written {
  readonly id: CommitId;
  readonly settle: () => void;
}

/**
 * Written as git writes a loose object. One that is there already is replaced: it may be something else under this name,
 * and its age would let it be collected as garbage.
 */
export function writeCommit(
  { objectFormat }: Pick<TrustedDir, 'objectFormat'>,
  objects: string,
  content: Buffer,
): Written {
  const whole = Buffer.concat([Buffer.from(`commit ${content.length}\0`), content]);
  const id = createHash(objectFormat).update(whole).digest('hex');
  const folder = path.join(objects, id.slice(0, 2));
  const file = path.join(folder, id.slice(2));
  mkdirSync(folder, { recursive: true });
  // A name that git itself clears away, should it ever be left behind.
  const fresh = path.join(folder, `tmp_obj_${randomBytes(9).toString('hex')}`);
  try {
    writeFileSync(fresh, deflateSync(whole), { flag: 'wx', mode: 0o444 });
    renameSync(fresh, file);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
  return { id: brand(id), settle: () => toDisk(file) };
}

function toDisk(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
