/** Pages of a patch: together they are the patch, and every page brings something. */

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { bytesToAsk, patchPage } from '../../packages/copse/src/operations/views/patch-page.ts';

function pages(patch: Buffer, most: number) {
  const all: { readonly text: string | null; readonly cut: string | null }[] = [];
  for (let skipped = 0; ;) {
    const asked = patch.subarray(skipped, skipped + bytesToAsk(most));
    const page = patchPage(asked, most, { skipped });
    all.push(page);
    if (page.cut === null) return all;
    expect(page.bytes).toBeGreaterThan(0);
    skipped += page.bytes;
  }
}

test('whatever their size, pages of whole characters give the patch', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', 'é', '€', '🌳'), maxLength: 30 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 12 }), (patch, most) => {
      expect(
        pages(Buffer.from(patch), most)
          .map((page) => page.text)
          .join(''),
      ).toBe(patch);
    }),
  );
});

test('bytes that are no text are cut too', () => {
  const patch = Buffer.alloc(20, 0x80);
  for (const most of [1, 2, 3, 4, 5, 19]) expect(pages(patch, most).length).toBeGreaterThan(1);
});

test('a page says which bytes it has; one of no bytes has none', () => {
  expect(pages(Buffer.from('one\ntwo\nthree\n'), 4).map(({ cut }) => cut)).toEqual([
    'the first 4 bytes of the patch',
    'bytes 5 to 8 of the patch',
    'bytes 9 to 12 of the patch',
    null,
  ]);
  expect(patchPage(Buffer.from('\none'), 0)).toMatchObject({ text: '', bytes: 0 });
});
