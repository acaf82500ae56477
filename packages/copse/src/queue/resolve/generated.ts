/**
 * Generated files, such as lockfiles, written anew by the commands of copse.yml.
 *
 * They run in a checkout of the merge made for the purpose, in which everything else is merged and the generated files in
 * conflict are the target's. Only generated files are taken from there; what else the commands changed is left behind.
 */

import { mkdirSync } from 'node:fs';
import path from 'node:path';

import type { CommandsOutcome } from '../../workspaces/ports/furnishing.ts';
import { entries, nul, utf8 } from '../../git/output.ts';
import { type GitOptions, git, tryGit, type TrustedDir } from '../../git/process.ts';
import { type ContentConflict, readBlobs } from './conflict.ts';
import type { Line, RunLine } from './drivers.ts';

export interface NewFile {
  readonly file: string;
  readonly mode: string;
  readonly content: string;
}

export type Generated =
  | { readonly resolved: true; readonly files: readonly NewFile[]; readonly notes: readonly string[] }
  | { readonly resolved: false; readonly reason: string };

export interface GenerateRequest {
  /** Everything that merged, and where git finds it. */
  readonly tree: string;
  readonly env: Readonly<Record<string, string>>;
  /** What was resolved in other ways. */
  readonly resolved: readonly NewFile[];
  readonly conflicts: readonly ContentConflict[];
  /** Commands by path; one character per byte. */
  readonly commands: ReadonlyMap<string, readonly string[]>;
}

export async function generateAnew(
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
    if (!outcome.ok) return { resolved: false, reason: whyNot(conflicts, outcome) };
  }
  const changed = await changedFiles(dir, there);
  const generated = new Set([
    ...conflicts.map(({ file }) => file),
    ...changed.filter((file) => commands.has(file)),
  ]);
  const files = await takeFiles(dir, [...generated], there);
  if (typeof files === 'string') return { resolved: false, reason: files };
  return { resolved: true, files, notes: notesAbout(changed.filter((file) => !commands.has(file))) };
}

/** Commands that several files share run once. */
function linesFor(
  conflicts: readonly ContentConflict[],
  commands: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const lists = new Map(
    conflicts.map(({ file }) => [JSON.stringify(commands.get(file) ?? []), commands.get(file) ?? []]),
  );
  return [...lists.values()].flat() satisfies readonly Line['line'][];
}

/** Puts them into an index. */
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
  // Code 1 says that some differ.
  await tryGit(dir, ['update-index', '-q', '--refresh'], there);
  return entries(await git(dir, ['diff-files', '-z', '--name-only'], there));
}

/** As git would add them, which follows no link out of the checkout. A sentence when one of them is not a file. */
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
  return `The commands made something else than a file of ${files.map(utf8).join(', ')}.`;
}

function notesAbout(others: readonly string[]): readonly string[] {
  if (others.length === 0) return [];
  return [
    `Commands that write generated files also changed ${others.map(utf8).join(', ')}; that was left out.`,
  ];
}

function whyNot(
  conflicts: readonly ContentConflict[],
  { command, because, code, tail }: Extract<CommandsOutcome, { ok: false }>,
): string {
  const ended =
    because === 'timeout' ? 'took too long' : because === 'exit' ? `ended with ${code}` : 'could not be run';
  const files = conflicts.map(({ file }) => utf8(file)).join(', ');
  return [`Writing ${files} anew ${ended}: ${command}`, ...tail.map((line) => `  ${line}`)].join('\n');
}
