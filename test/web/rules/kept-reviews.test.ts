/** What a person wrote in a review stays until it is sent or removed, whatever other tabs do. */

import { describe, expect, test } from 'vitest';

import {
  type Draft,
  KeptReviews,
  withAdded,
  withoutDraft,
  withoutSent,
} from '../../../packages/web/src/pages/task/changes/kept-reviews.ts';

/** Of one browser: it refuses more characters than fit. */
class FakeStorage {
  readonly #items = new Map<string, string>();
  room = Infinity;

  get length() {
    return this.#items.size;
  }

  key(at: number) {
    return [...this.#items.keys()][at] ?? null;
  }

  getItem(key: string) {
    return this.#items.get(key) ?? null;
  }

  setItem(key: string, text: string) {
    const others = [...this.#items].filter(([other]) => other !== key);
    const taken = others.reduce((sum, [, { length }]) => sum + length, 0);
    if (taken + text.length > this.room) throw new DOMException('full', 'QuotaExceededError');
    this.#items.set(key, text);
  }

  removeItem(key: string) {
    this.#items.delete(key);
  }
}

const draft = (id: string): Draft => ({
  id,
  head: 'h1',
  from: 'f1',
  comment: { path: 'a.txt', line: 1, side: 'new', text: id },
});
const place = { path: 'a.txt', line: 3, endLine: 3, side: 'new' } as const;

describe('two tabs on one task', () => {
  function twoTabs() {
    const storage = new FakeStorage();
    return [new KeptReviews(() => storage), new KeptReviews(() => storage), storage] as const;
  }

  test('keep the comments of both', () => {
    const [one, other] = twoTabs();
    one.read('cp-1');
    other.read('cp-1');
    one.change('cp-1', ({ drafts }) => ({ drafts: [...drafts, draft('one')] }));
    other.change('cp-1', ({ drafts }) => ({ drafts: [...drafts, draft('other')] }));
    one.change('cp-1', () => ({ comment: 'whole' }));
    for (const tab of [one, other])
      expect(tab.read('cp-1')).toMatchObject({ drafts: [draft('one'), draft('other')], comment: 'whole' });
  });

  test('offer nothing that the other one sent or removed', () => {
    const [one, other] = twoTabs();
    one.change('cp-1', () => ({ drafts: [draft('sent'), draft('removed')], comment: 'sent too' }));
    const sent = { drafts: [draft('sent')], comment: 'sent too' };
    other.change('cp-1', (now) => withoutSent(now, sent));
    expect(one.read('cp-1')).toMatchObject({ drafts: [draft('removed')], comment: '' });
    other.change('cp-1', (now) => withoutDraft(now, 'removed'));
    expect(one.read('cp-1').drafts).toStrictEqual([]);
  });

  test('are the same object until something changes', () => {
    const [one, other] = twoTabs();
    one.change('cp-1', () => ({ comment: 'x' }));
    const before = one.read('cp-1');
    expect(one.read('cp-1')).toBe(before);
    other.change('cp-1', () => ({ comment: 'y' }));
    expect(one.read('cp-1')).not.toBe(before);
    expect(one.read('cp-1')).toBe(one.read('cp-1'));
  });
});

describe('comments that were sent', () => {
  test('go, and what was written while they were sent stays', () => {
    const sent = { drafts: [draft('one')], comment: 'first' };
    const now = { viewed: {}, drafts: [draft('one'), draft('two')], comment: 'first and more', open: null };
    expect(withoutSent(now, sent)).toStrictEqual({ drafts: [draft('two')], comment: 'first and more' });
    expect(withoutSent({ ...now, comment: 'first' }, sent).comment).toBe('');
  });
});

describe('the comment that is written now', () => {
  test('is kept with its text and place, and becomes a comment on that line', () => {
    const storage = new FakeStorage();
    const before = new KeptReviews(() => storage);
    const open = { place, anchor: place, head: 'h1', from: 'f1', text: 'Why?' };
    before.change('cp-1', () => ({ open }));
    const after = new KeptReviews(() => storage);
    expect(after.read('cp-1').open).toStrictEqual(open);
    after.change('cp-1', (now) => withAdded(now, 'new'));
    const comment = { path: 'a.txt', line: 3, side: 'new', text: 'Why?' };
    expect(after.read('cp-1')).toMatchObject({
      open: null,
      drafts: [{ id: 'new', head: 'h1', from: 'f1', comment }],
    });
  });

  test('is not added while it has no text', () => {
    const open = { place, anchor: place, head: 'h1', from: 'f1', text: ' ' };
    expect(withAdded({ viewed: {}, drafts: [], comment: '', open }, 'new')).toStrictEqual({});
  });
});

describe('a browser without room', () => {
  const written = (comment: string) => () => ({ comment });

  test('gives up marks of viewed files of other tasks, and no text', () => {
    const storage = new FakeStorage();
    const reviews = new KeptReviews(() => storage);
    reviews.change('cp-1', () => ({ viewed: { 'a.txt': 'x'.repeat(500) } }));
    reviews.change('cp-2', written('kept'));
    storage.room = 400;
    reviews.change('cp-3', written('y'.repeat(100)));
    expect(reviews.isSaved('cp-3')).toBe(true);
    const anew = new KeptReviews(() => storage);
    expect(anew.read('cp-1').viewed).toStrictEqual({});
    expect(anew.read('cp-2').comment).toBe('kept');
    expect(anew.read('cp-3').comment).toHaveLength(100);
  });

  test('says that it did not keep a text, which stays until the tab closes', () => {
    const storage = new FakeStorage();
    const reviews = new KeptReviews(() => storage);
    storage.room = 100;
    reviews.change('cp-1', written('z'.repeat(200)));
    expect([reviews.isSaved('cp-1'), reviews.read('cp-1').comment.length]).toStrictEqual([false, 200]);
    storage.room = 1_000;
    reviews.change('cp-1', written('short'));
    expect([reviews.isSaved('cp-1'), new KeptReviews(() => storage).read('cp-1').comment]).toStrictEqual([
      true,
      'short',
    ]);
  });

  test('that keeps nothing at all works until the tab closes', () => {
    const reviews = new KeptReviews(() => {
      throw new DOMException('no storage', 'SecurityError');
    });
    reviews.change('cp-1', written('text'));
    expect([reviews.read('cp-1').comment, reviews.isSaved('cp-1')]).toStrictEqual(['text', false]);
  });
});

test('nothing is left in the browser when nothing is left to keep', () => {
  const storage = new FakeStorage();
  const reviews = new KeptReviews(() => storage);
  reviews.change('cp-1', () => ({ comment: 'x', drafts: [draft('one')] }));
  reviews.change('cp-1', (now) => withoutSent(now, now));
  expect(storage.length).toBe(0);
});
