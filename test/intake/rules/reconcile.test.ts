/** What a look at a source changes, for every state of item and task. */

import { describe, expect, it } from 'vitest';

import { type Item, itemKey, textMark } from '../../../packages/copse/src/intake/rules/item.ts';
import {
  type TaskNow,
  planSync,
  textOf,
  whyNotLetIn,
} from '../../../packages/copse/src/intake/rules/reconcile.ts';
import { dueReport, isTickDue, reportText } from '../../../packages/copse/src/intake/rules/report.ts';
import type { SeenItem } from '../../../packages/copse/src/intake/rules/source.ts';
import { type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { taskStatuses } from '../../../packages/copse/src/tasks/rules/task.ts';

const task = brand<TaskId>('cp-0001');
const at = timestamp(1_000);

function seen(over: Partial<SeenItem> = {}): SeenItem {
  const usual = {
    id: '1',
    title: 'Login',
    body: 'text',
    url: null,
    author: 'ann',
    isClosed: false,
    dependsOn: [],
  };
  return { ...usual, ...over };
}

function item(over: Partial<Item> = {}): Item {
  const mark = textMark('Login', 'text');
  return {
    id: itemKey('s', '1'),
    source: 's',
    item: '1',
    url: null,
    title: 'Login',
    mark,
    given: mark,
    isClosed: false,
    by: 'ann',
    author: 'ann',
    dependsOn: [],
    task,
    takenAt: at,
    changedAt: null,
    report: null,
    ...over,
  };
}

const ready: TaskNow = { status: 'ready', mark: textMark('Login', 'text') };
const keep = { onClosed: 'keep', onlyFrom: null } as const;
const plan = (
  of: readonly SeenItem[],
  known: readonly Item[],
  now: TaskNow | undefined = ready,
  settings: { readonly onClosed: 'keep' | 'cancel'; readonly onlyFrom: readonly string[] | null } = keep,
) => planSync({ settings, seen: of, known, taskOf: () => now });
const kinds = (...args: Parameters<typeof plan>) => plan(...args).map(({ kind }) => kind);

describe('an item', () => {
  it('becomes a task once; one that was closed before becomes none', () => {
    expect(kinds([seen()], [])).toEqual(['take']);
    expect(kinds([seen(), seen()], [])).toEqual(['take']);
    expect(kinds([seen()], [item()])).toEqual([]);
    expect(kinds([seen({ isClosed: true })], [])).toEqual([]);
  });

  it('without a usable title or id is left, with the reason', () => {
    expect(plan([seen({ title: ' \u200b ' })], [])[0]).toMatchObject({
      kind: 'leave',
      why: expect.any(String),
    });
    expect(kinds([seen({ id: 'x'.repeat(301) })], [])).toEqual(['leave']);
  });

  const edited = seen({ body: 'other' });
  it.each(taskStatuses)('whose text changed, with a task that is %s', (status) => {
    const isWaiting = status === 'pending' || status === 'ready';
    expect(kinds([edited], [item()], { ...ready, status })).toEqual([isWaiting ? 'give' : 'note']);
  });

  it('does not replace a text that a person edited, nor is a deleted task made again', () => {
    expect(plan([edited], [item()], { ...ready, mark: 'by hand' })[0]).toMatchObject({
      kind: 'note',
      why: 'a person edited its task',
    });
    const nothing = planSync({ settings: keep, seen: [edited], known: [item()], taskOf: () => undefined });
    expect(nothing).toMatchObject([{ kind: 'note', why: 'its task was deleted' }]);
  });

  it('of an author who is not trusted does not change its task after the label was set', () => {
    const only = { onClosed: 'keep', onlyFrom: ['Ann'] } as const;
    expect(kinds([edited], [item()], ready, only)).toEqual(['give']);
    expect(kinds([seen({ body: 'other', author: 'eve' })], [item()], ready, only)).toEqual(['note']);
    expect(kinds([seen({ body: 'other', author: null })], [item()], ready, only)).toEqual(['note']);
  });

  // promise: item-only-from
  it.each([
    ['changed before the label was set', { author: 'eve', updatedAt: at }, true],
    ['changed after the label was set', { author: 'eve', updatedAt: timestamp(at + 1) }, false],
    ['changed at an unknown time', { author: 'eve', updatedAt: null }, false],
    ['changed after it by a trusted author', { author: 'ann', updatedAt: timestamp(at + 1) }, true],
    ['printed by a program, which has no such times', { author: 'eve' }, true],
  ])('of a stranger that was %s', (_, over, isLetIn) => {
    const why = whyNotLetIn(['Ann'], seen(over), { by: 'ann', at });
    expect(why === null).toBe(isLetIn);
    if (why !== null) expect(why).toContain('set it again');
    expect(whyNotLetIn(null, seen(over), { by: 'eve', at })).toBeNull();
    expect(whyNotLetIn(['Ann'], seen(over), { by: 'eve', at })).toBe('eve is not among only_from');
  });

  it('of another repository is neither changed nor closed by one with the same number', () => {
    const url = (name: string) => `https://github.com/octo/${name}/issues/1`;
    const other = seen({ url: url('bushes'), title: 'Not the same', isClosed: true });
    expect(plan([other], [item({ url: url('trees') })])).toMatchObject([
      { kind: 'leave', why: expect.stringContaining('give the source another name') },
    ]);
    expect(kinds([seen({ url: url('Trees') })], [item({ url: url('trees') })])).toEqual([]);
  });

  it('that could not be read is not closed', () => {
    const facts = { settings: keep, seen: [], known: [item()], taskOf: () => ready };
    expect(planSync({ ...facts, unread: new Set(['1']) })).toEqual([]);
  });

  it.each([
    ['closed', [seen({ isClosed: true })]],
    ['gone', []],
  ])('that is %s cancels its task only if asked to', (_, now) => {
    const cancel = { onClosed: 'cancel', onlyFrom: null } as const;
    expect(plan(now, [item()])).toMatchObject([{ kind: 'close', cancels: false }]);
    expect(plan(now, [item()], ready, cancel)).toMatchObject([{ kind: 'close', cancels: true }]);
    expect(plan(now, [item()], { ...ready, status: 'done' }, cancel)).toMatchObject([
      { kind: 'close', cancels: false },
    ]);
    expect(kinds(now, [item({ isClosed: true })])).toEqual([]);
  });

  it('that is opened again says so, and makes no second task', () => {
    expect(kinds([seen()], [item({ isClosed: true })])).toEqual(['reopen']);
  });
});

describe('dependencies', () => {
  it('come first, also in a circle', () => {
    const chain = [
      seen({ id: 'a', dependsOn: ['b'] }),
      seen({ id: 'b', dependsOn: ['c'] }),
      seen({ id: 'c' }),
    ];
    const order = (of: readonly SeenItem[]) =>
      plan(of, []).map((step) => ('seen' in step ? step.seen.id : ''));
    expect(order(chain)).toEqual(['c', 'b', 'a']);
    expect(order([seen({ id: 'a', dependsOn: ['b'] }), seen({ id: 'b', dependsOn: ['a'] })])).toEqual([
      'b',
      'a',
    ]);
  });

  it('change with the item until its task begins', () => {
    const other = item({ item: '2', id: itemKey('s', '2') });
    const both = [seen({ dependsOn: ['2', '9'] }), seen({ id: '2' })];
    expect(plan(both, [item(), other])).toMatchObject([{ kind: 'link', dependsOn: ['2'] }]);
    expect(plan(both, [item({ dependsOn: ['2'] }), other])).toEqual([]);
    expect(plan(both, [item(), other], { ...ready, status: 'in_progress' })).toEqual([]);
  });
});

it('a long title is cut, and whole in the body', () => {
  const { title, body } = textOf({ title: `${'ü'.repeat(300)}\n`, body: 'text' });
  expect(Array.from(title)).toHaveLength(200);
  expect(body).toBe(`${'ü'.repeat(300)}\n\ntext`);
});

it('keys of different items differ, and have characters of ids only', () => {
  const pairs = [
    ['a', 'b:c'],
    ['a:b', 'c'],
    ['a', 'b_c'],
    ['a', 'b_5fc'],
    ['a', "B'(ü) 😀\ud800"],
  ] as const;
  const keys = pairs.map(([source, id]) => itemKey(source, id));
  expect(new Set(keys).size).toBe(pairs.length);
  for (const key of keys) expect(key).toMatch(/^[a-z0-9][a-z0-9:._-]*$/i);
});

describe('a report', () => {
  it('is due when the phase of the task is not the one reported last', () => {
    const told = (phase: 'working' | 'done') => ({ report: { phase, at, comment: '1' } });
    expect(dueReport({ report: null }, 'ready')).toBe(null);
    expect(dueReport({ report: null }, 'cancelled')).toBe(null);
    expect(dueReport({ report: null }, 'in_progress')).toBe('working');
    expect(dueReport(told('working'), 'in_progress')).toBe(null);
    expect(dueReport(told('working'), 'ready')).toBe('queued');
    expect(dueReport(told('working'), undefined)).toBe('cancelled');
    expect(dueReport(told('done'), 'in_progress')).toBe('working');
  });

  it('ticks a box only if its line still says what was done', () => {
    expect(isTickDue(item(), 'done')).toBe(true);
    expect(isTickDue(item(), 'review')).toBe(false);
    expect(isTickDue(item({ changedAt: at }), 'done')).toBe(false);
  });

  it('says no reason: the item may be public', () => {
    const stuck = { id: task, state: { status: 'stuck', since: at, reason: 'SECRET in /home/ann' } } as const;
    expect(reportText(stuck, task, 'waiting')).toBe(
      '<!-- copse-status cp-0001 -->\n**Copse** · task `cp-0001`: stopped, and waiting for a person.\n',
    );
  });
});
