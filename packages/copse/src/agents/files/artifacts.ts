/**
 * Results of tasks, in `.copse/artifacts/<task>/`: patches as `<commit>.patch`, all other files under the hash of their content.
 *
 * An agent chooses which of its files are taken, and can exchange them meanwhile. Each is opened without following a link and
 * without waiting, and only a regular file within the limits is read. What is read back is compared with its hash, because
 * agents without a sandbox can write this folder too.
 */

import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';

import { defaultPolicy } from '../../kernel/policy.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { hasCode } from '../../kernel/system/error-code.ts';
import { NotInside, inFolder } from '../../kernel/system/in-folder.ts';
import { type Plain, readPlainContent } from '../../kernel/system/plain-file.ts';
import { isWithin } from '../../kernel/system/within.ts';
import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import { checkFileName } from '../../tasks/rules/ledger.ts';
import type { ArtifactRead, ArtifactSource, ArtifactTaken, Artifacts, KeptFile } from '../ports/runners.ts';

const { fileBytes, unfinishedMs } = defaultPolicy.artifacts;

export function openArtifacts(home: string): Artifacts {
  const folderOf = (task: TaskId) => path.join(home, '.copse', 'artifacts', task);
  return {
    async save(task, name, content) {
      const file = path.join(madeFolder(folderOf(task)), name);
      writeAtomically(file, content);
      return { address: file, ...described(content) };
    },
    take: (task, source, room) => take(folderOf(task), source, room),
    blobIds,
    read: (task, { kind, address, content }) => {
      const name = kind === 'patch' ? path.basename(address) : (content?.sha256 ?? '');
      if (!NAME.test(name)) return { kind: 'missing' };
      return read(path.join(folderOf(task), name), content);
    },
  };
}

const NAME = /^(?:[0-9a-f]{64}|[0-9a-f]{12}\.patch)$/;

function take(
  folder: string,
  source: ArtifactSource,
  room: (bytes: number) => string | undefined,
): ArtifactTaken {
  const found = tryOpen(source);
  if (found.kind === 'refused') return found;
  if (found.kind === 'missing') return refused('There is no such file');
  if (found.kind === 'link') return refused('It is a symbolic link, which Copse does not follow');
  if (found.kind === 'other') return refused('It is not a regular file');
  const { bytes: content, isCut } = found.value;
  if (isCut)
    return refused(
      `It is larger than ${fileBytes} bytes, the most that Copse keeps. Put it elsewhere and add its URI`,
    );
  const noRoom = room(content.length);
  if (noRoom !== undefined) return refused(noRoom);
  const name = checkFileName(path.basename(source.file));
  if (name.kind === 'refused') return name;
  const kept = described(content);
  const file = path.join(madeFolder(folder), kept.sha256);
  dropUnfinished(folder);
  if (read(file, kept).kind !== 'read') writeAtomically(file, content, { isDurable: true });
  return { kind: 'taken', name: name.text, ...kept };
}

function refused(reason: string): Extract<ArtifactTaken, { kind: 'refused' }> {
  return { kind: 'refused', reason };
}

type FileOpened = Plain<{ readonly bytes: Buffer; readonly isCut: boolean }>;

function tryOpen(source: ArtifactSource): FileOpened | ReturnType<typeof refused> {
  try {
    if (source.kind === 'any')
      return readPlainContent(source.file, { mostBytes: fileBytes, isFollowing: true });
    const place = placeOf(source);
    if (place === undefined)
      return refused(`It is in none of the folders of the task: ${source.folders.join(', ')}`);
    const { top, names } = place;
    return inFolder(top, names.slice(0, -1), (folder) =>
      readPlainContent(path.join(folder, names.at(-1) ?? ''), { mostBytes: fileBytes }),
    );
  } catch (error) {
    if (error instanceof NotInside) return { kind: 'link' };
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return { kind: 'missing' };
    if (!hasCode(error, 'ENAMETOOLONG', 'EACCES', 'EPERM', 'EIO', 'EISDIR', 'ERR_INVALID_ARG_VALUE'))
      throw error;
    return refused('It cannot be read');
  }
}

/** Undefined for a path that leads out of the folders of the task. */
function placeOf({
  folders,
  from,
  file,
}: Extract<ArtifactSource, { kind: 'own' }>):
  | { readonly top: string; readonly names: readonly string[] }
  | undefined {
  const tops = folders.flatMap((folder) => [folder, realOf(folder)]);
  const starts = [...(from === null ? [] : [from]), folders[0]];
  for (const start of starts) {
    const full = path.resolve(start, file);
    const top = tops.find((one) => full !== one && isWithin(one, full));
    if (top !== undefined) return { top, names: path.relative(top, full).split(path.sep) };
  }
  return undefined;
}

/** An agent may name its folder by the path that the system tells it. */
function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

function described(content: Uint8Array): KeptFile {
  return { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
}

/** A record of an earlier Copse has no hash. */
function read(file: string, expected: KeptFile | undefined): ArtifactRead {
  const content = tryRead(file, expected?.bytes ?? fileBytes);
  if (content === undefined) return { kind: 'missing' };
  if (content === 'changed') return { kind: 'changed' };
  if (expected !== undefined && described(content).sha256 !== expected.sha256) return { kind: 'changed' };
  return { kind: 'read', content };
}

function tryRead(file: string, mostBytes: number): Buffer | 'changed' | undefined {
  const found = readPlainContent(file, { mostBytes });
  if (found.kind === 'missing') return undefined;
  return found.kind === 'plain' && !found.value.isCut ? found.value.bytes : 'changed';
}

/** As it is, with the line ends that `text=auto` stores, and as the pointer of Git LFS. */
function blobIds(content: Uint8Array, idLength: number): readonly string[] {
  const { bytes, sha256 } = described(content);
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${bytes}\n`;
  const unix = Buffer.from(Buffer.from(content).toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
  return [content, unix, Buffer.from(pointer)].map((one) =>
    createHash(idLength === SHA256_LENGTH ? 'sha256' : 'sha1')
      .update(`blob ${one.length}\0`)
      .update(one)
      .digest('hex'),
  );
}

const SHA256_LENGTH = 64;

function madeFolder(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** Files of processes that were killed while they wrote. */
function dropUnfinished(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.new')) continue;
    const file = path.join(folder, name);
    const changedMs = lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changedMs > unfinishedMs) rmSync(file, { force: true });
  }
}
