/** The runtime `opencode` with the real opencode, where it is installed and asked for. */

import { readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import { opencodeRuntime } from '../../../packages/copse/src/agents/runtimes/opencode/runtime.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import { run, saidTo, say, write } from '../../support/model-server/steps.ts';
import { endTurns, newTurn } from '../../support/records/turns.ts';
import { describeRuntime } from './contract.ts';
import { commandOf, environmentFor, isInstalled, newHome, removeHome } from './programs.ts';

const isWanted = process.env['COPSE_MORE_AGENTS'] === '1' && isInstalled('opencode');

describe.skipIf(!isWanted)('opencode', () => {
  const program = isWanted ? commandOf('opencode') : (['opencode'] as const);
  const home = isWanted ? newHome() : '';
  const area = newArea();
  let server: ModelServer;

  beforeAll(async () => {
    server = await startModelServer();
  });
  afterAll(async () => {
    await endTurns();
    await server.close();
    removeHome(home);
  });

  describeRuntime('opencode', {
    program: 'opencode',
    make: ({ permissions, systemPrompt }) =>
      opencodeRuntime(
        { permissions, program, ...(systemPrompt !== undefined && { systemPrompt }) },
        openPrograms(),
      ),
    makeMissing: () =>
      opencodeRuntime({ permissions: 'all', program: ['opencode-that-is-not-there'] }, openPrograms()),
    tries: 8,
    without: {
      context:
        'It does not print its context size, and summarizes the conversation before it reaches this case’s assumed share.',
    },
  });

  test('with accept_edits it edits, has no shell, and knows that Copse commits for it', async () => {
    const folder = path.join(home, 'worktree');
    git(newRepository(area), 'worktree', 'add', '--quiet', '-b', 'copse/edits', folder);
    server.script('edits', [write(path.join(folder, 'hello.txt'), 'hello 林\n'), say('Edited.')]);
    const turn = newTurn(area, { folder });
    const running = await opencodeRuntime({ permissions: 'accept_edits', program }, openPrograms()).start({
      ...turn,
      environment: {
        ...environmentFor('opencode', server.url('edits'), home),
        COPSE_ATTEMPT_ID: turn.attempt,
      },
    });
    expect(await running.ended).toEqual({ kind: 'completed', exitCode: 0, lastWords: 'Edited.' });
    expect(readFileSync(path.join(folder, 'hello.txt'), 'utf8')).toBe('hello 林\n');
    expect(saidTo(server.turns('edits')[0]!)).toContain('Copse commits them');
    const tools = server.turns('edits')[0]!.tools.map(({ name }) => name);
    expect(tools).toContain('write');
    expect(tools).not.toContain('bash');
  });

  test('works in its folder, whatever folder the environment names', async () => {
    const folder = path.join(home, 'here');
    git(newRepository(area), 'worktree', 'add', '--quiet', '-b', 'copse/here', folder);
    server.script('here', [run('pwd -P > where.txt'), say('Looked.')]);
    const turn = newTurn(area, { folder });
    const running = await opencodeRuntime({ permissions: 'all', program }, openPrograms()).start({
      ...turn,
      environment: {
        ...environmentFor('opencode', server.url('here'), home),
        PWD: area,
        COPSE_ATTEMPT_ID: turn.attempt,
      },
    });
    expect(await running.ended).toMatchObject({ kind: 'completed' });
    expect(readFileSync(path.join(folder, 'where.txt'), 'utf8').trim()).toBe(realpathSync(folder));
  });
});
