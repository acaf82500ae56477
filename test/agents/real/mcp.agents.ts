/** The tools of `copse mcp` in the hands of real programs: the protocol's own client, and Claude. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { shellWord } from '../../../packages/copse/src/kernel/shell.ts';
import {
  type TaskDocument,
  answer,
  cliFile,
  copse,
  newArea,
  newRepository,
  plainEnv,
  printed,
} from '../../support/cli.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import { call, run, saidTo, say, together } from '../../support/model-server/steps.ts';
import { startSession } from '../../support/records/sessions.ts';
import { newProject, openForTest } from '../../support/workspaces/workspaces.ts';
import { commandOf, environmentFor, newHome, removeHome } from './programs.ts';

const area = newArea();
const home = newHome();
let server: ModelServer;

beforeAll(async () => {
  server = await startModelServer();
});
afterAll(async () => {
  await server.close();
  removeHome(home);
});

/** As much of the protocol's own package as is used here. It comes with the Claude Agent SDK. */
interface ProtocolClient {
  connect(transport: unknown): Promise<void>;
  getServerVersion(): { readonly name: string };
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(request: { readonly name: string; readonly arguments: object }): Promise<unknown>;
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

async function protocolClient(transport: object): Promise<ProtocolClient> {
  const sdk = fileURLToPath(
    new URL('node_modules/@modelcontextprotocol/sdk/dist/esm/client/', import.meta.url),
  );
  const load = async (file: string) =>
    (await import(pathToFileURL(path.join(sdk, file)).href)) as Record<
      string,
      new (...given: readonly unknown[]) => unknown
    >;
  const { Client } = await load('index.js');
  const { StdioClientTransport } = await load('stdio.js');
  const client = new Client!({ name: 'test', version: '1.0.0' }) as ProtocolClient;
  await client.connect(new StdioClientTransport!(transport));
  return client;
}

test('the protocol’s own client accepts every answer', async () => {
  const project = await openForTest(newProject(path.join(area, 'own client')));
  const { task, at } = await startSession(project, await project.addTask());
  const client = await protocolClient({
    command: process.execPath,
    args: [cliFile, 'mcp'],
    env: { ...plainEnv, ...at.env },
    cwd: area,
  });
  try {
    expect(client.getServerVersion()).toMatchObject({ name: 'copse' });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('ledger_add');
    expect(await client.ping()).toEqual({});
    expect(await client.callTool({ name: 'phase', arguments: { phase: 'working' } })).toMatchObject({
      content: [{ type: 'text', text: `${task} is in phase working.` }],
      isError: false,
    });
    expect(await client.callTool({ name: 'finish', arguments: {} })).toMatchObject({ isError: true });
    await expect(client.callTool({ name: 'dance', arguments: {} })).rejects.toThrow(
      'There is no tool "dance"',
    );
  } finally {
    await client.close();
  }
});

const COMMIT = `echo done > work.txt && git add work.txt && git commit --quiet --message='feat: do it'`;

test('Claude notes, is told what is missing, finishes, and its work lands', async () => {
  const key = 'claude';
  const repository = newRepository(area);
  server.script(key, [
    call('finish', { summary: 'Too early' }),
    run(COMMIT),
    together(
      call('ledger_add', { kind: 'learning', text: 'Mind the gap' }),
      call('phase', { phase: 'working' }),
    ),
    call('finish', { summary: 'Did it' }),
    say('Finished.'),
  ]);
  const config = path.join(path.dirname(repository), 'mcp.json');
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { copse: { command: 'copse', args: ['mcp'], alwaysLoad: true } } }),
  );
  const argv = [
    ...commandOf('claude'),
    '--print',
    '--permission-mode=acceptEdits',
    `--mcp-config=${config}`,
    '--strict-mcp-config',
    '--allowedTools=Bash,mcp__copse',
  ];
  const line = `${argv.map(shellWord).join(' ')} < "$COPSE_PROMPT_FILE"`;
  const at = { cwd: repository, env: environmentFor('claude', server.url(key), home) };
  const { id } = await answer<TaskDocument>(['add', 'Do it'], at);
  const { stdout } = await copse(['orchestrate', '--until-idle', '--command', line], at);
  const log = await printed(['logs', id, '--all'], at);
  const heard = saidTo(server.turns(key).at(-1)!);
  expect({ stdout, log, heard }).toMatchObject({
    stdout: expect.stringContaining(`${id} landed as`),
    heard: expect.stringContaining(`${id} is not finished. Nothing was committed`),
  });
  expect(heard).toContain(`Added a learning to the ledger of ${id}.`);
  expect(heard).toContain(`Reported ${id} as finished.`);
  expect(server.left(key)).toBe(0);
  const ledger = await answer<{ entries: readonly object[] }>(['ledger', 'list', '--task', id], at);
  expect(ledger.entries).toContainEqual(expect.objectContaining({ kind: 'learning', text: 'Mind the gap' }));
  expect(await answer<TaskDocument>(['show', id], at)).toMatchObject({ status: 'done' });
});
