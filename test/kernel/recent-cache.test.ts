import { describe, expect, it } from 'vitest';

import { RecentCache } from '../../packages/copse/src/kernel/recent-cache.ts';

describe('recent cache', () => {
  it('drops entries that were not read since the generation before', () => {
    const cache = new RecentCache<number, string>(8);
    for (let key = 1; key <= 9; key += 1) {
      cache.set(key, `value ${key}`);
      cache.get(1);
    }
    expect(cache.get(1)).toBe('value 1');
    expect(cache.get(2)).toBeUndefined();
    expect(cache.get(9)).toBe('value 9');
  });

  it('counts the weight of each value', () => {
    const cache = new RecentCache<string, string>(20, (value) => value.length);
    cache.set('a', '123456');
    cache.set('b', '123456');
    expect(cache.get('a')).toBe('123456');
    cache.set('c', '123456');
    cache.set('d', '123456');
    expect(cache.get('b')).toBeUndefined();
  });

  it('forgets an entry that is deleted, in either generation', () => {
    const cache = new RecentCache<string, number>(4);
    for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3, d: 4 })) cache.set(key, value);
    cache.delete('b');
    cache.delete('d');
    expect([cache.get('b'), cache.get('d')]).toEqual([undefined, undefined]);
    cache.clear();
    expect(cache.get('c')).toBeUndefined();
  });
});
