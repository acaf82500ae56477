/**
 * Reads a conflict: the sides of each file, the kind of conflict, and the file with markers. It merges once more, into a
 * throwaway object store, because git reports all of this only while it merges.
 */

import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import type { Ends } from '../ports/merging.ts';
import { GitFailed, type GitOptions, git, tryGit, type TrustedDir } from '../../git/process.ts';
import { utf8 } from '../../git/output.ts';

interface Side {
  readonly mode: string;
  readonly content: string;
}

/** Two versions of a text or binary file: neither side removed, renamed or replaced the file. */
export interface ContentConflict {
  /** One character per byte, like every text in this file. */
  readonly file: string;
  /** The mode of the resolved file. */
  readonly mode: string;
  /** Undefined when both sides added it. */
  readonly base: Side | undefined;
  readonly ours: Side;
  readonly theirs: Side;
  /** With conflict markers; a binary file has none. */
  readonly marked: string;
}

const MOST_BYTES = defaultPolicy.resolving.fileBytes;

export interface ReadConflict {
  /** By path. */
  readonly contents: ReadonlyMap<string, ContentConflict>;
  /** Every file in conflict, with git's name for the kind of conflict. */
  readonly files: ReadonlyMap<string, string>;
}

/** Also reads those of the `named` files that conflict only because the target's attributes demand it. */
export async function readConflict(
  dir: TrustedDir,
  scratch: string,
  ends: Ends,
  named: readonly string[] = [],
): Promise<ReadConflict> {
  const { onto, head } = ends;
  const options = throwawayStore(dir, scratch);
  const argv = [...STYLE, 'merge-tree', '--write-tree', '-z', onto, head];
  const { code, stdout, stderr } = await tryGit(dir, argv, options);
  const merged = parseMerge(stdout.toString('latin1'));
  // A revision that does not exist also gives exit code 1, but no tree.
  if (code > 1 || merged === undefined) throw new GitFailed(argv, code, stderr);
  const found = new Map<string, ContentConflict>();
  const candidates = [...merged.stages].filter(([file, stages]) => isAboutContent(merged, file, stages));
  const names = candidates.flatMap(([file, stages]) => [
    `${merged.tree}:${file}`,
    ...[...stages.values()].map(({ id }) => id),
  ]);
  const blobs = await readBlobs(dir, names, options);
  for (const [file, stages] of candidates) {
    const side = (stage: string): Side | undefined => {
      const one = stages.get(stage);
      const content = one && blobs.get(one.id);
      return one && content !== undefined ? { mode: one.mode, content } : undefined;
    };
    const marked = blobs.get(`${merged.tree}:${file}`);
    const [base, ours, theirs] = [side('1'), side('2'), side('3')];
    const isWhole = stages.has('1') === (base !== undefined);
    if (marked === undefined || !isWhole || ours === undefined || theirs === undefined) continue;
    const mode = base?.mode === ours.mode ? theirs.mode : ours.mode;
    found.set(file, { file, mode, base, ours, theirs, marked });
  }
  for (const file of named.filter((one) => !merged.stages.has(one))) {
    const conflict = await readByAttribute(dir, ends, file);
    if (conflict !== undefined) found.set(file, conflict);
  }
  return { contents: found, files: kindsOf(merged) };
}

function kindsOf({ stages, kinds }: Merge): ReadonlyMap<string, string> {
  return new Map(
    [...stages.keys()].map((file) => {
      const words = [...(kinds.get(file) ?? [])].flatMap(
        (kind) => /^CONFLICT \((.+)\)$/.exec(kind)?.[1] ?? [],
      );
      return [file, words.join(', ')];
    }),
  );
}

async function readByAttribute(
  dir: TrustedDir,
  { onto, head }: Ends,
  file: string,
): Promise<ContentConflict | undefined> {
  const start = (await tryGit(dir, ['merge-base', onto, head])).stdout.toString().split('\n', 1)[0] ?? '';
  const sides: Side[] = [];
  for (const commit of [start, onto, head]) {
    const said =
      commit === '' ? '' : (await git(dir, ['ls-tree', '-z', commit, '--', utf8(file)])).toString('latin1');
    const [, mode = '', id = '', name] = /^(\d+) blob ([0-9a-f]+)\t([^\0]+)\0$/.exec(said) ?? [];
    const content = name === file && REGULAR.has(mode) ? (await readBlobs(dir, [id])).get(id) : undefined;
    if (content !== undefined) sides.push({ mode, content });
  }
  const [base, ours, theirs] = sides;
  if (base === undefined || ours === undefined || theirs === undefined) return undefined;
  return { file, mode: base.mode === ours.mode ? theirs.mode : ours.mode, base, ours, theirs, marked: '' };
}

/** A person's choice of marker style must not change the identity of a conflict. */
const STYLE = ['-c', 'merge.conflictStyle=merge'] as const;

/** Git writes objects to a folder of their own and can read those of the repository. */
function throwawayStore({ commonDir }: TrustedDir, scratch: string): GitOptions {
  const objects = path.join(scratch, 'objects');
  mkdirSync(objects, { recursive: true });
  const store = path.join(commonDir, 'objects').replaceAll('\\', '\\\\').replaceAll('"', '\\"');
  return { env: { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${store}"` } };
}

interface ConflictStage {
  readonly mode: string;
  readonly id: string;
}

interface Merge {
  readonly tree: string;
  readonly stages: ReadonlyMap<string, ReadonlyMap<string, ConflictStage>>;
  /** By path, the kinds of conflict, in git's words. */
  readonly kinds: ReadonlyMap<string, ReadonlySet<string>>;
}

/** The tree; the stages of each file; then messages, each with its paths. An empty field ends a list. */
function parseMerge(output: string): Merge | undefined {
  const [tree = '', ...rest] = output.split('\0');
  if (!/^[0-9a-f]{40,64}$/.test(tree)) return undefined;
  const stages = new Map<string, Map<string, ConflictStage>>();
  const end = rest.indexOf('');
  for (const line of rest.slice(0, end)) {
    const [, mode = '', id = '', stage = '', file = ''] =
      /^(\d+) ([0-9a-f]+) ([123])\t(.+)$/s.exec(line) ?? [];
    stages.set(file, (stages.get(file) ?? new Map<string, ConflictStage>()).set(stage, { mode, id }));
  }
  const kinds = new Map<string, Set<string>>();
  const messages = rest.slice(end + 1);
  for (let at = 0; at < messages.length && messages[at] !== '';) {
    const type = at + 1 + Number(messages[at]);
    for (const file of messages.slice(at + 1, type))
      kinds.set(file, (kinds.get(file) ?? new Set()).add(messages[type] ?? ''));
    at = type + 2;
  }
  return { tree, stages, kinds };
}

const ABOUT_CONTENT = new Set(['Auto-merging', 'CONFLICT (contents)', 'CONFLICT (binary)']);
const REGULAR = new Set(['100644', '100755']);

function isAboutContent({ kinds }: Merge, file: string, stages: ReadonlyMap<string, ConflictStage>): boolean {
  const [base, ours, theirs] = [stages.get('1'), stages.get('2'), stages.get('3')];
  if (ours === undefined || theirs === undefined || file.includes('\n')) return false;
  const areRegular = [...stages.values()].every(({ mode }) => REGULAR.has(mode));
  // Without a base, two different modes leave the right one open.
  const isModeClear = base !== undefined || ours.mode === theirs.mode;
  const isAlone = [...(kinds.get(file) ?? [])].every((kind) => ABOUT_CONTENT.has(kind));
  return areRegular && isModeClear && isAlone;
}

/** By name: the blobs that exist and are not too large. */
export async function readBlobs(
  dir: TrustedDir,
  names: readonly string[],
  options: GitOptions = {},
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  if (names.length === 0) return found;
  const input = Buffer.from(names.map((name) => `${name}\n`).join(''), 'latin1');
  const sizes = (await git(dir, ['cat-file', '--batch-check'], { ...options, input })).toString('latin1');
  const small = sizes.split('\n').flatMap((line, at) => {
    const [, id, size] = /^([0-9a-f]{40,64}) blob (\d+)$/.exec(line) ?? [];
    return id !== undefined && Number(size) <= MOST_BYTES ? [{ name: names[at] ?? '', id }] : [];
  });
  if (small.length === 0) return found;
  const ids = Buffer.from(small.map(({ id }) => `${id}\n`).join(''));
  const said = (await git(dir, ['cat-file', '--batch'], { ...options, input: ids })).toString('latin1');
  let at = 0;
  for (const { name } of small) {
    const start = said.indexOf('\n', at) + 1;
    const size = Number(said.slice(at, start - 1).split(' ')[2]);
    found.set(name, said.slice(start, start + size));
    at = start + size + 1;
  }
  return found;
}
