/** Ids of objects, held against those of OpenSSL. */

import { createHash } from 'node:crypto';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { hashOf } from '../../../packages/copse/src/git/objects/object-hash.ts';

const reference = (format: 'sha1' | 'sha256', object: Buffer) =>
  createHash(format).update(object).digest('hex');

test.each(['sha1', 'sha256'] as const)('of objects around every border of a block, as %s', (format) => {
  for (const length of [0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 128, 4_095, 4_096, 4_097, 10_000]) {
    const object = Buffer.alloc(length, 0xe5);
    expect([length, hashOf(format, object)]).toEqual([length, reference(format, object)]);
  }
});

test('of any small object', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      const object = Buffer.from(bytes);
      expect(hashOf('sha1', object)).toBe(reference('sha1', object));
    }),
    { numRuns: 300 },
  );
});
