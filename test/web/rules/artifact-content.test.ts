/** A file of a result, read page by page. */

import { describe, expect, test } from 'vitest';

import {
  type ReadContent,
  contentText,
  isBinary,
  nothingRead,
  readBytes,
  withPage,
} from '../../../packages/web/src/pages/task/artifact-content.ts';

/** All pages of so many bytes, as the server sends them. */
function readAll(bytes: Buffer, pageBytes: number): ReadContent {
  let read = nothingRead;
  while (read.next !== null) {
    const end = read.next + pageBytes;
    const content = bytes.subarray(read.next, end).toString('base64');
    read = withPage(read, { content, next: end < bytes.length ? end : null });
  }
  return read;
}

describe('the content of a result', () => {
  const text = 'grün 日本\n'.repeat(20);
  const bytes = Buffer.from(text);

  test.each([1, 2, 3, 7, 1_000])('is whole, read by pages of %i bytes', (pageBytes) => {
    const read = readAll(bytes, pageBytes);
    expect(readBytes(read)).toBe(bytes.length);
    expect(contentText(read, bytes.length)).toBe(text);
    expect(Buffer.concat(read.pages)).toStrictEqual(bytes);
  });

  test('is shown as far as wanted, and never with half a character', () => {
    const read = readAll(bytes, 10);
    for (let most = 0; most < bytes.length; most += 1) {
      const part = contentText(read, most);
      expect(text.startsWith(part)).toBe(true);
      expect(Buffer.byteLength(part)).toBeGreaterThan(most - 3);
    }
  });

  test('is no text with a zero byte', () => {
    expect(isBinary(readAll(Buffer.from([137, 80, 78, 71, 0, 1]), 3))).toBe(false);
    expect(isBinary(readAll(Buffer.from([137, 80, 78, 71, 0, 1]), 6))).toBe(true);
    expect(isBinary(readAll(bytes, 10))).toBe(false);
    expect(isBinary(nothingRead)).toBe(false);
  });
});
