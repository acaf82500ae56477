/**
 * Programs that others wrote read the OpenAPI document: a linter, and two generators whose clients do a day's work beside a
 * real server, a real orchestrator and an agent.
 */

import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { endAgents } from '../support/agents/scripted-agents.ts';
import { closeAtEnd } from '../support/close-at-end.ts';
import {
  answer,
  commitAsAgent,
  copse,
  finished,
  git,
  newArea,
  newRepository,
  startCopse,
} from '../support/cli.ts';
import type { ClientModule } from './api.ts';
import { type Account, Day } from './day.ts';
import { checkTypes, documentFile, generateClients, installTools, lint } from './generate.ts';

const area = newArea();
beforeAll(installTools);
afterAll(() => endAgents(area));

describe('the linter of Redocly', () => {
  test('finds no fault in the document, and warns of nothing', () => {
    expect(lint(documentFile)).toMatchObject({ status: 0 });
  });

  test('finds a fault that is put in', () => {
    const file = path.join(area, 'openapi.json');
    const text = readFileSync(documentFile, 'utf8');
    writeFileSync(file, text.replace('"operationId": "task.add"', '"operationId": "task.list"'));
    expect(lint(file)).toMatchObject({ status: 1, output: expect.stringContaining('operationId') as string });
    writeFileSync(file, text.replaceAll(/"description": "What needs a person\."/g, '"x-none": ""'));
    expect(lint(file)).toMatchObject({
      status: 1,
      output: expect.stringContaining('tag-description') as string,
    });
  });
});

describe('a generated client', () => {
  beforeAll(generateClients);

  test('has types that fit what a day asks of it', () => {
    expect(checkTypes()).toEqual({ status: 0, output: '' });
  });

  // No import can name them: parts of their code are written above.
  test.each(['with-openapi-fetch', 'with-hey-api'])(
    '%s does a day’s work, and the board holds exactly what it believes',
    async (name) => {
      const client = (await import(/* @vite-ignore */ `./${name}.ts`)) as ClientModule;
      const cwd = newPlaceOfWork();
      const { url, code, stop } = await serve(cwd);
      const day = await Day.begin(client, url, code);
      const orchestrator = Promise.withResolvers<() => Promise<void>>();
      const account = await day.live(() => orchestrator.resolve(start(['orchestrate'], cwd).stop));
      await (
        await orchestrator.promise
      )();
      await expectBoardAs(account, cwd);
      await stop();
    },
  );
});

async function expectBoardAs({ tasks, documents, events, plan }: Account, cwd: string): Promise<void> {
  const board = await answer<{ tasks: readonly { id: string }[] }>(['list', '--all'], { cwd });
  expect(board.tasks).toEqual(documents);
  expect(new Map(board.tasks.map((task) => [task.id, task]))).toMatchObject(tasks);
  expect(board.tasks).toHaveLength(tasks.size);
  for (const { id, ...believed } of withIds(tasks))
    expect(await answer(['show', id], { cwd })).toMatchObject(believed);
  expect(await answer(['plan', 'show', plan.id], { cwd })).toEqual(plan.document);
  const { stdout } = await copse(['events', '--json'], { cwd });
  const recorded = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  // The orchestrator says goodbye after the client.
  expect(recorded.slice(0, events.length)).toEqual(events);
  const statuses = Object.fromEntries(withIds(tasks).map(({ title, status }) => [title, status]));
  expect(statuses).toEqual({
    'Rename the loader': 'done',
    'Document the loader': 'done',
    'Paint the menu': 'done',
    'Write the index': 'cancelled',
    'Undo: Paint the menu': 'done',
  });
  const files = git(cwd, 'ls-tree', '--name-only', 'main').split('\n');
  const landed = withIds(tasks).filter(({ title }) => title.endsWith('the loader'));
  expect(files.filter((file) => file.startsWith('cp-'))).toEqual(
    landed.map(({ id }) => `${id}.txt`).toSorted(),
  );
}

function withIds(tasks: Account['tasks']) {
  return Array.from(tasks, ([id, believed]) => ({ id, ...believed }));
}

function newPlaceOfWork(): string {
  const cwd = newRepository(area);
  const program = path.join(mkdtempSync(path.join(area, 'agent ')), 'agent.mjs');
  copyFileSync(path.join(import.meta.dirname, 'agent.mjs'), program);
  const settings = {
    agents: { day: { runtime: 'acp', permissions: 'ask', command: [process.execPath, program] } },
    landing: { policy: 'review' },
    policy: {
      first_backoff: '100ms',
      poll_interval: '300ms',
      min_free_memory: '64MB',
      max_agents: 4,
      max_stuck_restarts: 0,
    },
  };
  writeFileSync(path.join(cwd, 'copse.yml'), JSON.stringify(settings, null, 2));
  commitAsAgent(cwd);
  git(cwd, 'add', '--all');
  git(cwd, 'commit', '--quiet', '--message=chore: set up');
  return cwd;
}

async function serve(cwd: string) {
  const { child, stop, printed } = start(['serve', '--port', '0'], cwd);
  const address = /^Serving the board at (\S+)\/api\/v1; [^]*#code=(\S+)$/m;
  while (!address.test(printed())) {
    if (child.exitCode !== null) throw new Error(printed());
    await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit')]);
  }
  const [, url = '', code = ''] = address.exec(printed()) ?? [];
  return { url, code, stop };
}

function start(argv: readonly string[], cwd: string) {
  const home = mkdtempSync(path.join(area, 'home '));
  const child = startCopse(argv, { cwd, env: { HOME: home } });
  closeAtEnd(() => child.kill('SIGKILL'));
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (part: Buffer) => (text += part.toString()));
  const ended = finished(child);
  const stop = async () => {
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 0 });
  };
  return { child, stop, printed: () => text };
}
