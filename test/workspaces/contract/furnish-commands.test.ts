import { chmodSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { describe, expect, onTestFinished, test } from 'vitest';

import { type AttemptId, type CommitId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { openTrustedDir } from '../../../packages/copse/src/git/directory/trusted-dir.ts';
import { furnishingGit } from '../../../packages/copse/src/workspaces/files/furnish-git.ts';
import { runCommands } from '../../../packages/copse/src/workspaces/files/commands.ts';
import {
  type CommandConfinement,
  workspaceFurnishing,
} from '../../../packages/copse/src/workspaces/files/furnish.ts';
import { openLeftovers } from '../../../packages/copse/src/workspaces/trash/leftovers.ts';
import { newArea } from '../../support/cli.ts';
import { newFixture, teardownsIn, write } from '../../support/workspaces/furnishing.ts';

const area = newArea();

const isLinux = existsSync('/proc/self/stat');

describe('setup commands', () => {
  test('run in the worktree, in order, with their variables, and their output is kept', async () => {
    const { root, worktree, furnish } = newFixture(area, {});
    const before = { ...process.env };
    const report = await furnish(
      { setup: ['pwd; echo "$COPSE_TASK_ID $COPSE_PORT"; echo oops >&2', 'cat; echo second > made'] },
      { env: { COPSE_TASK_ID: 'cp-1', COPSE_PORT: '4100' } },
    );
    expect(report.setup).toEqual({ kind: 'done', ran: 2 });
    const log = path.join(root, '.copse/logs/cp-1/setup-1.log');
    expect(readFileSync(log, 'utf8').split('\n').slice(1)).toEqual([worktree, 'cp-1 4100', 'oops', '']);
    expect(readFileSync(path.join(worktree, 'made'), 'utf8')).toBe('second\n');
    expect(process.env).toEqual(before);
  });

  test('do not work on the repository that Copse was started for', async () => {
    const { worktree, furnish } = newFixture(area, {});
    process.env['GIT_DIR'] = '/nowhere';
    onTestFinished(() => void delete process.env['GIT_DIR']);
    expect(await furnish({ setup: ['git rev-parse --show-toplevel > top'] })).toMatchObject({
      setup: { kind: 'done' },
    });
    expect(readFileSync(path.join(worktree, 'top'), 'utf8')).toBe(`${worktree}\n`);
  });

  test('stop at the first failure, which is reported with its last lines, and are run again next time', async () => {
    const { root, worktree, furnish } = newFixture(area, {});
    const setup = ['echo x >> runs', 'seq 100; test -e repaired || exit 7', 'echo y >> after'];
    const { setup: outcome } = await furnish({ setup });
    expect(outcome).toMatchObject({ kind: 'failed', command: setup[1], because: 'exit', code: 7 });
    if (outcome.kind === 'done') throw new Error('it failed');
    expect(outcome.tail).toEqual(Array.from({ length: 40 }, (_, index) => String(61 + index)));
    expect(outcome.log).toBe(path.join(root, '.copse/logs/cp-1/setup-2.log'));
    expect(existsSync(path.join(worktree, 'after'))).toBe(false);
    write(worktree, { repaired: '' });
    expect((await furnish({ setup })).setup).toEqual({ kind: 'done', ran: 3 });
    expect((await furnish({ setup })).setup).toEqual({ kind: 'done', ran: 0 });
    expect(readFileSync(path.join(worktree, 'runs'), 'utf8')).toBe('x\nx\n');
  });

  // promise: sandbox-commands
  test('run without a sandbox in files of the base only, also for a later worker of the task', async () => {
    const { root, request } = newFixture(area, {});
    const dir = openTrustedDir({ commonDir: path.join(root, '.git'), home: root });
    const opened: string[] = [];
    const confinement: CommandConfinement = {
      isNeeded: ({ agent }, recorded) => Promise.resolve(recorded === true || agent === 'confined'),
      open: ({ step }) => {
        opened.push(step);
        const sandbox = { wrap: <P>(program: P) => program, close: () => {} };
        const environment = { PATH: process.env['PATH'] ?? '' };
        return Promise.resolve({ sandbox, attempt: brand<AttemptId>('at-1'), environment });
      },
    };
    const teardowns = () => teardownsIn(root);
    const furnishing = workspaceFurnishing(furnishingGit(dir), { confinement, teardowns });
    const openedBy = async (agent: string, setup: string, isAsBase: boolean) => {
      const settings = { ...request.settings, setup: [setup] };
      await furnishing.furnish({ ...request, settings, isAsBase, agent: brand(agent) });
      return opened.splice(0);
    };
    const record = request.record ?? '';
    expect(await openedBy('confined', 'exit 1', true)).toEqual([]);
    // Reused: no agent was started after the failure.
    expect(await openedBy('confined', 'true', false)).toEqual([]);
    expect(await openedBy('confined', 'exit 1', false)).toEqual([]);
    furnishing.startOver(record);
    expect(await openedBy('person', 'exit 1', false)).toEqual(['setup']);
    expect(await openedBy('person', 'true', false)).toEqual(['setup']);
    const [settings, leftovers] = [{ ...request.settings, teardown: ['true'] }, openLeftovers(dir)];
    await furnishing.dismantle({ ...request, settings, agent: null });
    expect(opened.splice(0)).toEqual(['teardown']);
    await leftovers.deleteLock(request.task);
    expect(existsSync(record)).toBe(true);
    furnishing.startOver(record);
    await leftovers.deleteLock(request.task);
    expect(existsSync(record)).toBe(false);
  });

  test('that a signal ended are reported as a shell does', async () => {
    const { furnish } = newFixture(area, {});
    expect((await furnish({ setup: ['kill -KILL $$'] })).setup).toMatchObject({
      kind: 'failed',
      because: 'exit',
      code: 137,
    });
  });

  test('that cannot be started are distinguished from those that fail', async () => {
    const { root, worktree, request } = newFixture(area, {});
    const outcome = await runCommands({
      name: 'setup',
      commands: ['true'],
      folder: path.join(worktree, 'missing'),
      env: request.env,
      timeoutMs: 30_000,
      logFolder: path.join(root, '.copse', 'logs'),
    });
    expect(outcome).toMatchObject({ kind: 'failed', because: 'not_started', code: null });
  });

  test.runIf(isLinux)('that time out are ended with every process they started, daemons too', async () => {
    const { worktree, furnish } = newFixture(area, {});
    // One ignores being asked, one has left the process group, and one has left its parents as well.
    const setup = [
      `trap '' TERM
       sleep 300 & echo $! >> pids
       setsid sh -c 'echo $$ >> pids; exec sleep 300' &
       (setsid sh -c 'echo $$ >> pids; trap "" TERM; sleep 300; true' &)
       echo $$ >> pids
       sleep 300; sleep 300`,
    ];
    const { setup: outcome } = await furnish({ setup, commandTimeoutMs: 700 });
    expect(outcome).toMatchObject({ kind: 'failed', because: 'timeout', code: null });
    const pids = readFileSync(path.join(worktree, 'pids'), 'utf8').trim().split('\n').map(Number);
    expect(pids).toHaveLength(4);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(process.kill(process.pid, 0)).toBe(true);
  });

  test.runIf(isLinux)('that succeed leave their processes running', async () => {
    const { worktree, furnish } = newFixture(area, {});
    expect((await furnish({ setup: ['sleep 300 & echo $! > pid'] })).setup).toEqual({ kind: 'done', ran: 1 });
    const pid = Number(readFileSync(path.join(worktree, 'pid'), 'utf8'));
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    await setTimeout(100);
    expect(isRunning(pid)).toBe(true);
  });
});

describe('teardown commands', () => {
  test('reach the worktree through a variable, and have a log of their own', async () => {
    const { root, worktree, request, furnishing } = newFixture(area, {});
    const settings = { ...request.settings, teardown: ['echo bye | tee "$COPSE_WORKTREE_PATH/gone"'] };
    expect(await furnishing.dismantle({ ...request, settings })).toEqual({ kind: 'done', ran: 1 });
    expect(readFileSync(path.join(worktree, 'gone'), 'utf8')).toBe('bye\n');
    expect(existsSync(path.join(root, '.copse/logs/cp-1/teardown-1.log'))).toBe(true);
  });

  // promise: teardown-from-base
  test('run the scripts of the base, with the files beside them, whatever the agent wrote', async () => {
    const { worktree, request, furnishing } = newFixture(area, {
      tracked: {
        '.gitignore': '.env\n',
        'scripts/down.sh': '. "$(dirname "$0")/lib.sh"; cat .env; say "in ${PWD##*/}"\n',
        'scripts/lib.sh': 'say() { echo "base $1" > "$COPSE_WORKTREE_PATH/said"; }\n',
        Makefile: 'down:\n\t@echo base >> "$(COPSE_WORKTREE_PATH)/made"\n',
      },
      others: { '.env': 'PORT=1\n' },
    });
    write(worktree, {
      'scripts/down.sh': 'echo agent > said\n',
      'scripts/lib.sh': 'say() { echo agent > "$COPSE_WORKTREE_PATH/said"; }\n',
      Makefile: 'down:\n\techo agent >> "$(COPSE_WORKTREE_PATH)/made"\n',
    });
    const teardown = ['sh ./scripts/down.sh', 'cd scripts && . ./lib.sh', 'make down'];
    const settings = { ...request.settings, teardown, copy: ['.env'] };
    expect(await furnishing.dismantle({ ...request, settings })).toEqual({ kind: 'done', ran: 3 });
    // `docker compose` names its project after the folder.
    expect(readFileSync(path.join(worktree, 'said'), 'utf8')).toBe('base in cp-1\n');
    expect(readFileSync(path.join(worktree, 'made'), 'utf8')).toBe('base\n');
  });

  test('find neither the main checkout nor its repository around them, and leave no file', async () => {
    const { root, worktree, request, furnishing } = newFixture(area, { tracked: { a: 'a\n' } });
    const teardown = [
      'git rev-parse --show-toplevel || git -C "$COPSE_WORKTREE_PATH" rev-parse --show-toplevel',
    ];
    const settings = { ...request.settings, teardown };
    expect(await furnishing.dismantle({ ...request, settings })).toEqual({ kind: 'done', ran: 1 });
    const log = readFileSync(path.join(root, '.copse/logs/cp-1/teardown-1.log'), 'utf8');
    expect(log.trimEnd().split('\n').at(-1)).toBe(worktree);
    expect(log).toContain('not a git repository');
    expect(readdirSync(path.join(root, '.copse/tmp'))).toEqual([]);
    expect(readdirSync(teardownsIn(root))).toEqual([]);
  });

  test('have no file of the main checkout in any folder above them, where tools look', async () => {
    const { root, worktree, request, furnishing } = newFixture(area, { others: { 'package.json': '{}\n' } });
    const up = 'while test "$PWD" != /; do ls -a "$PWD"; test "$PWD" -ef "$ROOT" && echo found; cd ..; done';
    const settings = { ...request.settings, teardown: [up] };
    const env = { ...request.env, ROOT: root };
    expect(await furnishing.dismantle({ ...request, settings, env })).toEqual({ kind: 'done', ran: 1 });
    const log = readFileSync(path.join(root, '.copse/logs/cp-1/teardown-1.log'), 'utf8');
    expect(log.split('\n')).toContain(path.basename(worktree));
    expect(log.split('\n')).not.toContain('found');
  });

  // promise: teardown-from-base
  test('run no program of the worktree, even if PATH names the folder in which they start', async () => {
    const { worktree, request, furnishing } = newFixture(area, { tracked: { x: 'x\n' } });
    write(worktree, { sh: '#!/bin/sh\ntouch "$COPSE_WORKTREE_PATH/fooled"\n' });
    chmodSync(path.join(worktree, 'sh'), 0o755);
    const settings = { ...request.settings, teardown: ['touch "$COPSE_WORKTREE_PATH/ran"'] };
    const env = { ...request.env, PATH: `.:${process.env['PATH'] ?? ''}` };
    expect(await furnishing.dismantle({ ...request, settings, env })).toEqual({ kind: 'done', ran: 1 });
    expect(['ran', 'fooled'].filter((name) => existsSync(path.join(worktree, name)))).toEqual(['ran']);
  });

  test('whose base cannot be written fail with the reason, and do not run', async () => {
    const { worktree, request, furnishing } = newFixture(area, {});
    const settings = { ...request.settings, teardown: ['touch "$COPSE_WORKTREE_PATH/ran"'] };
    for (const base of [null, brand<CommitId>('1'.repeat(40))]) {
      const outcome = await furnishing.dismantle({ ...request, settings, base });
      expect(outcome).toMatchObject({ kind: 'failed', because: 'not_started' });
    }
    expect(existsSync(path.join(worktree, 'ran'))).toBe(false);
  });
});

describe('files of other tools', () => {
  const cursor = (value: unknown) => ({ '.cursor/worktrees.json': JSON.stringify(value) });
  const conductor = (value: unknown) => ({ 'conductor.json': JSON.stringify(value) });

  test('Cursor’s commands run if copse.yml has none, those for this system first', async () => {
    const { root, worktree, furnish } = newFixture(area, {
      tracked: cursor({
        'setup-worktree': ['echo no > made'],
        'setup-worktree-unix': ['echo "$ROOT_WORKTREE_PATH" > made'],
        'setup-worktree-windows': ['echo no > made'],
      }),
    });
    const report = await furnish();
    expect(report.setup).toEqual({ kind: 'done', ran: 1 });
    expect(report.notes).toEqual([
      'Set up as .cursor/worktrees.json says, because copse.yml has no workspace.setup.',
    ]);
    expect(readFileSync(path.join(worktree, 'made'), 'utf8')).toBe(`${root}\n`);
  });

  // promise: settings-from-main-checkout
  test('Cursor’s script is the one of the main checkout, not the one an agent could write', async () => {
    const { root, worktree, furnish } = newFixture(area, {
      tracked: {
        ...cursor({ 'setup-worktree': "it's setup.sh" }),
        ".cursor/it's setup.sh": 'echo committed > made\n',
      },
    });
    write(worktree, {
      ".cursor/it's setup.sh": 'echo agent > made\n',
      ...cursor({ 'setup-worktree': ['echo agent > made'] }),
    });
    write(root, { ".cursor/it's setup.sh": 'echo main > made\n' });
    expect((await furnish()).setup).toEqual({ kind: 'done', ran: 1 });
    expect(readFileSync(path.join(worktree, 'made'), 'utf8')).toBe('main\n');
  });

  test('Conductor’s scripts set up and tear down', async () => {
    const { root, worktree, request, furnishing, furnish } = newFixture(area, {
      tracked: conductor({
        scripts: {
          setup: 'echo "$CONDUCTOR_ROOT_PATH" > up',
          run: 'exit 9',
          archive: 'cat conductor.json > "$CONDUCTOR_WORKSPACE_PATH/down"',
        },
      }),
    });
    expect((await furnish()).setup).toEqual({ kind: 'done', ran: 1 });
    expect(await furnishing.dismantle(request)).toEqual({ kind: 'done', ran: 1 });
    expect(readFileSync(path.join(worktree, 'up'), 'utf8')).toBe(`${root}\n`);
    expect(readFileSync(path.join(worktree, 'down'), 'utf8')).toContain('CONDUCTOR_WORKSPACE_PATH/down');
  });

  test('copse.yml wins, even with an empty list', async () => {
    const { furnish } = newFixture(area, { tracked: conductor({ scripts: { setup: 'exit 9' } }) });
    expect(await furnish({ setup: [] })).toMatchObject({ setup: { kind: 'done', ran: 0 }, notes: [] });
  });

  test.each([
    [
      'two tools',
      { ...cursor({ 'setup-worktree': ['exit 9'] }), ...conductor({ scripts: { setup: 'exit 9' } }) },
      'both have set-up commands',
    ],
    ['broken JSON', { 'conductor.json': '{ "scripts": { "setup": "exit 9" ' }, 'cannot be read as JSON'],
    ['another shape', cursor({ 'setup-worktree': { run: 'exit 9' } }), 'neither a list of commands'],
    ['a script that is not there', cursor({ 'setup-worktree': '../../x.sh' }), 'is not a script beside it'],
    [
      'a newer file',
      { ...conductor({ scripts: { setup: 'exit 9' } }), '.conductor/settings.toml': '' },
      'settings.toml',
    ],
  ])('%s: nothing runs and the person gets a note', async (_, tracked, told) => {
    const { furnish } = newFixture(area, { tracked });
    const report = await furnish();
    expect(report.setup).toEqual({ kind: 'done', ran: 0 });
    expect(report.notes).toEqual([expect.stringContaining(told)]);
  });
});

function isRunning(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2, text.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return false;
  }
}
