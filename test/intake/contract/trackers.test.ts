/** What a tracker's trouble with one item means for it, and for the others. */

import { expect, it } from 'vitest';

import { githubTracker } from '../../../packages/copse/src/intake/forges/github.ts';
import { trackerSource } from '../../../packages/copse/src/intake/forges/tracker.ts';
import { linearSource } from '../../../packages/copse/src/intake/linear/source.ts';
import type { KnownItem, ReportOrder, Source } from '../../../packages/copse/src/intake/port.ts';
import { itemKey } from '../../../packages/copse/src/intake/rules/item.ts';
import type { SourceSettings } from '../../../packages/copse/src/intake/rules/source.ts';
import { type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { newPaced } from '../../support/issue-server/paced.ts';
import type { Answer, IssueServer } from '../../support/issue-server/server.ts';

const settings: SourceSettings = {
  name: 'src',
  type: 'github',
  place: '',
  intervalMs: 1,
  onClosed: 'cancel',
  onlyFrom: null,
  hasComments: true,
  hasLabels: true,
  drawnBy: [],
};

function known(item: string, url: string | null = null): KnownItem {
  return {
    id: itemKey('src', item),
    source: 'src',
    item,
    url,
    title: '',
    mark: '',
    given: '',
    isClosed: false,
    by: null,
    author: null,
    dependsOn: [],
    task: brand<TaskId>('cp-0001'),
    takenAt: timestamp(1),
    changedAt: null,
    report: null,
    isWaiting: true,
  };
}

async function newSource(kind: 'github' | 'linear'): Promise<{ server: IssueServer; source: Source }> {
  const { server, paced } = await newPaced(kind);
  const repository = () => ({ owner: 'octo', name: 'trees' });
  const source =
    kind === 'linear'
      ? linearSource({ settings, paced, team: 'ENG', label: 'copse' })
      : trackerSource(settings, githubTracker({ paced, repository, label: 'copse' }));
  return { server, source };
}

const forbidden: Answer = { status: 403, body: { message: 'Resource not accessible by integration' } };
const broken: Answer = {
  status: 200,
  body: { errors: [{ message: 'Internal server error', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] },
};

it.each([
  ['github', forbidden, '9'],
  ['linear', broken, 'ENG-9'],
] as const)(
  'an item that %s does not show for another reason than its end is not closed',
  async (kind, fault, id) => {
    const { server, source } = await newSource(kind);
    server.file('Listed');
    server.instead.push(undefined, fault);
    const read = await source.read([known(id)]);
    expect(read).toMatchObject({ kind: 'read', items: [{ title: 'Listed' }], unread: [id] });
    expect(read.kind === 'read' && read.notes).toEqual([expect.stringContaining(`${id}: `)]);
    // It is gone: the server says so.
    expect(await source.read([known(id)])).toMatchObject({ kind: 'read', unread: [] });
  },
);

it('an item of another repository is not looked up here, and not told', async () => {
  const { server, source } = await newSource('github');
  server.file('Unlabelled', { label: '' });
  const elsewhere = known('1', 'https://github.com/octo/bushes/issues/1');
  expect(await source.read([elsewhere])).toMatchObject({ kind: 'read', items: [], unread: ['1'] });
  expect(await source.report?.(order(elsewhere, async () => true))).toMatchObject({ kind: 'refused' });
  expect(server.writes).toEqual([]);
});

it.each(['github', 'linear'] as const)('each write to %s needs the hold of the source', async (kind) => {
  const { server, source } = await newSource(kind);
  const { number } = server.file('One');
  const item = known(kind === 'linear' ? `ENG-${number}` : String(number));
  let asked = 0;
  const isOurs = async () => (asked += 1) < 2;
  expect(await source.report?.(order(item, isOurs))).toMatchObject({ kind: 'failed' });
  expect([server.writes.length, asked]).toEqual([1, 2]);
});

function order(item: KnownItem, isOurs: () => Promise<boolean>): ReportOrder {
  return { item, text: '<!-- m -->\ntext', marker: '<!-- m -->', label: 'copse:working', isOurs };
}
