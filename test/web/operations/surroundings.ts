/** Schedules, sources, machines, settings, the board as a whole. */

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { expect } from 'vitest';

import { answer, git, printed } from '../../support/cli.ts';
import { ways } from './driver.ts';
import type { Step, StepsOf } from './step.ts';
import { leaving } from './world.ts';

export const intake: StepsOf = ({ cwd, addItem }, way): readonly Step[] => {
  const at = { cwd };
  const known = { job: '' };
  const jobs = async () => (await answer<{ jobs: readonly { id: string }[] }>(['jobs', '--all'], at)).jobs;
  const has = async (title: string) => expect(await printed(['list', '--all'], at)).toContain(title);
  const items = async () => {
    const { sources } = await answer<Synced>(['sources', 'sync', '--dry-run'], at);
    return sources.flatMap(({ steps }) => steps.map(({ item }) => item));
  };
  let before = 0;
  return [
    { name: 'schedule.list', shows: () => 'nightly' },
    {
      name: 'schedule.pause',
      fields: () => ({ schedule: 'nightly' }),
      async after() {
        expect(await printed(['schedule', 'show', 'nightly'], at)).toContain('paused');
      },
    },
    {
      name: 'schedule.resume',
      fields: () => ({ schedule: 'nightly' }),
      async after() {
        expect(await printed(['schedule', 'show', 'nightly'], at)).not.toContain('paused');
      },
    },
    { name: 'schedule.show', fields: () => ({ schedule: 'nightly' }), shows: () => 'nightly' },
    {
      name: 'schedule.run',
      async fields() {
        before = (await jobs()).length;
        return { schedule: 'nightly' };
      },
      async after() {
        expect(await jobs()).toHaveLength(before + 1);
      },
    },
    {
      name: 'trigger.run',
      fields: () => ({ trigger: 'c', prompt: `Look by ${way}` }),
      async after() {
        const all = await jobs();
        expect(all).toHaveLength(before + 2);
        known.job = all[0]?.id ?? '';
      },
    },
    { name: 'job.list', shows: () => known.job },
    { name: 'job.show', fields: () => ({ job: known.job }), shows: () => known.job },
    { name: 'source.list', shows: () => 'lists' },
    { name: 'source.show', fields: () => ({ source: 'lists' }), shows: () => 'lists' },
    {
      name: 'task.add_item',
      async fields() {
        const known = await items();
        addItem(`Item by ${way}`);
        const item = (await items()).find((one) => !known.includes(one));
        return { item: `lists#${item}` };
      },
      after: () => has(`Item by ${way}`),
    },
    {
      name: 'source.sync',
      fields() {
        addItem(`Synced by ${way}`);
        return { sources: 'lists' };
      },
      after: () => has(`Synced by ${way}`),
    },
  ];
};

interface Synced {
  readonly sources: readonly { readonly steps: readonly { readonly item: string }[] }[];
}

export const machines: StepsOf = ({ cwd }, way): readonly Step[] => {
  const node = async (name: string) => printed(['node', 'show', name], { cwd });
  const named = `machine-by-${way.replace(' ', '-')}`;
  return [
    { name: 'node.list', shows: () => 'two' },
    { name: 'node.show', fields: () => ({ node: 'n-one' }), shows: () => 'n-one' },
    { name: 'node.preview_drain', fields: () => ({ node: 'n-one' }) },
    {
      name: 'node.drain',
      fields: () => ({ node: 'n-one', withinMs: '300' }),
      async after() {
        expect(await node('n-one')).toMatch(/drain/);
      },
    },
    {
      name: 'node.resume',
      fields: () => ({ node: 'n-one' }),
      async after() {
        expect(await answer(['node', 'show', 'n-one'], { cwd })).not.toMatchObject({
          drain: expect.anything(),
        });
      },
    },
    {
      name: 'node.rename',
      fields: () => ({ node: 'n-one', name: named }),
      async after() {
        expect(await node('n-one')).toContain(named);
      },
    },
    {
      name: 'node.leave',
      fields: () => ({ node: leaving(way) }),
      async after() {
        expect(await printed(['node', 'list'], { cwd })).not.toContain(leaving(way).replace('n-', ''));
      },
    },
  ];
};

export const settings: StepsOf = ({ cwd, told, writeConfig }, way): readonly Step[] => {
  const at = { cwd };
  const maxAgents = 3 + ways.indexOf(way);
  let before = 0;
  const backups = () => {
    const folder = path.join(cwd, '.copse', 'backups');
    return existsSync(folder) ? readdirSync(folder).length : 0;
  };
  return [
    { name: 'config.show', shows: () => 'policy.max_agents' },
    { name: 'config.check' },
    { name: 'config.schema', shows: () => 'properties' },
    {
      name: 'config.pending',
      fields() {
        writeConfig({ max_agents: maxAgents });
        return {};
      },
      shows: () => 'copse.yml',
    },
    {
      name: 'config.accept',
      async after() {
        const { settings: all } = await answer<Settings>(['config', 'show'], at);
        expect(all.find(({ key }) => key === 'policy.max_agents')).toMatchObject({ value: maxAgents });
      },
    },
    {
      name: 'config.accept_remotes',
      fields() {
        const [verb, ...urls] = way === 'mouse' ? ['add'] : ['set-url'];
        git(cwd, 'remote', verb, 'origin', `/nowhere/${ways.indexOf(way)}`, ...urls);
        return {};
      },
      shows: () => `/nowhere/${ways.indexOf(way)}`,
      after: () => void git(cwd, 'config', 'remote.origin.skipFetchAll', 'true'),
    },
    {
      name: 'notice.test',
      fields() {
        before = told();
        return {};
      },
      after: () => expect(told()).toBe(before + 1),
    },
    { name: 'machine.check' },
    { name: 'agent.list', shows: () => 'c' },
    { name: 'agent.detect' },
    { name: 'cost.show', fields: () => ({ by: 'agent' }) },
    { name: 'stats.show', fields: () => ({ weeks: '4' }) },
    { name: 'event.list', fields: () => ({ last: '5' }) },
    {
      name: 'board.backup',
      fields() {
        before = backups();
        return {};
      },
      after: () => expect(backups()).toBeGreaterThan(before),
    },
  ];
};

interface Settings {
  readonly settings: readonly { readonly key: string; readonly value: unknown }[];
}
