/** A whole board over HTTP: exported as a stream, and imported in one request. */

import { connect } from 'node:net';

import { expect, test } from 'vitest';

import { over } from '../../../packages/copse/src/board/over.ts';
import { copse, newArea, newRepository } from '../../support/cli.ts';
import { ask, newServed } from '../../support/server/served.ts';
import { call, called, serveRepository } from '../../support/server/served-repository.ts';

const area = newArea();

test('an export is what copse export prints, and more than a megabyte of it is imported', async () => {
  const cwd = newRepository(area);
  await using served = await serveRepository(cwd);
  const body = 'x'.repeat(90_000);
  for (let count = 0; count < 8; count += 1)
    await called(served, 'POST /tasks', { body: { title: `Task ${count}`, body } });
  const got = await ask(served, '/api/v1/export');
  expect(got).toMatchObject({ status: 200, headers: { 'content-type': 'application/jsonl' } });
  expect(got.body.length).toBeGreaterThan(1_100_000);
  expect(got.body === (await copse(['export'], { cwd })).stdout).toBe(true);
  await using other = await serveRepository(newRepository(area));
  const imported = await called(other, 'POST /board/import', { body: { text: got.body } });
  expect(imported).toEqual({ records: 8, events: 8 });
  // Only this operation takes so much.
  const large = { body: { title: 'x', body: 'x'.repeat(1_100_000) } };
  expect((await call(other, 'POST /tasks', large)).status).toBe(413);
});

test('a client that takes nothing stops the export, and only its own', async () => {
  const cwd = newRepository(area);
  await using served = await serveRepository(cwd);
  const body = 'x'.repeat(99_000);
  for (let count = 0; count < 90; count += 1)
    await called(served, 'POST /tasks', { body: { title: `Task ${count}`, body } });
  const socket = connect(served.port, '127.0.0.1');
  socket.pause();
  socket.on('error', () => {});
  socket.write(
    `GET /api/v1/export HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nAuthorization: Bearer ${served.server.keys.token}\r\n\r\n`,
  );
  // A client beside it is served, and the board is written meanwhile.
  await called(served, 'POST /tasks', { body: { title: 'Meanwhile' } });
  expect((await ask(served, '/api/v1/export')).status).toBe(200);
  socket.destroy();
  expect(served.problems).toEqual([]);
});

test('few exports run at a time, each for a limited time, however fast its client reads', async () => {
  const line = { line: 'event', text: 'x'.repeat(70_000) } as never;
  await using served = await newServed({
    limits: { exports: 2, exportMs: 500 },
    board: (board) =>
      over(board, {
        async exportTo(write) {
          for (;;) {
            await write(line);
            await new Promise((resolve) => setTimeout(resolve, 10));
          }
        },
      }),
  });
  const exporting = () => ask(served, '/api/v1/export').then(({ status }) => status, String);
  const both = [exporting(), exporting()];
  expect(await exporting()).toBe(503);
  expect(await Promise.all(both)).toEqual(['Error: aborted', 'Error: aborted']);
  expect(await exporting()).toBe('Error: aborted');
  expect(served.problems).toEqual([]);
});
