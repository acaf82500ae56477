/** A check and a teardown that start real Claude: through its own shell tool it tries all that an attempt tries. */

import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { git } from '../../support/cli.ts';
import { type ModelServer, startModelServer } from '../../support/model-server/server.ts';
import { run, saidTo, say } from '../../support/model-server/steps.ts';
import {
  Around,
  matrix,
  newDiskArea,
  noSandbox,
  quoted,
  readTried,
} from '../../support/agents/sandbox-matrix.ts';
import { Site } from '../../support/agents/sandbox-site.ts';
import { commandOf, environmentFor } from './programs.ts';

const COLUMNS = ['check', 'teardown'] as const;
type Column = (typeof COLUMNS)[number];

const area = newDiskArea();
let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const about = noSandbox === null ? '' : ` (skipped: ${noSandbox})`;

describe.runIf(noSandbox === null)(`real Claude in a check and in a teardown${about}`, () => {
  // promise: checks-confined, sandbox-files, sandbox-network, sandbox-hidden, sandbox-processes-end
  test('can read and write their worktree, and reach nothing else', { timeout: 240_000 }, async () => {
    const site = new Site(area);
    const around = await Around.open(site.place, site.folder);
    const model = new URL(server.url('any')).host;
    try {
      site.configure(
        {
          command: 'echo x > x && git add x && git commit --quiet --message="feat: x" && copse finish',
          sandbox_hosts: [model, `127.0.0.1:${around.modelPort}`],
        },
        {
          landing: {
            policy: 'auto',
            sandbox_hosts: [model],
            checks: { test: claudeIn('check', around, site) },
          },
          workspace: { teardown: [claudeIn('teardown', around, site)] },
        },
      );
      const id = await site.add('Try everything');
      git(site.folder, 'pack-refs', '--all');
      const before = site.unmoved(id);
      await site.orchestrate();
      const logs = path.join(site.folder, '.copse', 'logs');
      const [checked = ''] = readdirSync(path.join(logs, 'queue'));
      const said = {
        check: readFileSync(path.join(logs, 'queue', checked, 'test.log'), 'utf8'),
        teardown: readFileSync(path.join(logs, id, 'teardown-1.log'), 'utf8'),
      };
      for (const column of COLUMNS) {
        expect(said[column]).toContain('Claude tried everything.');
        expect({ column, ...readTried(said[column]) }).toEqual({
          column,
          did: matrix[column].allowed,
          couldNot: matrix[column].forbidden,
        });
        expect({ column, left: around.left(column) }).toEqual({ column, left: [] });
        // What Claude told its model is the output of its own tool.
        const last = server.turns(column).at(-1);
        const { allowed, forbidden } = matrix[column];
        expect(last && saidTo(last)).toContain(`tried ${allowed.length + forbidden.length}`);
      }
      expect(await site.task(id)).toMatchObject({ status: 'done' });
      expect(site.worktree(id)).toBe('');
      expect(site.unmoved(id)).toEqual(before);
    } finally {
      await around.close();
    }
  });
});

/** The command line of Claude without a terminal, which tries the rows of this column and prints what it could do. */
function claudeIn(column: Column, around: Around, site: Site): string {
  const worktree = '"${COPSE_WORKTREE_PATH:-.}"';
  const tried = `${worktree}/.copse/tried.txt`;
  server.script(column, [
    run(`sh ${quoted(around.scriptOf(column))} > /dev/null; echo "tried $(wc -l < ${tried})"`),
    say('Claude tried everything.'),
  ]);
  const bin = path.join(site.place, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = path.join(bin, `claude-${column}`);
  symlinkSync(commandOf('claude')[0], program);
  // HOME and PATH are those of the command; the sandbox says by which proxy hosts are reached.
  const beside = /^(HOME|PATH|CLAUDE_CONFIG_DIR|(https?|no)_proxy)$/i;
  const variables = Object.entries(environmentFor('claude', server.url(column), site.place)).filter(
    ([name]) => !beside.test(name) && !name.startsWith('GIT_'),
  );
  const script = path.join(site.place, `claude in ${column}.sh`);
  writeFileSync(
    script,
    [
      ...variables.map(([name, value]) => `export ${name}=${quoted(value)}`),
      'export CLAUDE_CONFIG_DIR="$(mktemp -d)"',
      `${quoted(program)} --print 'Try everything.' --dangerously-skip-permissions < /dev/null`,
      `cat ${tried}`,
      '',
    ].join('\n'),
  );
  return `sh ${quoted(script)}`;
}
