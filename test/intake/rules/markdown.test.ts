/** `- [ ]` lists: what is an item, which one it is after an edit, and what a tick changes. */

import { describe, expect, it } from 'vitest';

import {
  MOST_ENTRIES,
  identify,
  parseList,
  withTicks,
} from '../../../packages/copse/src/intake/rules/markdown.ts';

const titles = (text: string) => parseList(text).map(({ title }) => title);

describe('a list', () => {
  it('has an item for each box, with the text below it and the items below it', () => {
    const [login, form, password, rename] = parseList(
      [
        '- [ ] Add login',
        '  Use cookies.',
        '',
        '    Not basic auth.',
        '  - [ ] Form',
        '  * [x] Password',
        '\twith bcrypt',
        '1. [ ] Rename',
        'A paragraph.',
      ].join('\r\n'),
    );
    expect(login).toMatchObject({
      title: 'Add login',
      body: 'Use cookies.\n\n  Not basic auth.',
      isTicked: false,
    });
    expect(login?.children).toEqual([1, 2]);
    expect(form).toMatchObject({ title: 'Form', body: '', children: [] });
    expect(password).toMatchObject({ title: 'Password', body: 'with bcrypt', isTicked: true });
    expect(rename).toMatchObject({ title: 'Rename', body: '', line: 7 });
  });

  it.each([
    ['a block of code', '```\n- [ ] no\n```\n- [ ] yes', ['yes']],
    ['a longer fence inside', '~~~\n```\n- [ ] no\n~~~\n- [ ] yes', ['yes']],
    ['a plain list', '- no\n- [link](x)\n- [] no\n- [ ]', []],
    ['nothing', '', []],
  ])('has none in %s', (_, text, expected) => {
    expect(titles(text)).toEqual(expected);
  });
});

describe('an item', () => {
  const first = identify('TODO.md', parseList('- [ ] Add a login page\n- [ ] Same\n- [ ] Same'), []);
  const known = first.map(({ id, title }) => ({ item: id, title, isClosed: false, isWaiting: true }));
  const again = (text: string) => identify('TODO.md', parseList(text), known).map(({ id }) => id);
  const [login = '', same = '', second = ''] = first.map(({ id }) => id);

  it('has an id of its own, the same wherever it is read first', () => {
    expect(new Set([login, same, second]).size).toBe(3);
    expect(identify('TODO.md', parseList('- [ ] Add a login page'), [])[0]?.id).toBe(login);
  });

  it('keeps it when lines are moved, ticked or added', () => {
    expect(again('- [ ] New work here\n- [x] Same\n- [ ] Add a login page\n- [ ] Same').slice(1)).toEqual([
      same,
      login,
      second,
    ]);
  });

  it('keeps it when its title is edited', () => {
    expect(again('- [ ] Add a good login page\n- [ ] Same\n- [ ] Same')).toEqual([login, same, second]);
  });

  it('keeps it when it is the only line that changed, and a word is the same', () => {
    expect(again('- [ ] Login\n- [ ] Same\n- [ ] Same')).toEqual([login, same, second]);
  });

  it('that is done gives its id to no other line', () => {
    const done = { item: login, title: 'Add a login page', isClosed: true, isWaiting: true };
    const [next] = identify('TODO.md', parseList('- [ ] Add a good login page'), [done]);
    expect(next?.id).not.toBe(login);
  });

  it('whose task has begun gives its id to no line with another title', () => {
    const begun = { item: login, title: 'Add a login page', isClosed: false, isWaiting: false };
    const [next] = identify('TODO.md', parseList('- [ ] Remove the login page'), [begun]);
    expect(next?.id).not.toBe(login);
    expect(identify('TODO.md', parseList('- [ ] Add a login page'), [begun])[0]?.id).toBe(login);
  });

  it('does not take the id of one with other words, nor one that was used before', () => {
    const [other = ''] = again('- [ ] Remove the printer');
    expect([login, same, second]).not.toContain(other);
    const renamed = [{ item: login, title: 'Add a good login page', isClosed: false, isWaiting: true }];
    const found = identify(
      'TODO.md',
      parseList('- [ ] Add a good login page\n- [ ] Add a login page'),
      renamed,
    );
    expect(found.map(({ id }) => id)).toEqual([login, `${login}-2`]);
  });
});

describe('a file that is made to be slow', () => {
  it.each([
    ['many empty lines in a text', `- [ ] a\n  x${'\n'.repeat(60_000)}  y`, 1],
    ['many lines in a text', `- [ ] a\n${'  x\n'.repeat(200_000)}`, 1],
    ['many boxes with one title', '- [ ] same\n'.repeat(MOST_ENTRIES), MOST_ENTRIES],
    [
      'many boxes',
      Array.from({ length: MOST_ENTRIES }, (_, at) => `- [ ] box ${at}`).join('\n'),
      MOST_ENTRIES,
    ],
  ])('is read in a moment: %s', (_, text, count) => {
    const began = process.cpuUsage();
    const all = parseList(text);
    const first = identify('TODO.md', all, []);
    const known = first.map(({ id }, at) => ({
      item: id,
      title: `was ${at}`,
      isClosed: false,
      isWaiting: true,
    }));
    expect(new Set(identify('TODO.md', all, known).map(({ id }) => id)).size).toBe(count);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1_000).toBeLessThan(3_000);
  });

  it('may have too many boxes', () => {
    expect(() => parseList('- [ ] x\n'.repeat(MOST_ENTRIES + 1))).toThrow(`more than ${MOST_ENTRIES} boxes`);
  });
});

it('a tick changes one box of its line, and no line ending', () => {
  const text = '- [ ] a [ ] b\r\n- [ ] c\n';
  expect(withTicks(text, new Set([0]))).toBe('- [x] a [ ] b\r\n- [ ] c\n');
});
