/**
 * Regenerates files in conflict, lockfiles for example, with the commands of copse.yml.
 *
 * The commands run in a temporary checkout of the merge: every other file is merged, and the generated files in conflict are
 * the target's. Copse takes only generated files from there and drops the other changes of the commands.
 */

import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

import type { CommitId } from '../../kernel/ids.ts';
import type { CommandsOutcome } from '../../workspaces/ports/furnishing.ts';
import { entries, nul, parseRaw, utf8 } from '../../git/output.ts';
import { type GitOptions, git, tryGit, type TrustedDir } from '../../git/process.ts';
import { type ContentConflict, readBlobs } from './conflict.ts';
import type { Line, RunLine } from './drivers.ts';
import { findEntries, forgetEntries, putEntry, touchEntry } from './store.ts';
import { readRegular } from '../../git/worktrees/place.ts';

export interface NewFile {
  readonly file: string;
  readonly mode: string;
  readonly content: string;
}

export type Generated =
  | { readonly kind: 'generated'; readonly files: readonly NewFile[]; readonly notes: readonly string[] }
  | { readonly kind: 'failed'; readonly reason: string };

export interface GenerateRequest {
  /** The merge, and the environment in which git finds it. */
  readonly tree: string;
  readonly env: Readonly<Record<string, string>>;
  /** Files that were resolved in other ways. */
  readonly resolved: readonly NewFile[];
  readonly conflicts: readonly ContentConflict[];
  /** Commands by path; one character per byte. */
  readonly commands: ReadonlyMap<string, readonly string[]>;
}

export async function generate(
  dir: TrustedDir,
  scratch: string,
  { tree, env: store, resolved, conflicts, commands }: GenerateRequest,
  run: RunLine,
): Promise<Generated> {
  const checkout = path.join(scratch, 'checkout');
  mkdirSync(checkout, { recursive: true });
  const options: GitOptions = { env: store, index: path.join(scratch, 'generated') };
  const there: GitOptions = { ...options, workTree: checkout };
  await git(dir, ['read-tree', tree], options);
  const fromTarget = conflicts.map(({ file, ours }): NewFile => ({ file, ...ours }));
  await putFiles(dir, [...resolved, ...fromTarget], options);
  await git(dir, ['checkout-index', '--all', '--index'], there);
  for (const line of linesFor(conflicts, commands)) {
    const outcome = await run({ line, env: {} }, checkout, 'generate');
    if (outcome.kind === 'failed') return { kind: 'failed', reason: whyNot(conflicts, outcome) };
  }
  const changed = await changedFiles(dir, there);
  const generated = new Set([
    ...conflicts.map(({ file }) => file),
    ...changed.filter((file) => commands.has(file)),
  ]);
  const files = await takeFiles(dir, [...generated], there);
  if (typeof files === 'string') return { kind: 'failed', reason: files };
  return { kind: 'generated', files, notes: notesAbout(changed.filter((file) => !commands.has(file))) };
}

/** A command list that several files share runs once. */
function linesFor(
  conflicts: readonly ContentConflict[],
  commands: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const lists = new Map(
    conflicts.map(({ file }) => [JSON.stringify(commands.get(file) ?? []), commands.get(file) ?? []]),
  );
  return [...lists.values()].flat() satisfies readonly Line['line'][];
}

/** Writes the files into an index. */
export async function putFiles(
  dir: TrustedDir,
  files: readonly NewFile[],
  options: GitOptions,
): Promise<void> {
  const lines: string[] = [];
  for (const { file, mode, content } of files) {
    const input = Buffer.from(content, 'latin1');
    const id = (
      await git(dir, ['hash-object', '-w', '--no-filters', '--stdin'], { ...options, input })
    ).toString();
    lines.push(`${mode} ${id.trimEnd()} 0\t${file}`);
  }
  if (lines.length > 0)
    await git(dir, ['update-index', '-z', '--index-info'], { ...options, input: nul(lines) });
}

async function changedFiles(dir: TrustedDir, there: GitOptions): Promise<readonly string[]> {
  // Exit code 1: some files differ.
  await tryGit(dir, ['update-index', '-q', '--refresh'], there);
  return entries(await git(dir, ['diff-files', '-z', '--name-only'], there));
}

/** Adds them with git, which follows no link out of the checkout. Returns a sentence when one of them is not a file. */
async function takeFiles(
  dir: TrustedDir,
  files: readonly string[],
  there: GitOptions,
): Promise<readonly NewFile[] | string> {
  const argv = ['update-index', '-z', '--stdin'];
  const added = await tryGit(dir, argv, { ...there, input: nul(files) });
  if (added.code !== 0) return `The commands removed a generated file: ${added.stderr.trim()}`;
  const staged = entries(await git(dir, ['ls-files', '-z', '--stage', '--', ...files.map(utf8)], there));
  const found = staged.map((line) => /^(100644|100755) ([0-9a-f]+) 0\t(.+)$/s.exec(line));
  const blobs = await readBlobs(
    dir,
    found.flatMap((one) => one?.[2] ?? []),
    there,
  );
  const taken = found.flatMap((one): readonly NewFile[] => {
    const [, mode = '', id = '', file = ''] = one ?? [];
    const content = blobs.get(id);
    return content === undefined ? [] : [{ file, mode, content }];
  });
  if (taken.length === files.length) return taken;
  return `The commands replaced ${files.map(utf8).join(', ')} by something that is not a file.`;
}

function notesAbout(others: readonly string[]): readonly string[] {
  if (others.length === 0) return [];
  return [
    `Commands that write generated files also changed ${others.map(utf8).join(', ')}; Copse left those changes out.`,
  ];
}

function whyNot(
  conflicts: readonly ContentConflict[],
  { command, because, code, tail }: Extract<CommandsOutcome, { kind: 'failed' }>,
): string {
  const ended =
    because === 'timeout'
      ? 'timed out'
      : because === 'exit'
        ? `failed (exit code ${code})`
        : 'could not start';
  const files = conflicts.map(({ file }) => utf8(file)).join(', ');
  return [`Regenerating ${files} ${ended}: ${command}`, ...tail.map((line) => `  ${line}`)].join('\n');
}

type Written = Extract<Generated, { kind: 'generated' }>;

export interface GeneratedLimits {
  /** The most conflicts. */
  readonly generated: number;
  /** The most bytes for the files of one conflict. */
  readonly generatedBytes: number;
  readonly ageMs: number;
}

/**
 * The key under which the result of the commands is kept: candidates of one branch are built on many guesses of the target,
 * and most guesses change nothing that matters here.
 *
 * It covers every version of the generated files, the other changes of the branch as merged, and the commands. The rest of
 * the target is left out: a target that changes the source of a generated file changes that file as well.
 */
export async function generatedKey(
  dir: TrustedDir,
  onto: CommitId,
  { tree, env, resolved, conflicts, commands }: GenerateRequest,
): Promise<string> {
  const known = new Set([...conflicts, ...resolved].map(({ file }) => file));
  const argv = ['diff-tree', '-r', '-z', '--no-renames', '--raw', `${onto}^{tree}`, tree];
  const changed = parseRaw(await git(dir, argv, { env }))
    .filter(({ file }) => !known.has(file))
    .map(({ mode, id, file }) => `${mode} ${id} ${file}`);
  const sides = conflicts.map(({ file, mode, base, ours, theirs }) => [file, mode, base, ours, theirs]);
  return hash(JSON.stringify([[...commands], sides, resolved, changed]));
}

/** Entries whose hash does not match are ignored. */
export function recallGenerated(dir: TrustedDir, key: string, nowMs: number): Written | undefined {
  for (const place of findEntries(storeOf(dir), `${key}.`)) {
    const text = readRegular(path.join(place, RESULT))?.toString('latin1');
    if (text === undefined || !place.endsWith(`.${hash(text)}`)) continue;
    touchEntry(place, nowMs);
    const { files, notes } = JSON.parse(text) as Omit<Written, 'kind'>;
    return { kind: 'generated', files, notes };
  }
  return undefined;
}

/** Only successes are kept. */
export function keepGenerated(
  dir: TrustedDir,
  key: string,
  { files, notes }: Written,
  { generated: most, generatedBytes, ageMs }: GeneratedLimits,
  nowMs: number,
): void {
  const text = JSON.stringify({ files, notes });
  if (text.length > generatedBytes) return;
  putEntry(path.join(storeOf(dir), `${key}.${hash(text)}`), { [RESULT]: text }, nowMs);
  forgetEntries(storeOf(dir), { most, ageMs }, nowMs);
}

const RESULT = 'result.json';

function storeOf({ home }: TrustedDir): string {
  return path.join(home, '.copse', 'generated');
}

function hash(text: string): string {
  return createHash('sha256').update(text, 'latin1').digest('hex').slice(0, 32);
}
