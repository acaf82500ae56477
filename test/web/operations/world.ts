/** A repository in which every operation can be done three times. */

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { openContext } from '../../../packages/copse/src/compose/open.ts';
import { type NodeId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { type TaskDocument, answer, git, newRepository, printed } from '../../support/cli.ts';
import { someFacts } from '../../support/machines/nodes.ts';
import { ends, tell } from '../../support/records/stories.ts';
import { type OwnTmux, tellRunning } from '../../support/server/output.ts';
import { type Way, ways } from './driver.ts';

/** A letter for each way, in the ids of what is there for it. */
const letters: Readonly<Record<Way, string>> = { mouse: 'm', keyboard: 'k', 'command line': 'n' };

export const asking = (way: Way) => `cp-${letters[way]}qqq`;
export const inTmux = (way: Way) => `cp-${letters[way]}ttt`;
export const reviewed = (way: Way) => `cp-${letters[way]}www`;
export const movable = (way: Way) => `cp-${letters[way]}vvv`;
export const leaving = (way: Way) => `n-leaves-${letters[way]}`;

export interface World {
  readonly cwd: string;
  /** Notifications that came to the address of `copse.yml`. */
  readonly told: () => number;
  readonly writeConfig: (policy: object) => void;
  /** Adds an item to the list that is a source. */
  readonly addItem: (title: string) => void;
  readonly end: () => Promise<void>;
}

export async function newWorld(area: string, tmux: OwnTmux): Promise<World> {
  const cwd = newRepository(area);
  let told = 0;
  const hook = createServer((_, response) => {
    told += 1;
    response.end();
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  const webhook = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`;
  const items: string[] = [];
  const world: World = {
    cwd,
    told: () => told,
    writeConfig: (policy) => {
      const schedules = { nightly: { type: 'cron', cron: '0 6 1 1 *', prompt: 'Tidy' } };
      const config = {
        // It works until it is stopped.
        agents: { c: { command: 'exec sleep 600', schedules } },
        landing: { policy: 'review' },
        sources: { lists: { type: 'markdown', files: ['TODO.md'] } },
        notifications: { desktop: false, bell: false, webhook },
        policy,
      };
      writeFileSync(path.join(cwd, 'copse.yml'), JSON.stringify(config));
    },
    addItem: (title) => {
      items.push(`- [ ] ${title}\n`);
      writeFileSync(path.join(cwd, 'TODO.md'), items.join(''));
      git(cwd, 'add', 'TODO.md');
      git(cwd, 'commit', '--quiet', `--message=${title}`);
    },
    end: () => new Promise((resolve) => hook.close(() => resolve())),
  };
  world.writeConfig({});
  writeFileSync(path.join(cwd, 'report.txt'), 'A report\n');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '--quiet', '--message=set up');
  await printed(['list'], { cwd });
  for (const way of ways) {
    const letter = letters[way];
    await tell(cwd, [
      { id: `${letter}qqq`, title: `Asks ${way}`, minutes: 2, agent: 'c', end: ends.asking },
      { id: `${letter}www`, title: `Reviewed ${way}`, minutes: 2, agent: 'c', end: ends.review },
      { id: `${letter}vvv`, title: `Moves ${way}`, minutes: 2, definition: {} },
    ]);
    await tellRunning(cwd, `${letter}ttt`);
    tmux.start(inTmux(way), 'exec cat');
  }
  await join(cwd, ['n-one', 'n-two', ...ways.map((way) => leaving(way))]);
  return world;
}

async function join(cwd: string, ids: readonly string[]): Promise<void> {
  const { board } = await openContext({ cwd, env: {} });
  const at = timestamp(Date.now());
  await board.transact((change) =>
    change.record(
      { kind: 'person', name: null },
      ids.map((id) => ({
        type: 'node.joined' as const,
        id: brand<NodeId>(id),
        at,
        name: id.replace('n-', ''),
        facts: someFacts,
      })),
    ),
  );
  await board.close();
}

export async function shownTask(id: string, cwd: string): Promise<Readonly<Record<string, unknown>>> {
  return answer(['show', id], { cwd });
}

/** A machine that takes work: it was just heard from. */
export async function hear(node: string, cwd: string): Promise<void> {
  const { board } = await openContext({ cwd, env: {} });
  await board.seeNode(brand<NodeId>(node));
  await board.close();
}

/** A task that a person works on by hand. */
export async function taken(title: string, cwd: string): Promise<Taken> {
  const { id } = await answer<TaskDocument>(['add', title], { cwd });
  return answer<Taken>(['work', id], { cwd });
}

interface Taken {
  readonly task: string;
  readonly worktree: string;
}
