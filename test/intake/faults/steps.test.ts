/**
 * Looking at a source and telling it, ended at every step, and by two machines at once on PostgreSQL: each item becomes one
 * task, each gets one comment, each box one tick. Looking again is all the recovery there is.
 */

import { randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, inject, it } from 'vitest';

import { holdSource } from '../../../packages/copse/src/intake/act/hold.ts';
import { reportDue } from '../../../packages/copse/src/intake/act/report.ts';
import { syncSource } from '../../../packages/copse/src/intake/act/sync.ts';
import type { OpenRun } from '../../../packages/copse/src/compose/run/run.ts';
import { LeadSilence } from '../../../packages/copse/src/queue/lead/leadership.ts';
import { answer, copse, git, newArea, printed } from '../../support/cli.ts';
import {
  type SourceSite,
  newIssueSite,
  newSourceSite,
  openSite,
  tasksOf,
} from '../../support/issue-server/site.ts';
import { interruptAt, isInterrupted } from '../../support/workspaces/interrupted.ts';

const area = newArea();
const ours = { isOurs: async () => true };

async function withSite<T>(site: Pick<SourceSite, 'at'>, work: (run: OpenRun) => Promise<T>): Promise<T> {
  const opened = await openSite(site);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/** True when it did not come to its end. */
function look(site: SourceSite, step = '-'): Promise<boolean> {
  return withSite(site, ({ context }) =>
    isInterrupted(async () => {
      const [source] = context.sources;
      if (source === undefined) throw new Error('There is no source');
      const onStep = interruptAt(step);
      expect(await syncSource(context, source, { onStep })).toMatchObject({ kind: 'synced' });
      expect(await reportDue(context, source, ours, onStep)).toMatchObject({ kind: 'reported' });
    }),
  );
}

describe('a look that ends', () => {
  // promise: item-once
  it.each(['read', 'take'])(
    'after the step "%s" is finished by the next: each item has one task',
    async (step) => {
      const lines = ['{"id":1,"title":"One","depends_on":[2]}', '{"id":2,"title":"Two"}'].join('\n');
      const site = newSourceSite(
        area,
        { type: 'command', command: 'cat "{folder}/items"' },
        { files: { items: lines } },
      );
      expect(await look(site, step)).toBe(true);
      expect(await look(site, step)).toBe(true);
      await look(site);
      expect((await tasksOf(site)).map(({ title }) => title).toSorted()).toEqual(['One', 'Two']);
    },
  );

  // promise: status-comment-once
  it.each(['told', 'reported'])('after the step "%s" leaves one comment', async (step) => {
    const site = await newIssueSite(area, 'github');
    const issue = site.server.file('One');
    await look(site);
    const [{ id } = { id: '' }] = await tasksOf(site);
    await printed(['work', id], site.at);
    expect(await look(site, step)).toBe(true);
    await look(site);
    expect(issue.comments).toHaveLength(1);
    expect(await answer(['show', id], site.at)).toMatchObject({
      item: { report: { phase: 'working', comment: String(issue.comments[0]?.id) } },
    });
  });

  // promise: tick-lands
  it.each(['committed', 'branched', 'reported'])('after the step "%s" ticks the box once', async (step) => {
    const sections = { landing: { policy: 'auto' } };
    const files = { 'TODO.md': '- [ ] One\n- [ ] Two\n' };
    const site = newSourceSite(area, { type: 'markdown', files: ['*.md'] }, { files, sections });
    await look(site);
    const { id } = (await tasksOf(site)).find(({ title }) => title === 'One') ?? { id: '' };
    await printed(['work', id], site.at);
    const worktree = path.join(site.folder, '.worktrees', id);
    expect((await copse(['finish', '--no-changes'], { ...site.at, cwd: worktree })).code).toBe(0);
    expect(await look(site, step)).toBe(true);
    await look(site);
    const ticks = (await tasksOf(site)).filter(({ title }) => title.startsWith('Tick'));
    expect(ticks).toMatchObject([{ title: 'Tick a box in TODO.md', status: 'landing' }]);
    const merged = await copse(['merge', ticks[0]?.id ?? ''], site.at);
    expect(merged).toMatchObject({ code: 0, stderr: '' });
    expect(git(site.folder, 'show', 'main:TODO.md')).toBe('- [x] One\n- [ ] Two');
  });
});

describe('two machines on one board', () => {
  async function newMachines(kind: 'github') {
    const board = `${inject('postgresUrl').replace('copse@', 'copse:secret@')}?schema=t_${randomBytes(6).toString('hex')}`;
    const site = await newIssueSite(area, kind);
    const other = `${site.folder} other`;
    cpSync(site.folder, other, { recursive: true });
    const env = { ...site.at.env, COPSE_BOARD: board };
    return {
      server: site.server,
      here: { ...site, at: { cwd: site.folder, env } },
      there: { at: { cwd: other, env } },
    };
  }

  // promise: item-once
  it('take each item once, and comment once, also at the same time', async () => {
    const { server, here, there } = await newMachines('github');
    for (const title of ['One', 'Two', 'Three', 'Four']) server.file(title);
    await withSite(here, (one) =>
      withSite(there, async (two) => {
        expect(one.context.node).not.toBe(two.context.node);
        const both = [one.context, two.context];
        await Promise.all(
          both.map(async (context) => {
            const [source] = context.sources;
            if (source) expect(await syncSource(context, source)).toMatchObject({ kind: 'synced' });
          }),
        );
        const tasks = await one.context.board.tasks({ order: 'urgent' });
        expect(tasks.map(({ title }) => title).toSorted()).toEqual(['Four', 'One', 'Three', 'Two']);
        expect(await one.context.board.list('item')).toHaveLength(4);

        await printed(['work', tasks.find(({ title }) => title === 'One')?.id ?? ''], here.at);
        const held = await Promise.all(
          both.map((context) =>
            holdSource(
              context,
              'src',
              async (hold) => {
                const [source] = context.sources;
                return source && reportDue(context, source, hold);
              },
              { silence: new LeadSilence(), isKept: true },
            ),
          ),
        );
        expect(held.map(({ kind }) => kind).toSorted()).toEqual(['busy', 'held']);
        expect(server.issues[0]?.comments).toHaveLength(1);
      }),
    );
  });
});
