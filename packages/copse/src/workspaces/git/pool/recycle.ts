/**
 * Makes a pool entry from the files of a removed worktree.
 *
 * Nothing is cleaned. Files that pass are moved into a new, empty worktree; everything else stays in the trash, so that
 * nothing an agent left there reaches the next task. A file passes when it is in the base, only its bytes matter (a plain
 * file or link of ours, usual mode, one name, not dated in the future, no filter or conversion), and git, with a new
 * index, has read it in its new place and found the base's content. A file that fails goes back, and git writes it anew.
 */

import { type Stats, lstatSync, mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';

import type { CommitId } from '../../../kernel/ids.ts';
import type { RegisteredWorktree, TrackedFile } from '../../../git/port.ts';
import type { Recycled } from '../../ports/pool.ts';
import { type PoolPlace, inside } from './entries.ts';
import { makeEntry } from './refill.ts';
import { git, tryGit, type TrustedDir } from '../../../git/process.ts';

/** The name is bytes, one character each. */
interface TreeFile {
  readonly mode: string;
  readonly id: string;
  readonly size: number;
  readonly name: string;
}

export async function recycle(
  pool: PoolPlace,
  files: string,
  base: CommitId,
  held: readonly TrackedFile[],
): Promise<Recycled> {
  if (!lstatSync(files, { throwIfNoEntry: false })?.isDirectory()) {
    return { kind: 'not_recycled', because: 'not_a_folder' };
  }
  // A rename cannot cross file systems, and copying would save nothing.
  mkdirSync(pool.folder, { recursive: true });
  if (lstatSync(files).dev !== lstatSync(pool.folder).dev)
    return { kind: 'not_recycled', because: 'not_a_folder' };
  if (await convertsEverything(pool.dir)) return { kind: 'not_recycled', because: 'files_are_converted' };
  let counts = { kept: 0, written: 0 };
  const entry = await makeEntry(pool, base, async (place) => {
    counts = await fillFrom(pool.dir, files, place, held);
  });
  if ('left' in entry) return { kind: 'not_recycled', because: 'spoiled' };
  return { kind: 'recycled', entry, ...counts };
}

async function fillFrom(
  dir: TrustedDir,
  files: string,
  { path: workTree, gitDir, tip }: RegisteredWorktree,
  held: readonly TrackedFile[],
): Promise<{ readonly kept: number; readonly written: number }> {
  const index = path.join(gitDir, 'index');
  await git(dir, ['read-tree', tip], { workTree, index });
  const all = await treeFiles(dir, tip);
  const converted = await convertedFiles(dir, all, index);
  const mayPass = usualFiles(files, usualMode(path.join(gitDir, 'HEAD')));
  const isHeld = new Set(held.map(({ path: name, mode, id }) => `${mode} ${id} ${name.toString('latin1')}`));
  const candidates = all.filter(
    (file) =>
      isHeld.has(`${file.mode} ${file.id} ${file.name}`) && !converted.has(file.name) && mayPass(file),
  );
  move(candidates, files, workTree);

  // Byte for byte, and with an index that knows no file yet, so that every one of them is read.
  await tryGit(dir, ['update-index', '-q', '--refresh'], { workTree, index, isRaw: true });
  const argv = ['diff-files', '--name-only', '--ignore-submodules=all', '-z'];
  const differs = new Set(names(await git(dir, argv, { workTree, index, isRaw: true })));
  const refused = candidates.filter(({ name }) => differs.has(name));
  move(refused, workTree, files);

  await git(dir, ['read-tree', '-u', '--reset', tip], { workTree, index });
  const kept = candidates.length - refused.length;
  return { kept, written: all.length - kept };
}

function move(files: readonly TreeFile[], from: string, to: string): void {
  const made = new Set<string>();
  for (const { name } of files) {
    const folder = name.slice(0, Math.max(0, name.lastIndexOf('/')));
    if (!made.has(folder)) mkdirSync(inside(to, folder), { recursive: true });
    made.add(folder);
    renameSync(inside(from, name), inside(to, name));
  }
}

async function treeFiles(dir: TrustedDir, commit: CommitId): Promise<readonly TreeFile[]> {
  return names(await git(dir, ['ls-tree', '-r', '-z', '--long', commit])).flatMap((line) => {
    const [, mode = '', id = '', size = '', name = ''] =
      /^(\d+) blob ([0-9a-f]+) +(\d+)\t(.+)$/s.exec(line) ?? [];
    return name === '' ? [] : [{ mode, id, size: Number(size), name }];
  });
}

/** The tests that need no reading. A folder that is a link could lead to files outside. */
function usualFiles(files: string, plainMode: number): (file: TreeFile) => boolean {
  const executableMode = plainMode | ((plainMode & 0o444) >> 2);
  const folders = new Map<string, boolean>([['', true]]);
  const isFolder = (name: string): boolean => {
    const known = folders.get(name);
    if (known !== undefined) return known;
    const parent = name.slice(0, Math.max(0, name.lastIndexOf('/')));
    const found = isFolder(parent) && look(files, name)?.isDirectory() === true;
    folders.set(name, found);
    return found;
  };
  const now = Date.now();
  const user = process.getuid?.();
  return ({ name, mode, size }) => {
    if (!isFolder(name.slice(0, Math.max(0, name.lastIndexOf('/'))))) return false;
    const found = look(files, name);
    if (found === undefined || found.size !== size || found.nlink !== 1 || found.mtimeMs > now) return false;
    if (user !== undefined && found.uid !== user) return false;
    if (mode === '120000') return found.isSymbolicLink();
    return found.isFile() && (found.mode & 0o7777) === (mode === '100755' ? executableMode : plainMode);
  };
}

function look(files: string, name: string): Stats | undefined {
  return lstatSync(inside(files, name), { throwIfNoEntry: false });
}

/** The mode of a new file. */
function usualMode(file: string): number {
  return lstatSync(file).mode & 0o7777;
}

const CONVERSIONS = ['filter', 'ident', 'working-tree-encoding', 'eol'] as const;

/** Files whose content on disk is not what git keeps: two different ones can stand for the same. */
async function convertedFiles(
  dir: TrustedDir,
  files: readonly TreeFile[],
  index: string,
): Promise<ReadonlySet<string>> {
  const input = Buffer.from(files.map(({ name }) => `${name}\0`).join(''), 'latin1');
  const output = names(
    await git(dir, ['check-attr', '--cached', '-z', '--stdin', ...CONVERSIONS], { index, input }),
  );
  const found = new Set<string>();
  for (let at = 0; at + 2 < output.length; at += 3) {
    const [name = '', attribute, value = ''] = output.slice(at, at + 3);
    const isOn = attribute === 'eol' ? value === 'crlf' : value !== 'unspecified' && value !== 'unset';
    if (isOn) found.add(name);
  }
  return found;
}

async function convertsEverything(dir: TrustedDir): Promise<boolean> {
  const { stdout } = await tryGit(dir, ['config', '--get-regexp', '^core\\.(autocrlf|eol)$']);
  const off =
    process.platform === 'win32'
      ? /^core\.(autocrlf (false|input|no|off|0)|eol lf)$/i
      : /^core\.(autocrlf (false|input|no|off|0)|eol (lf|native))$/i;
  return stdout
    .toString()
    .split('\n')
    .some((line) => line !== '' && !off.test(line));
}

function names(output: Buffer): readonly string[] {
  return output
    .toString('latin1')
    .split('\0')
    .filter((name) => name !== '');
}
