import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

import { describe, expect, onTestFinished, test } from 'vitest';

import { portProbe } from '../../../packages/copse/src/workspaces/files/port-probe.ts';
import type { Context, Outcome } from '../../../packages/copse/src/board/context.ts';
import {
  type LeasedPorts,
  leasePorts,
  releasePorts,
} from '../../../packages/copse/src/workspaces/act/ports-of-sessions.ts';
import { type NodeId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type { Board } from '../../../packages/copse/src/board/port.ts';
import { contextOf, engines, newPlace } from '../../support/board/boards.ts';
import { finished } from '../../support/cli.ts';
import { must } from '../../support/records/tasks.ts';
import { bundleWorker } from '../../support/agents/worker-program.ts';

const node = brand<NodeId>('no-1');
const elsewhere = brand<NodeId>('no-2');
const worker = bundleWorker(new URL('../../support/workspaces/port-worker.ts', import.meta.url));

/** Ports far from those that other tests and other programs use. */
function within(board: Board, from: number, to: number): Context {
  const context = contextOf(board);
  return { ...context, policy: { ...defaultPolicy, ports: { from, to, perSession: 1 } } };
}

function listen(port: number, host: string): Promise<void> {
  const server = createServer();
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, ipv6Only: host.includes(':') }, resolve);
  });
}

describe.each(engines)('ports on %s', (engine) => {
  test('are a holder’s own until given back, and the same each time', async () => {
    await using place = await newPlace(engine);
    const context = within(await place.open(), 24_100, 24_139);
    const one = must(await leasePorts(context, portProbe, { holder: 'se-1', node, count: 2 }));
    const two = must(await leasePorts(context, portProbe, { holder: 'se-2', node }));
    expect(one.ports).toHaveLength(2);
    expect(new Set([...one.ports, ...two.ports]).size).toBe(3);
    expect(must(await leasePorts(context, portProbe, { holder: 'se-1', node, count: 2 }))).toEqual(one);
    expect(await releasePorts(context, { holder: 'se-1', node })).toEqual(one.ports);
    expect(await releasePorts(context, { holder: 'se-1', node })).toEqual([]);
    expect(must(await leasePorts(context, portProbe, { holder: 'se-2', node }))).toEqual(two);
    expect(must(await leasePorts(context, portProbe, { holder: 'se-3', node })).ports).toEqual(
      one.ports.slice(0, 1),
    );
  });

  test('of two machines are independent', async () => {
    await using place = await newPlace(engine);
    const context = within(await place.open(), 24_140, 24_159);
    const here = must(await leasePorts(context, portProbe, { holder: 'se-1', node }));
    const there = must(await leasePorts(context, portProbe, { holder: 'se-2', node: elsewhere }));
    expect(there.ports).toEqual(here.ports);
    await releasePorts(context, { holder: 'se-2', node });
    expect(must(await leasePorts(context, portProbe, { holder: 'se-2', node: elsewhere }))).toEqual(there);
  });

  test('that sixteen processes want at once are all different, and each process keeps its own', async () => {
    await using place = await newPlace(engine);
    await place.open();
    const holders = Array.from({ length: 16 }, (_, index) => `se-${index}`);
    const lease = async (holder: string): Promise<LeasedPorts> => {
      const child = spawn(process.execPath, [worker.file, JSON.stringify(place.address), holder], {
        env: { ...process.env, ...worker.env },
      });
      const { stdout, stderr } = await finished(child);
      if (stdout === '') throw new Error(stderr);
      return must(JSON.parse(stdout) as Outcome<LeasedPorts>);
    };
    const first = await Promise.all(holders.map(lease));
    expect(new Set(first.flatMap((one) => one.ports)).size).toBe(32);
    const second = await Promise.all(holders.slice(0, 4).map(lease));
    expect(second.map((one) => one.ports)).toEqual(first.slice(0, 4).map((one) => one.ports));
  });

  test('asked for by two processes of one session at once are the same', async () => {
    await using place = await newPlace(engine);
    const contexts = [within(await place.open(), 24_160, 24_199), within(await place.open(), 24_160, 24_199)];
    const both = await Promise.all(
      contexts.map((context) => leasePorts(context, portProbe, { holder: 'se-1', node })),
    );
    await Promise.all(contexts.map((context) => leasePorts(context, portProbe, { holder: 'se-1', node })));
    expect(both.every((one) => one.kind === 'done')).toBe(true);
    const held = (await contexts[0]?.board.list('resource'))?.filter((one) => one.holder === 'se-1');
    expect(held).toHaveLength(1);
  });
});

describe('a port', () => {
  test.each(['127.0.0.1', '0.0.0.0', '::1', '::'])(
    'on which a program listens at %s is skipped',
    async (host) => {
      await using place = await newPlace('sqlite');
      const context = within(await place.open(), 24_200, 24_202);
      await listen(24_200, host);
      expect(must(await leasePorts(context, portProbe, { holder: 'se-1', node })).ports).toEqual([24_201]);
    },
  );

  test('that is leased stays leased when a program listens there, with a note', async () => {
    await using place = await newPlace('sqlite');
    const context = within(await place.open(), 24_203, 24_206);
    const before = must(await leasePorts(context, portProbe, { holder: 'se-1', node }));
    expect(before).toEqual({ ports: [24_203], occupied: [] });
    await listen(24_203, '127.0.0.1');
    expect(must(await leasePorts(context, portProbe, { holder: 'se-1', node }))).toEqual({
      ports: [24_203],
      occupied: [24_203],
    });
  });

  test('is refused with a sentence when none is left', async () => {
    await using place = await newPlace('sqlite');
    const context = within(await place.open(), 24_207, 24_207);
    must(await leasePorts(context, portProbe, { holder: 'se-1', node }));
    expect(await leasePorts(context, portProbe, { holder: 'se-2', node })).toMatchObject({
      kind: 'refused',
      refusal: { reason: 'se-2 needs a port, and from 24207 to 24207 none is free on this machine.' },
    });
  });
});
