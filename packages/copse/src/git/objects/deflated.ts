/** As git stores contents: fast rather than small, and what is hardly worth it not at all. */

import { deflateSync } from 'node:zlib';

/** To set a compressor up takes longer than to write so much. */
const WORTH_IT_BYTES = 512;

export function deflated(content: Buffer): Buffer {
  return content.length < WORTH_IT_BYTES ? stored(content) : deflateSync(content, { level: 1 });
}

/** A stream of zlib with one block that is not compressed: its length, that length turned over, and a checksum at the end. */
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
