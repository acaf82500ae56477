/**
 * Writes objects as a pack: two files instead of one for each object, so that creating and syncing a hundred objects costs
 * as much as one. No deltas are used.
 */

import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';

import { syncFolder } from '../../kernel/system/write-atomically.ts';
import { deflated } from './deflated.ts';
import type { TrustedDir } from '../process.ts';

const types = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;
export type ObjectType = keyof typeof types;

export function isObjectType(type: string): type is ObjectType {
  return Object.hasOwn(types, type);
}

/** The encoded object, the same in every pack. */
export interface PackEntry {
  readonly id: string;
  readonly bytes: Buffer;
}

export function packEntry(id: string, type: ObjectType, content: Buffer): PackEntry {
  return { id, bytes: Buffer.concat([entryHead(types[type], content.length), deflated(content)]) };
}

/** The type with the lowest four bits of the size, then seven bits per byte. The top bit says whether more bytes follow. */
function entryHead(type: number, size: number): Buffer {
  const bytes: number[] = [];
  let [byte, rest] = [(type << 4) | (size & 15), Math.floor(size / 16)];
  while (rest > 0) {
    bytes.push(byte | 128);
    byte = rest & 127;
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, byte]);
}

/**
 * The index is renamed last, because git uses a pack once its index exists. `git gc` deletes temporary files of these names
 * if a killed process leaves them. Each object may be given once only.
 */
export function writePack(
  { objectFormat }: Pick<TrustedDir, 'objectFormat'>,
  objects: string,
  entries: readonly PackEntry[],
  { isForGood }: { readonly isForGood: boolean },
): void {
  const { name, pack, index } = encodePack(objectFormat, entries);
  const folder = path.join(objects, 'pack');
  const target = path.join(folder, `pack-${name}`);
  if (existsSync(`${target}.idx`)) return;
  mkdirSync(folder, { recursive: true });
  const fresh = path.join(folder, `tmp_pack_${randomBytes(9).toString('hex')}`);
  try {
    write(`${fresh}.pack`, pack, isForGood);
    write(`${fresh}.idx`, index, isForGood);
    renameSync(`${fresh}.pack`, `${target}.pack`);
    renameSync(`${fresh}.idx`, `${target}.idx`);
  } catch (error) {
    for (const ending of ['pack', 'idx']) rmSync(`${fresh}.${ending}`, { force: true });
    throw error;
  }
  if (isForGood) syncFolder(folder);
}

function write(file: string, content: Buffer, isForGood: boolean): void {
  const opened = openSync(file, 'wx', 0o444);
  try {
    writeFileSync(opened, content);
    if (isForGood) fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

interface Encoded {
  readonly name: string;
  readonly pack: Buffer;
  readonly index: Buffer;
}

function encodePack(format: string, entries: readonly PackEntry[]): Encoded {
  const head = Buffer.alloc(12);
  head.write('PACK', 0, 'latin1');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(entries.length, 8);
  const body = [head, ...entries.map(({ bytes }) => bytes)];
  const sum = digest(format, body);
  const pack = Buffer.concat([...body, sum]);
  // Larger offsets need an index table that is not written here.
  if (pack.length > 0x7f_ff_ff_ff) throw new Error(`A pack of ${pack.length} bytes is too large.`);
  return { name: sum.toString('hex'), pack, index: encodeIndex(format, entries, head.length, sum) };
}

/** Counts by first byte of the id, then the sorted ids, their checksums and their offsets. */
function encodeIndex(format: string, entries: readonly PackEntry[], first: number, sum: Buffer): Buffer {
  let offset = first;
  const located = entries.map(({ id, bytes }) => {
    const at = offset;
    offset += bytes.length;
    return { id, at, check: crc32(bytes) };
  });
  located.sort((one, other) => (one.id < other.id ? -1 : 1));
  const counts = Array.from({ length: 256 }, () => 0);
  for (const { id } of located) {
    const first = Number.parseInt(id.slice(0, 2), 16);
    counts[first] = (counts[first] ?? 0) + 1;
  }
  let total = 0;
  const body = [
    Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]),
    numbers(counts.map((count) => (total += count))),
    Buffer.from(located.map(({ id }) => id).join(''), 'hex'),
    numbers(located.map(({ check }) => check)),
    numbers(located.map(({ at }) => at)),
    sum,
  ];
  return Buffer.concat([...body, digest(format, body)]);
}

function numbers(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, at * 4);
  return bytes;
}

function digest(format: string, parts: readonly Buffer[]): Buffer {
  const hash = createHash(format);
  for (const part of parts) hash.update(part);
  return hash.digest();
}
