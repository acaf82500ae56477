/** The matrix of the sandbox, tried by real Claude through its own shell tool; and its conversation outlives the sandbox. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { answer, copse, git, newRepository, commitAsAgent } from '../../support/cli.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import { run, saidTo, say } from '../../support/model-server/steps.ts';
import {
  Around,
  matrix,
  newDiskArea,
  noSandbox,
  quoted,
  pathWithSandbox,
} from '../../support/agents/sandbox-matrix.ts';
import { commandOf, environmentFor, newHome, removeHome } from './programs.ts';

const area = newDiskArea();
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const homes: string[] = [];
afterEach(() => homes.splice(0).forEach(removeHome));

const about = noSandbox === null ? '' : ` (skipped: ${noSandbox})`;

describe.runIf(noSandbox === null)(`real Claude in the sandbox of sandbox-runtime${about}`, () => {
  // promise: sandbox-files, sandbox-network
  test.each(['claude', 'claude-sdk'] as const)(
    'through %s it can do its work and reach its model, and cannot change anything else',
    { timeout: 240_000 },
    async (runtime) => {
      const folder = newRepository(area);
      const place = path.join(area, `around ${runtime}`);
      const bin = path.join(place, 'bin');
      mkdirSync(bin, { recursive: true });
      commitAsAgent(folder);
      writeFileSync(path.join(folder, 'tracked.txt'), 'tracked\n');
      writeFileSync(path.join(folder, '.gitignore'), 'node_modules\n');
      symlinkSync(commandOf('claude')[0], path.join(bin, 'claude'));
      git(folder, 'add', '--all');
      git(folder, 'commit', '--quiet', '--message=chore: begin');
      const around = await Around.open(place, folder);
      const home = newHome();
      homes.push(home);
      Around.furnishHome(home);
      const key = `sandbox-${runtime}`;
      const { PATH: _, ...environment } = environmentFor('claude', server.url(key), home);
      const proxies = /^(https?|no)_proxy$/i;
      const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !proxies.test(name)));
      const config = {
        agents: {
          claude: {
            runtime,
            permissions: 'all',
            sandbox: 'runtime',
            sandbox_hosts: [`127.0.0.1:${around.modelPort}`],
            env,
          },
        },
        landing: { policy: 'review' },
      };
      writeFileSync(path.join(folder, 'copse.yml'), JSON.stringify(config));
      git(folder, 'add', '--all');
      git(folder, 'commit', '--quiet', '--message=chore: agents');
      server.script(key, [
        run(`sh ${quoted(around.script)}; echo "tried $(wc -l < .copse/tried.txt)"`),
        run('copse finish --summary "all tried"'),
        say('I am done.'),
      ]);
      const at = { cwd: folder, env: { HOME: home, PATH: `${bin}:${pathWithSandbox(place)}` } };
      try {
        const { id } = await answer<{ readonly id: string }>(['add', 'Try everything'], at);
        const { code } = await copse(['orchestrate', '--until-idle'], at);
        // It waits for a review.
        expect(code).toBe(5);
        const worktree = path.join(folder, '.worktrees', id);
        const inside = around.tried(worktree);
        expect(inside.did).toEqual(matrix.allowed);
        expect(inside.couldNot).toEqual(matrix.forbidden);
        expect(await answer(['show', id], at)).toMatchObject({ status: 'in_review' });
        expect(git(folder, 'status', '--porcelain')).toBe('');
        expect(around.left('attempt')).toEqual([]);
        const last = server.turns(key).at(-1);
        expect(last && saidTo(last)).toContain(`tried ${matrix.allowed.length + matrix.forbidden.length}`);
        expect(server.left(key)).toBe(0);

        await around.tryOutside(worktree, id, home);
        expect(around.tried(worktree).couldNot).toEqual([]);
      } finally {
        await around.close();
      }
    },
  );
});
