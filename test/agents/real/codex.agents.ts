/** The runtime `codex` with the real Codex. */

import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import { codexRuntime } from '../../../packages/copse/src/agents/runtimes/codex/runtime.ts';
import { git, newArea, newRepository } from '../../support/cli.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import { run, saidTo, say, write } from '../../support/model-server/steps.ts';
import { endTurns, newTurn } from '../../support/records/turns.ts';
import { describeRuntime } from './contract.ts';
import { commandOf, environmentFor, newHome, removeHome } from './programs.ts';

const program = commandOf('codex');

describeRuntime('codex', {
  program: 'codex',
  make: ({ permissions, systemPrompt }) =>
    codexRuntime(
      { permissions, program, ...(systemPrompt !== undefined && { systemPrompt }) },
      openPrograms(),
    ),
  makeMissing: () =>
    codexRuntime({ permissions: 'all', program: ['codex-that-is-not-there'] }, openPrograms()),
  tries: 8,
  contextTokens: 258_400,
});

const area = newArea();
const home = newHome();
let server: ModelServer;

beforeAll(async () => {
  server = await startModelServer();
});
afterAll(async () => {
  await endTurns();
  await server.close();
  removeHome(home);
});

test('with accept_edits Codex edits, cannot commit, and knows that Copse commits for it', async () => {
  // In its sandbox the folder for temporary files can be written, and so could a repository there.
  const repository = newRepository(home);
  const worktree = path.join(home, 'worktree');
  git(repository, 'worktree', 'add', '--quiet', '-b', 'copse/one', worktree);
  const outside = path.join(home, 'outside');
  mkdirSync(outside);
  server.script('edits', [
    write(path.join(worktree, 'hello.txt'), 'hello 林\n'),
    run(`git add --all && git commit --message=x || echo could not commit`),
    run(`touch '${outside}/x' || echo could not write outside`),
    say('Edited.'),
  ]);
  const turn = newTurn(area);
  const running = await codexRuntime({ permissions: 'accept_edits', program }, openPrograms()).start({
    ...turn,
    folder: worktree,
    environment: {
      ...environmentFor('codex', server.url('edits'), home),
      COPSE_ATTEMPT_ID: turn.attempt,
    },
  });
  expect(await running.ended).toEqual({ kind: 'completed', exitCode: 0, lastWords: 'Edited.' });
  expect(readFileSync(path.join(worktree, 'hello.txt'), 'utf8')).toBe('hello 林\n');
  expect(git(worktree, 'status', '--porcelain')).toBe('?? hello.txt');
  const told = saidTo(server.turns('edits').at(-1)!);
  for (const text of ['Copse commits them', 'could not commit', 'could not write outside'])
    expect(told).toContain(text);
  expect(readFileSync(turn.log, 'utf8')).toContain('Edited.');
});
