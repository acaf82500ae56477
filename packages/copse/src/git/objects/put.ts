/** Writes objects into the repository, one file for each. */

import { randomBytes } from 'node:crypto';
import { closeSync, fsync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { defaultPolicy } from '../../kernel/policy.ts';
import { deflated } from './deflated.ts';
import type { ObjectType } from './packs.ts';

export const PACKED_FROM = defaultPolicy.quarantine.packedFrom;

export interface NewObject {
  readonly id: string;
  readonly type: ObjectType;
  readonly content: Buffer;
}

/** Syncs all files at the same time: one after another, each would wait for the disk. */
export async function putAll(store: string, objects: readonly NewObject[]): Promise<void> {
  const fresh: { readonly from: string; readonly to: string; readonly opened: number }[] = [];
  try {
    for (const { id, type, content } of objects) {
      const to = fileOf(store, id);
      mkdirSync(path.dirname(to), { recursive: true });
      const from = unusedBeside(to);
      const opened = openSync(from, 'wx', 0o444);
      fresh.push({ from, to, opened });
      writeFileSync(opened, deflated(wholeOf(type, content)));
    }
    await Promise.all(fresh.map(({ opened }) => toDisk(opened)));
    // Existing files are replaced: one may have other content under this name, or be old enough for garbage collection.
    for (const { from, to } of fresh) renameSync(from, to);
  } catch (error) {
    for (const { from } of fresh) rmSync(from, { force: true });
    throw error;
  } finally {
    for (const { opened } of fresh) closeSync(opened);
  }
}

export function fileOf(objects: string, id: string): string {
  return path.join(objects, id.slice(0, 2), id.slice(2));
}

export function wholeOf(type: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(head(type, content)), content]);
}

export function head(type: string, content: Buffer): string {
  return `${type} ${content.length}\0`;
}

/** `git gc` deletes files of this name if a killed process leaves one. */
export function unusedBeside(file: string): string {
  return path.join(path.dirname(file), `tmp_obj_${randomBytes(9).toString('hex')}`);
}

const toDisk = promisify(fsync);
