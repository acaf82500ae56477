/** A board of version 8: as before, and a work item of a source. */

import { version7 } from './version-7.ts';

const at = 1_700_000_005_000;
const by = { kind: 'person', name: null };
const seen = {
  id: 'github#12',
  source: 'github',
  item: '12',
  url: null,
  title: 'Old item',
  by: null,
  author: null,
  dependsOn: [],
  task: 'cp-old1',
};
const taken = { type: 'item.taken', at, mark: 'm1', ...seen };
const nothing = { isClosed: false, changedAt: null, report: null };
const item = { ...seen, mark: 'm1', given: 'm1', ...nothing, takenAt: at };
const number = version7.events.length + 1;

export const version8 = {
  ...version7,
  board: version7.board.map((board) => ({ ...board, version: 8, last_event: number })),
  items: [{ id: item.id, data: JSON.stringify(item), task: item.task, source: item.source, created_at: at }],
  events: [
    ...version7.events,
    {
      number,
      at,
      type: taken.type,
      subject: item.id,
      task: item.task,
      data: JSON.stringify({ by, event: taken }),
    },
  ],
};
