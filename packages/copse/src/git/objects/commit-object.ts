/**
 * Commits as git stores them, byte for byte: a message or a name need not be UTF-8, so all text here has one character
 * per byte.
 */

import { type CommitId, type Timestamp, brand } from '../../kernel/ids.ts';
import { latin1, utf8 } from '../output.ts';

export interface Commit {
  readonly id: CommitId;
  readonly parents: readonly CommitId[];
  readonly tree: string;
  /** Name, address, time and zone. */
  readonly author: string;
  /** The encoding of message and names if it is not UTF-8. */
  readonly encoding: string | undefined;
  readonly message: string;
  /** The committer's date in seconds. */
  readonly date: number;
}

export type NewCommit = Omit<Commit, 'id' | 'date'> & { readonly at: Timestamp };

/** Constant, so that merging the same commits again gives the same id. */
const COMMITTER = 'Copse <copse@localhost>';

export function copseAt(at: Timestamp): string {
  return `${COMMITTER} ${Math.floor(at / 1_000)} +0000`;
}

/** As git reads it: first the tree, then the parents. Later lines that look like a tree or a parent do not count. */
export function parseCommit(id: CommitId, content: Buffer): Commit {
  const text = content.toString('latin1');
  const end = text.indexOf('\n\n');
  const headers = (end === -1 ? text : text.slice(0, end)).split('\n');
  const [, tree] = /^tree ([0-9a-f]{40,64})$/.exec(headers[0] ?? '') ?? [];
  if (tree === undefined) throw new Error(`The commit ${id} is damaged: it has no tree.`);
  const parents: CommitId[] = [];
  for (let at = 1; headers[at]?.startsWith('parent ') === true; at += 1)
    parents.push(brand(headers[at]?.slice('parent '.length) ?? ''));
  const header = (name: string) =>
    headers.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
  const [, date = '0'] = /> (\d{1,15}) [+-]\d+$/.exec(header('committer') ?? '') ?? [];
  // Git ends a message at the first NUL.
  const [message = ''] = end === -1 ? [''] : text.slice(end + 2).split('\0', 1);
  const author = header('author') ?? '';
  return { id, parents, tree, author, encoding: header('encoding'), message, date: Number(date) };
}

/** Replaces an author line that git cannot parse and a host would reject. */
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

/** As UTF-8, for text that is assembled from several commits. */
export function readable({ encoding }: Pick<Commit, 'encoding'>, text: string): string {
  if (encoding === undefined) return utf8(text);
  try {
    return new TextDecoder(encoding).decode(Buffer.from(text, 'latin1'));
  } catch {
    // An unknown encoding.
    return utf8(text);
  }
}

export const asBytes = latin1;

/** Text of people or agents, for a place that allows one line only. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\u0000-\u001F\u007F]+/g, ' ').trim();
}

/** The first paragraph, as one line. */
export function subjectOf(message: string): string {
  const [first = ''] = message.replace(/^\s+/, '').split(/\n[ \t\r]*(?:\n|$)/, 1);
  return first.replaceAll(/\s*\n\s*/g, ' ').trim();
}
