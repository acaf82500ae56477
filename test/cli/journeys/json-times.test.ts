/** Times in JSON are ISO 8601 everywhere: no reading command prints milliseconds since the epoch. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { createProgram } from '../../../packages/copse/src/cli/program/program.ts';
import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { type NodeId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { type RunOptions, answer, copse, newArea, printed } from '../../support/cli.ts';
import { someFacts } from '../../support/machines/nodes.ts';
import { oneOfEach, tell } from '../../support/records/stories.ts';
import { newProject, taken } from '../../support/workspaces/worktrees.ts';

const area = newArea();
let at: { readonly cwd: string };
let task: string;
let ref: string;
let job: string;
let artifact: string;

beforeAll(async () => {
  at = newProject(area);
  const schedule = 'hourly: { type: interval, interval: 1h, prompt: Look }';
  writeFileSync(
    path.join(at.cwd, 'copse.yml'),
    `agents: { c: { command: "true", schedules: { ${schedule} } } }\nsources: { lists: { type: markdown, files: [TODO.md] } }\n`,
  );
  await printed(['list'], at);
  ({ job } = await answer<{ job: string }>(['schedule', 'run', 'hourly'], at));
  await tell(at.cwd, oneOfEach, { plan: 'pl-aaaa' });
  const worked = await taken('Worked on', at);
  task = worked.task;
  writeFileSync(path.join(worked.worktree, 'mine'), 'x');
  await answer(['cleanup', task, '--force'], at);
  await answer(['undo', task], at);
  await join(at);
  await answer(['board', 'backup'], at);
  await answer(['ledger', 'add', 'learning', 'x', '--task', task], at);
  const plot = 'https://example.com/plot.png';
  ({ id: artifact } = await answer<{ id: string }>(['artifact', 'add', plot, '--task', task], at));
  ({
    rescues: [{ ref }],
  } = await answer<{ rescues: [{ ref: string }] }>(['rescue', 'list'], at));
  const logs = path.join(at.cwd, '.copse', 'logs', 'cp-aaaa');
  mkdirSync(logs, { recursive: true });
  writeFileSync(path.join(logs, 'at-aaaa.log'), 'one\ntwo\nthree\n');
});

/** A node that drains, with all its times. */
async function join(at: RunOptions): Promise<void> {
  const { board } = await openContext({ cwd: at.cwd, env: {} });
  const of = { id: brand<NodeId>('n-desk'), at: timestamp(Date.now()) };
  const by = { kind: 'person', name: null } as const;
  await board.transact((transaction) =>
    transaction.record(by, [
      { type: 'node.joined', ...of, name: 'desk', facts: someFacts },
      { type: 'node.drained', ...of, withinMs: 60_000, by: 'person' },
    ]),
  );
  await board.close();
}

/** Each command that reads, as it is called. */
const reading: Readonly<Record<string, () => readonly string[]>> = {
  list: () => ['list', '--all'],
  status: () => ['status'],
  inbox: () => ['inbox'],
  show: () => ['show', 'cp-kkkk'],
  why: () => ['why', 'cp-dddd'],
  events: () => ['events'],
  worktrees: () => ['worktrees', '--all', '--size'],
  agents: () => ['agents'],
  queue: () => ['queue'],
  radar: () => ['radar'],
  cost: () => ['cost'],
  stats: () => ['stats'],
  logs: () => ['logs', 'cp-aaaa'],
  'plan show': () => ['plan', 'show', 'pl-aaaa'],
  'plan list': () => ['plan', 'list'],
  'ledger list': () => ['ledger', 'list', task],
  'artifact list': () => ['artifact', 'list'],
  'artifact show': () => ['artifact', 'show', artifact],
  'rescue list': () => ['rescue', 'list'],
  'rescue show': () => ['rescue', 'show', ref],
  answer: () => ['answer', 'cp-bbbb'],
  review: () => ['review'],
  diff: () => ['diff', task],
  switch: () => ['switch', task],
  'board restore': () => ['board', 'restore'],
  'schedule list': () => ['schedule', 'list'],
  'schedule show': () => ['schedule', 'show', 'hourly'],
  'sources list': () => ['sources', 'list'],
  'sources show': () => ['sources', 'show', 'lists'],
  jobs: () => ['jobs'],
  'jobs show': () => ['jobs', 'show', job],
  'node list': () => ['node', 'list'],
  'node show': () => ['node', 'show', 'desk'],
  doctor: () => ['doctor'],
  config: () => ['config'],
  orchestrate: () => ['orchestrate', '--dry-run', '--command', 'true'],
};

/** They change something, and print records through the same views. */
const writing =
  /^(add|edit|delete|plan add|ledger add|artifact (add|get)|work|tend|sweep|cleanup|sync|finish|stuck|phase|heartbeat|notify|rescue (move|restore)|undo|restart|resume|pause|cancel|merge|queue \w+|schedule (run|pause|resume)|trigger|sources sync|node (drain|resume|leave|rename)|move|take-over|give-back|board (backup|migrate|rebuild)|import)$/;

interface Known {
  name(): string;
  readonly commands: readonly Known[];
  readonly options: readonly { readonly long?: string | undefined }[];
}

test('every command with --json is known here as reading or writing', () => {
  const cli = { version: '0', output: { raw() {}, note() {} }, cwd: '/', env: {}, stdin: process.stdin };
  const named = (command: Known, before: string): readonly string[] =>
    command.commands.flatMap((one) => {
      const name = `${before}${one.name()}`;
      const own = one.options.some(({ long }) => long === '--json') ? [name] : [];
      return [...own, ...named(one, `${name} `)];
    });
  const all = named(createProgram(cli as never), '');
  expect(all).toContain('list');
  expect(all.filter((name) => !(name in reading) && !writing.test(name))).toEqual([]);
});

test.each(Object.keys(reading))('%s', async (name) => {
  const { code, stdout, stderr } = await copse([...(reading[name]?.() ?? []), '--json'], at);
  expect({ code: code === 1 && name === 'doctor' ? 0 : code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = name === 'events' ? stdout.trim().split('\n') : [stdout];
  for (const line of lines) expect(millisecondsIn(JSON.parse(line), name)).toEqual([]);
});

/** Between 2001 and 2286: no count, size or number of tokens in these documents is as large. */
function millisecondsIn(value: unknown, at: string): readonly string[] {
  if (typeof value === 'number') return value > 1e12 && value < 1e13 ? [`${at}: ${value}`] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => millisecondsIn(inner, `${at}.${key}`));
}
