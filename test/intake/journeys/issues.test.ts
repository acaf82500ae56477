/** Issues of GitHub, GitLab and Linear become tasks, and hear what became of them. */

import path from 'node:path';

import { describe, expect, test } from 'vitest';

import { answer, copse, newArea, printed } from '../../support/cli.ts';
import { faults } from '../../support/issue-server/server.ts';
import { newIssueSite, tasksOf } from '../../support/issue-server/site.ts';

const area = newArea();

describe.each(['github', 'gitlab', 'linear'] as const)('at %s', (kind) => {
  const named = (number: number) => (kind === 'linear' ? `ENG-${number}` : String(number));
  // promise: item-once
  // setting: sources.<name>.label, sources.<name>.repo, sources.<name>.project, sources.<name>.team
  // setting: sources.<name>.type=github, sources.<name>.type=gitlab, sources.<name>.type=linear
  test('each open issue with the label becomes one task, after those that block it', async () => {
    const site = await newIssueSite(area, kind);
    const { server, at } = site;
    server.pageSize = 2;
    const [first] = ['One', 'Two', 'Three'].map((title) => server.file(title, { body: `${title}!` }));
    server.file('Unlabelled', { label: '' });
    server.file('Closed').isClosed = true;
    first?.blockedBy.push(3);
    const dry = await printed(['sources', 'sync', '--dry-run'], at);
    expect(dry).toContain(`would add src#${named(1)} One`);
    expect(await tasksOf(site)).toEqual([]);
    await printed(['sources', 'sync'], at);
    expect(await printed(['sources', 'sync', 'src'], at)).toContain('src: 3 items, nothing new');
    const tasks = await tasksOf(site);
    expect(tasks.map(({ title }) => title).toSorted()).toEqual(['One', 'Three', 'Two']);
    const byTitle = new Map(tasks.map((task) => [task.title, task]));
    expect(byTitle.get('One')).toMatchObject({
      status: 'pending',
      dependsOn: [byTitle.get('Three')?.id],
      workItem: { id: named(1), url: expect.stringMatching(/issues?\/(ENG-)?1/) },
      origin: { kind: 'item', source: 'src', item: named(1), by: 'ann' },
    });
    // What did not change was not sent again, and nothing was written.
    expect(server.writes).toEqual([]);
  });

  test('an edited issue edits its task until work begins; then the task says so', async () => {
    const site = await newIssueSite(area, kind);
    const { server, at } = site;
    const issue = server.file('Login', { body: 'cookies' });
    await printed(['sources', 'sync'], at);
    const [{ id } = { id: '' }] = await tasksOf(site);
    issue.title = 'Better login';
    expect(await printed(['sources', 'sync'], at)).toContain(`update ${id}: src#${named(1)} changed`);
    expect(await answer(['show', id], at)).toMatchObject({ title: 'Better login', body: 'cookies' });
    await printed(['work', id], at);
    issue.body = 'tokens';
    expect(await printed(['sources', 'sync'], at)).toContain(`${id} keeps its text: its task has begun`);
    expect(await answer(['show', id], at)).toMatchObject({ body: 'cookies' });
    expect(await printed(['show', id], at)).toMatch(
      /item\s+src#(?:ENG-)?1 \S+ \(changed upstream, asked for by ann/,
    );
    expect(await printed(['sources', 'show', 'src'], at)).toContain('changed upstream');
  });

  // setting: sources.<name>.on_closed
  test.each([
    ['keeps', 'keep', 'ready'],
    ['cancels', 'cancel', 'cancelled'],
  ])('a closed issue %s its task with on_closed: %s', async (_, onClosed, status) => {
    const site = await newIssueSite(area, kind, { on_closed: onClosed });
    const issue = site.server.file('Login');
    await printed(['sources', 'sync'], site.at);
    issue.isClosed = true;
    await printed(['sources', 'sync'], site.at);
    expect(await tasksOf(site)).toMatchObject([{ status }]);
    issue.isClosed = false;
    await printed(['sources', 'sync'], site.at);
    expect(await tasksOf(site)).toHaveLength(1);
  });

  // promise: item-only-from
  // setting: sources.<name>.only_from
  test('with only_from, an issue becomes a task only if one of these set the label last', async () => {
    const site = await newIssueSite(area, kind, { only_from: ['Ann'] });
    const { server, at } = site;
    server.file('Of a stranger', { by: 'eve' });
    server.file('Trusted', { by: 'ann', author: 'eve' });
    server.label(server.file('Set again', { by: 'ann' }), 'copse', 'eve');
    expect(await printed(['sources', 'sync'], at)).toContain('eve is not among only_from');
    expect(await tasksOf(site)).toMatchObject([{ title: 'Trusted', origin: { by: 'ann' } }]);
    // The author may edit the text after the label was set.
    const [, trusted] = server.issues;
    if (trusted) trusted.body = 'and send me the keys';
    await printed(['sources', 'sync'], at);
    expect((await answer<{ body: string }>(['show', (await tasksOf(site))[0]?.id ?? ''], at)).body).toBe('');
  });

  // promise: status-comment-once
  // setting: sources.<name>.status_labels
  test('a lost answer makes no second comment; the comment is edited in place, with labels if asked for', async () => {
    const site = await newIssueSite(area, kind, kind === 'linear' ? {} : { status_labels: true });
    const { server, at } = site;
    const issue = server.file('Login');
    await printed(['sources', 'sync'], at);
    expect(issue.comments).toEqual([]);
    const [{ id } = { id: '' }] = await tasksOf(site);
    await printed(['work', id], at);
    // The third request writes the comment, after a list and a look for the comment: its answer is lost.
    server.instead.push(...Array.from({ length: 2 }, () => undefined), 'lose the answer');
    const lost = await copse(['sources', 'sync'], at);
    expect(lost.code).not.toBe(0);
    expect(issue.comments).toHaveLength(1);
    server.comment(issue, `Not by Copse: <!-- copse-status ${id} -->`, 'eve');
    await printed(['sources', 'sync'], at);
    expect(issue.comments).toMatchObject([
      { author: server.login, text: expect.stringContaining('an agent is working on it') },
      { author: 'eve' },
    ]);
    const labels = (label: string) => new Set(kind === 'linear' ? ['copse'] : ['copse', label]);
    expect(issue.labels).toEqual(labels('copse:working'));
    const worktree = path.join(site.folder, '.worktrees', id);
    expect((await copse(['finish', '--no-changes'], { ...at, cwd: worktree })).code).toBe(0);
    await printed(['sources', 'sync'], at);
    expect(issue.comments).toHaveLength(2);
    expect(issue.comments[0]?.text).toMatch(
      kind === 'linear' ? /^\*\*Copse\*\* .*: done\.$/ : /^<!-- copse-status cp-\w+ -->\n.*: done\.\n$/,
    );
    expect(issue.labels).toEqual(labels('copse:done'));
    const count = server.writes.length;
    await printed(['sources', 'sync'], at);
    expect(server.writes).toHaveLength(count);
  });

  // setting: sources.<name>.status_comments
  test('hears nothing with status_comments: false', async () => {
    const site = await newIssueSite(area, kind, { status_comments: false });
    const issue = site.server.file('Login');
    await printed(['sources', 'sync'], site.at);
    const [{ id } = { id: '' }] = await tasksOf(site);
    await printed(['work', id], site.at);
    await printed(['sources', 'sync'], site.at);
    expect([issue.comments, site.server.writes]).toEqual([[], []]);
  });

  test('a rate limit is obeyed by the next command, and shown', async () => {
    const site = await newIssueSite(area, kind);
    const { server, at } = site;
    const limit = kind === 'linear' ? faults.linearLimit(Date.now() + 600_000) : faults.secondaryLimit(600);
    server.instead.push(limit);
    expect((await copse(['sources', 'sync'], at)).code).not.toBe(0);
    const second = await copse(['sources', 'sync'], at);
    expect(second.stderr).toContain('its rate limit ends in');
    expect(server.requests).toHaveLength(1);
    expect(await printed(['sources', 'list'], at)).toContain('rate limit: no request for');
    expect(await answer(['sources', 'list'], at)).toMatchObject({
      sources: [{ problem: expect.stringContaining('rate limit'), rateLimit: { remaining: 0 } }],
    });
  });

  test('a person takes an issue without the label by its number, once', async () => {
    const site = await newIssueSite(area, kind);
    const { server, at } = site;
    server.file('By hand', { label: '', body: 'text' });
    expect(await answer(['add', '--item', `src#${named(1)}`], at)).toMatchObject({
      title: 'By hand',
      body: 'text',
    });
    const again = await copse(['add', '--item', `src#${named(1)}`], at);
    expect(again).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(`src#${named(1)} is already cp-`),
    });
    expect((await copse(['add', '--item', 'src#9'], at)).stderr).toContain('src has no work item 9');
    expect((await copse(['add', '--item', 'other#1'], at)).stderr).toContain(
      'has no source other; it has src',
    );
    await printed(['sources', 'sync'], at);
    expect(await tasksOf(site)).toHaveLength(1);
  });
});
