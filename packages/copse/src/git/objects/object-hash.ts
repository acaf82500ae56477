/** The id of a git object. Loading `node:crypto` takes a command 6 ms, so the SHA-1 of a small object is computed here. */

import { createHash } from 'node:crypto';

import { defaultPolicy } from '../../kernel/policy.ts';

/** A commit or a small tree; OpenSSL hashes larger objects sooner, even if it has to be loaded. */
const SMALL_BYTES = defaultPolicy.objectMemory.smallBytes;

/** `object`: its header and its content, as git hashes them. */
export function hashOf(objectFormat: 'sha1' | 'sha256', object: Buffer): string {
  return objectFormat === 'sha1' && object.length <= SMALL_BYTES
    ? sha1(object)
    : createHash(objectFormat).update(object).digest('hex');
}

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;

/** RFC 3174. */
function sha1(message: Buffer): string {
  const blocks = Math.ceil((message.length + 1 + LENGTH_BYTES) / BLOCK_BYTES);
  const padded = Buffer.alloc(blocks * BLOCK_BYTES);
  message.copy(padded);
  padded[message.length] = 0x80;
  padded.writeBigUInt64BE(BigInt(message.length) * 8n, padded.length - LENGTH_BYTES);
  let state: HashState = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
  for (let at = 0; at < padded.length; at += BLOCK_BYTES) state = withBlock(state, wordsOf(padded, at));
  const digest = Buffer.alloc(20);
  state.forEach((word, at) => digest.writeInt32BE(word | 0, at * 4));
  return digest.toString('hex');
}

type HashState = readonly [number, number, number, number, number];

function wordsOf(padded: Buffer, from: number): Int32Array {
  const words = new Int32Array(80);
  const earlier = (t: number) => words[t] ?? 0;
  for (let t = 0; t < 16; t += 1) words[t] = padded.readInt32BE(from + t * 4);
  for (let t = 16; t < 80; t += 1)
    words[t] = rotated(earlier(t - 3) ^ earlier(t - 8) ^ earlier(t - 14) ^ earlier(t - 16), 1);
  return words;
}

function withBlock(state: HashState, words: Int32Array): HashState {
  let [a, b, c, d, e] = state;
  for (let t = 0; t < 80; t += 1) {
    const next = (rotated(a, 5) + mixed(t, b, c, d) + e + (words[t] ?? 0)) | 0;
    e = d;
    d = c;
    c = rotated(b, 30);
    b = a;
    a = next;
  }
  const [a0, b0, c0, d0, e0] = state;
  return [(a0 + a) | 0, (b0 + b) | 0, (c0 + c) | 0, (d0 + d) | 0, (e0 + e) | 0];
}

/** The function and the constant of the step. */
function mixed(t: number, b: number, c: number, d: number): number {
  if (t < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (t < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (t < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

function rotated(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
