/** The runtime `gemini` with the real Gemini CLI, where it is installed and asked for. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import { geminiRuntime } from '../../../packages/copse/src/agents/runtimes/gemini/runtime.ts';
import type { HeadlessSettings } from '../../../packages/copse/src/agents/runtimes/headless-turn.ts';
import type { RuntimeEvent, Turn } from '../../../packages/copse/src/agents/ports/runtime.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import { fail, run, saidTo, say, write } from '../../support/model-server/steps.ts';
import { endTurns, newTurn } from '../../support/records/turns.ts';
import { conversationIn, describeRuntime } from './contract.ts';
import { commandOf, environmentFor, isInstalled, newHome, removeHome } from './programs.ts';

const isWanted = process.env['COPSE_MORE_AGENTS'] === '1' && isInstalled('gemini');

describe.skipIf(!isWanted)('Gemini CLI', () => {
  const program = isWanted ? commandOf('gemini') : (['gemini'] as const);
  const home = isWanted ? newHome() : '';
  const area = newArea();
  const environment = {
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: path.join(home, 'settings', 'settings.json'),
    // Where it leaves a report of each failure.
    TMPDIR: home,
  };
  let server: ModelServer;

  beforeAll(async () => {
    server = await startModelServer();
    // Without waiting long for a server that fails. It reads no such file from a folder that others can write.
    mkdirSync(path.join(home, 'settings'));
    writeFileSync(
      environment.GEMINI_CLI_SYSTEM_SETTINGS_PATH,
      JSON.stringify({ general: { maxAttempts: 2 } }),
    );
  });
  afterAll(async () => {
    await endTurns();
    await server.close();
    removeHome(home);
  });

  describeRuntime('gemini', {
    program: 'gemini',
    make: ({ permissions, systemPrompt }) =>
      geminiRuntime(
        { permissions, program, ...(systemPrompt !== undefined && { systemPrompt }) },
        openPrograms(),
      ),
    makeMissing: () =>
      geminiRuntime({ permissions: 'all', program: ['gemini-that-is-not-there'] }, openPrograms()),
    environment,
    tries: 4,
    contextTokens: 1_048_576,
  });

  function newWorktree(name: string): string {
    const worktree = path.join(home, name);
    git(newRepository(area), 'worktree', 'add', '--quiet', '-b', `copse/${name}`, worktree);
    return worktree;
  }

  async function work(
    key: string,
    settings: HeadlessSettings,
    changes: Partial<Turn>,
  ): Promise<{ readonly outcome: object; readonly events: readonly RuntimeEvent[] }> {
    const turn = newTurn(area, changes);
    const events: RuntimeEvent[] = [];
    const running = await geminiRuntime({ program, ...settings }, openPrograms()).start({
      ...turn,
      on: (event) => void events.push(event),
      environment: {
        ...environmentFor('gemini', server.url(key), home),
        ...environment,
        COPSE_ATTEMPT_ID: turn.attempt,
      },
    });
    return { outcome: await running.ended, events };
  }

  test('with accept_edits it edits, has no shell, and knows that Copse commits for it', async () => {
    const folder = newWorktree('edits');
    server.script('edits', [write(path.join(folder, 'hello.txt'), 'hello 林\n'), say('Edited.')]);
    const { outcome } = await work('edits', { permissions: 'accept_edits' }, { folder });
    expect(outcome).toEqual({ kind: 'completed', exitCode: 0, lastWords: 'Edited.' });
    expect(readFileSync(path.join(folder, 'hello.txt'), 'utf8')).toBe('hello 林\n');
    expect(saidTo(server.turns('edits')[0]!)).toContain('Copse commits them');
    const tools = server.turns('edits')[0]!.tools.map(({ name }) => name);
    expect(tools).toContain('write_file');
    expect(tools).not.toContain('run_shell_command');
  });

  test('with a list of tools it has only those, and a shell only for the commands in the list', async () => {
    const folder = newWorktree('listed');
    server.script('listed', [
      run('git status --short --branch'),
      run('touch forbidden.txt'),
      say('One of two.'),
    ]);
    const allow = ['run_shell_command(git)'];
    expect(await work('listed', { permissions: { allow } }, { folder })).toMatchObject({
      outcome: { kind: 'completed' },
    });
    expect(server.turns('listed')[0]!.tools.map(({ name }) => name)).not.toContain('write_file');
    expect(saidTo(server.turns('listed').at(-1)!)).toContain('## copse/listed');
    expect(git(folder, 'status', '--porcelain')).toBe('');
  });

  test('a prompt that begins with a slash reaches the model', async () => {
    const folder = newWorktree('slash');
    server.script('slash', [say('Helped.')]);
    await work('slash', { permissions: 'all' }, { folder, prompt: '/help is missing, add it' });
    expect(saidTo(server.turns('slash').at(-1)!)).toContain('/help is missing, add it');
  });

  test('starts a new conversation if its first request failed and was not kept', async () => {
    const folder = newWorktree('anew');
    server.script('anew', [fail(400)]);
    const one = await work('anew', { permissions: 'all' }, { folder });
    expect(one.outcome).toMatchObject({ kind: 'api_error' });
    server.script('anew', [say('Now.')]);
    const conversation = conversationIn(one.events);
    const two = await work('anew', { permissions: 'all' }, { folder, conversation });
    expect(two.outcome).toMatchObject({ kind: 'completed', lastWords: 'Now.' });
  });

  test('continues after its first request met a limit', async () => {
    const folder = newWorktree('limited');
    server.script('limited', Array<ReturnType<typeof fail>>(2).fill(fail(429)));
    const one = await work('limited', { permissions: 'all' }, { folder });
    expect(one.outcome).toMatchObject({ kind: 'limit' });
    server.script('limited', [say('Now.')]);
    const conversation = conversationIn(one.events);
    const two = await work('limited', { permissions: 'all' }, { folder, conversation });
    expect(two.outcome).toMatchObject({ kind: 'completed', lastWords: 'Now.' });
  });
});
