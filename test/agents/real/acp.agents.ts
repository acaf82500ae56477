/** The runtime `acp` with the real adapters of Claude and Codex. */

import path from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import { acpRuntime } from '../../../packages/copse/src/agents/runtimes/acp/runtime.ts';
import { writeInside } from '../../../packages/copse/src/workspaces/files/write-inside.ts';
import type { PermissionRequest, Runtime } from '../../../packages/copse/src/agents/ports/runtime.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import { saidTo, say, write } from '../../support/model-server/steps.ts';
import { endTurns, newTurn, pidsOf, until } from '../../support/records/turns.ts';
import { type AgentSettings, describeRuntime } from './contract.ts';
import { commandOf, environmentFor, newHome, removeHome } from './programs.ts';

function make(
  command: string | readonly string[],
  { permissions, systemPrompt, dollars }: AgentSettings,
): Runtime {
  return acpRuntime(
    {
      command,
      permissions,
      ...(systemPrompt !== undefined && { systemPrompt }),
      ...(dollars !== undefined && { dollars }),
    },
    openPrograms(),
    writeInside,
  );
}

describeRuntime('acp with Claude', {
  program: 'claude-acp',
  make: (settings) => make(commandOf('claude-acp'), settings),
  makeMissing: () => make('claude', { permissions: 'all' }),
  environment: { CLAUDE_CODE_MAX_RETRIES: '2' },
  tries: 12,
  contextTokens: 1_000_000,
});

describeRuntime('acp with Codex', {
  program: 'codex-acp',
  make: (settings) => make(commandOf('codex-acp'), settings),
  makeMissing: () => make('codex', { permissions: 'all' }),
  tries: 40,
  contextTokens: 258_400,
  without: {
    permission: 'its sandbox decides about commands without asking; it asks before it edits, see below',
  },
});

describe('Codex, asking before it edits', () => {
  const area = newArea();
  const home = newHome();
  let server: ModelServer;

  beforeAll(async () => {
    server = await startModelServer();
  });
  afterEach(endTurns);
  afterAll(async () => {
    await server.close();
    removeHome(home);
  });

  test('does what a person allows, and continues with a person’s message after a no', async () => {
    const repository = newRepository(area);
    server.script('edits', [
      write(path.join(repository, 'forbidden.txt'), 'x\n'),
      write(path.join(repository, 'allowed.txt'), 'x\n'),
      say('One of two.'),
    ]);
    const asked: PermissionRequest[] = [];
    const turn = newTurn(area);
    const running = await make(commandOf('codex-acp'), { permissions: 'ask' }).start({
      ...turn,
      folder: repository,
      environment: {
        ...environmentFor('codex-acp', server.url('edits'), home),
        COPSE_ATTEMPT_ID: turn.attempt,
      },
      mayUse: (permission) => {
        asked.push(permission);
        const isAllowed = !permission.what.includes('forbidden');
        return Promise.resolve({ isAllowed, message: isAllowed ? null : 'Ada says: not this one.' });
      },
    });
    expect(await running.ended).toMatchObject({ kind: 'completed', lastWords: 'One of two.' });
    expect(asked.map(({ what }) => path.basename(what))).toEqual(['forbidden.txt', 'allowed.txt']);
    expect(git(repository, 'status', '--porcelain')).toBe('?? allowed.txt');
    expect(saidTo(server.turns('edits').at(-1)!)).toContain('Ada says: not this one.');
  });

  test('waits for a person without a time limit, and can be stopped meanwhile', async () => {
    const repository = newRepository(area);
    server.script('waits', [write(path.join(repository, 'never.txt'), 'x\n')]);
    let isAsked = false;
    const turn = newTurn(area);
    const running = await make(commandOf('codex-acp'), { permissions: 'ask' }).start({
      ...turn,
      folder: repository,
      environment: {
        ...environmentFor('codex-acp', server.url('waits'), home),
        COPSE_ATTEMPT_ID: turn.attempt,
      },
      mayUse: () => {
        isAsked = true;
        return new Promise(() => {});
      },
    });
    await until(() => isAsked);
    await running.stop({ graceMs: 3_000 });
    expect(await running.ended).toEqual({ kind: 'cancelled' });
    expect(await pidsOf(turn)).toEqual([]);
    expect(git(repository, 'status', '--porcelain')).toBe('');
  });
});
