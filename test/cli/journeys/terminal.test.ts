/** What the command line prints where: colours, untrusted text, pipes, long lists, help and completion. */

import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { openBoard } from '../../../packages/copse/src/board/open.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import {
  type TaskDocument,
  answer,
  cliFile,
  copse,
  finished,
  newArea,
  newRepository,
  newTasks,
  plainEnv,
  printed,
} from '../../support/cli.ts';
import { newTask } from '../../support/records/tasks.ts';

const area = newArea();
const ESCAPE = '\u001b';
/** Gives a program a pseudo-terminal. */
const TERMINAL = 'script';
const hasScript =
  spawnSync(TERMINAL, ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

describe('colours', () => {
  test('are absent without a terminal', async () => {
    const at = { cwd: newRepository(area) };
    await newTasks(['Plain'], at);
    for (const argv of [['list'], ['events'], ['doctor'], ['config'], ['--help'], ['show', 'zzzz']]) {
      const { stdout, stderr } = await copse(argv, at);
      expect(stdout + stderr).not.toContain(ESCAPE);
    }
  });

  test.skipIf(!hasScript)(
    'are there on a terminal, and absent with NO_COLOR (needs script of util-linux)',
    async () => {
      const at = { cwd: newRepository(area) };
      await newTasks(['Coloured'], at);
      const coloured = await onTerminal(['list'], at.cwd, {});
      expect(coloured).toContain(ESCAPE);
      expect(coloured.replaceAll(/\u001b\[\d*m/g, '')).toContain('READY');
      expect(await onTerminal(['show', 'zzzz'], at.cwd, {})).toContain(`${ESCAPE}[31mcopse:`);
      for (const argv of [['list'], ['show', 'zzzz']]) {
        expect(await onTerminal(argv, at.cwd, { NO_COLOR: '1' })).not.toContain(ESCAPE);
      }
    },
  );
});

describe('text that people and agents wrote', () => {
  const ATTACK = `${ESCAPE}[2J${ESCAPE}]0;owned\u0007\u009b31m\rover\u0008\u007f\u202edcba`;
  const FORBIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

  // promise: terminal-safe
  test('cannot send control sequences from a body, a plan, the ledger or an error', async () => {
    const at = { cwd: newRepository(area) };
    const { id } = await answer<TaskDocument>(['add', 'Safe', '--body', ATTACK], at);
    const plan = await answer<{ id: string }>(['plan', 'add', 'P', '--body', ATTACK], at);
    await answer(['ledger', 'add', 'learning', ATTACK, '--task', id], at);
    await answer(['edit', id, '--accept', `echo ${ATTACK}`], at);
    const argvs = [
      ['show', id],
      ['plan', 'show', plan.id],
      ['ledger', 'list', '--task', id],
      ['events'],
      ['list'],
      ['show', ATTACK],
      [ATTACK],
      ['list', `--${ATTACK}`],
      ['list', '--status', ATTACK],
      ['add', 'x', '--body-file', ATTACK],
      ['add', 'x', '--area', ATTACK],
      ['completion', ATTACK],
      ['complete', '--', 'show', ''],
    ];
    const runs = await Promise.all(argvs.map((argv) => copse(argv, at)));
    for (const [index, { stdout, stderr }] of runs.entries()) {
      const found = FORBIDDEN.exec(stdout + stderr)?.[0];
      expect({ argv: argvs[index], found }).toEqual({ argv: argvs[index], found: undefined });
    }
    expect(runs[0]?.stdout).toContain('\\x1b[2J');
  });

  // promise: terminal-safe
  test('is refused in titles and names', async () => {
    const at = { cwd: newRepository(area) };
    for (const argv of [
      ['add', ATTACK],
      ['add', 'x', '--agent', ATTACK],
      ['plan', 'add', ATTACK],
    ]) {
      const { code, stderr } = await copse(argv, at);
      expect(code).toBe(2);
      expect(stderr).not.toMatch(FORBIDDEN);
    }
  });

  // promise: terminal-safe
  test('is unchanged in --json, where control characters are escaped', async () => {
    const at = { cwd: newRepository(area) };
    const { id } = await answer<TaskDocument & { body: string }>(['add', 'Safe', '--body', ATTACK], at);
    for (const argv of [['show', id], ['events']]) {
      const { stdout } = await copse([...argv, '--json'], at);
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    }
    expect(await answer(['show', id], at)).toMatchObject({ body: ATTACK });
  });
});

describe('a thousand tasks', () => {
  let cwd: string;
  let ids: string[];

  beforeAll(async () => {
    cwd = newRepository(area);
    await printed(['list'], { cwd });
    const address = { engine: 'sqlite', file: path.join(cwd, '.copse', 'board.db') } as const;
    const board = await openBoard(address, defaultPolicy, { id: 'unused', at: 0 });
    ids = [];
    for (let index = 0; index < 1_000; index += 1) {
      ids.push((await newTask(board, { title: `Task ${index} ☂ ${'x'.repeat(100)}` })).id);
    }
    await board.close();
  });

  test('are all listed, also through a pipe that is slow', async () => {
    const { tasks } = await answer<{ tasks: TaskDocument[] }>(['list'], { cwd });
    expect(tasks.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    expect((await printed(['list'], { cwd })).split('\n')).toHaveLength(1_002);
    const { code, stdout, stderr } = await shell('copse list | (sleep 0.3; wc -l)', cwd);
    expect({ code, lines: stdout.trim(), stderr }).toEqual({ code: 0, lines: '1001', stderr: '' });
  });

  test.each(['list', 'list --json', 'events', 'export'])(
    'end without an error: copse %s | head -1',
    async (command) => {
      const { code, stdout, stderr } = await shell(`set -o pipefail; copse ${command} | head -1`, cwd);
      expect({ code, lines: stdout.split('\n').length, stderr }).toEqual({ code: 0, lines: 2, stderr: '' });
    },
  );

  test('are named up to five, with a note, when an id prefix fits many', async () => {
    const first = [...new Set(ids.map((id) => id[3]))].find(
      (character) => ids.filter((id) => id[3] === character).length > 5,
    );
    const { code, stderr } = await copse(['show', first ?? ''], { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(/matches more than one task: (cp-\w+, ){5}…\./);
  });
});

describe('help', () => {
  test('version is one line, the same in every spelling', async () => {
    const [short, long] = await Promise.all([
      printed(['-V'], { cwd: area }),
      printed(['--version'], { cwd: area }),
    ]);
    expect(long).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
    expect(short).toBe(long);
  });
});

/** A line for bash in which `copse` is the program under test. */
function shell(line: string, cwd: string): ReturnType<typeof finished> {
  const script = `copse() { "$NODE" "$CLI" "$@"; }; ${line}`;
  const env = { ...plainEnv, NODE: process.execPath, CLI: cliFile };
  return finished(spawn('bash', ['-c', script], { cwd, env }));
}

async function onTerminal(
  argv: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<string> {
  const command = '"$NODE" "$CLI" "$WHAT" ${ARGUMENT:+"$ARGUMENT"}';
  const [what = '', argument = ''] = argv;
  const { stdout } = await finished(
    spawn(TERMINAL, ['--quiet', '--return', '--command', command, '/dev/null'], {
      cwd,
      env: {
        ...plainEnv,
        TERM: 'xterm-256color',
        NODE: process.execPath,
        CLI: cliFile,
        WHAT: what,
        ARGUMENT: argument,
        ...env,
      },
    }),
  );
  return stdout;
}
