/** Compresses content as git does, for speed and not for size. Short content is stored without compression. */

import { deflateSync } from 'node:zlib';

/** For less, setting up the compressor takes longer than writing the bytes. */
const WORTH_IT_BYTES = 512;

export function deflated(content: Buffer): Buffer {
  return content.length < WORTH_IT_BYTES ? stored(content) : deflateSync(content, { level: 1 });
}

/** A zlib stream with one uncompressed block: its length, the complement of the length, the content and a checksum. */
function stored(content: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(content.length + 11);
  bytes.set([0x78, 0x01, 0x01]);
  bytes.writeUInt16LE(content.length, 3);
  bytes.writeUInt16LE(~content.length & 0xff_ff, 5);
  content.copy(bytes, 7);
  bytes.writeUInt32BE(adler32(content), content.length + 7);
  return bytes;
}

function adler32(content: Buffer): number {
  let [low, high] = [1, 0];
  for (const byte of content) {
    low = (low + byte) % 65_521;
    high = (high + low) % 65_521;
  }
  return high * 65_536 + low;
}
