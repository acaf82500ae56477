/** What the command line prints where: colours, untrusted text, pipes, long lists, help and completion. */

import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
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
  const commands: readonly (readonly [command: string, hasExamples: boolean])[] = [
    ['', true],
    ['add', true],
    ['show', true],
    ['list', true],
    ['edit', true],
    ['delete', true],
    ['plan', false],
    ['plan add', true],
    ['plan show', true],
    ['plan list', true],
    ['ledger', false],
    ['ledger add', true],
    ['ledger list', true],
    ['events', true],
    ['export', true],
    ['import', true],
    ['work', true],
    ['worktrees', true],
    ['cleanup', true],
    ['tend', true],
    ['sync', true],
    ['diff', true],
    ['rescue', false],
    ['rescue list', true],
    ['rescue show', true],
    ['rescue restore', true],
    ['rescue move', true],
    ['undo', true],
    ['orchestrate', true],
    ['logs', true],
    ['merge', true],
    ['queue', true],
    ['queue pause', true],
    ['queue resume', true],
    ['queue front', true],
    ['queue cancel', true],
    ['queue retry', true],
    ['radar', true],
    ['restart', true],
    ['resume', true],
    ['review', true],
    ['demo', true],
    ['finish', true],
    ['stuck', true],
    ['phase', true],
    ['heartbeat', true],
    ['agents', true],
    ['init', true],
    ['mcp', true],
    ['answer', true],
    ['cost', true],
    ['notify', true],
    ['attach', true],
    ['pause', true],
    ['cancel', true],
    ['why', true],
    ['config', true],
    ['doctor', true],
    ['board', false],
    ['board backup', true],
    ['board restore', true],
    ['board rebuild', true],
    ['completion', true],
  ];

  test('of every command describes it, shows its examples and needs no repository', async () => {
    const runs = await Promise.all(
      commands.map(([command]) => copse([...command.split(' ').filter(Boolean), '--help'], { cwd: area })),
    );
    for (const [index, [command, hasExamples]] of commands.entries()) {
      const { code, stdout, stderr } = runs[index] ?? { code: null, stdout: '', stderr: '' };
      expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' });
      const [use, empty, description] = stdout.split('\n');
      expect(use).toMatch(new RegExp(`^Usage: copse ${command.replace('delete', '(delete\\|rm|delete)')}`));
      expect(empty).toBe('');
      expect(description).toMatch(/^[A-Z].+/);
      expect({ command, has: /^Examples:\n {2}\S/m.test(stdout) }).toEqual({ command, has: hasExamples });
      if (hasExamples)
        expect(stdout).toContain(command === 'completion' ? 'copse completion' : `copse ${command}`);
    }
  });

  test('lists every command, and there is none without a row above', async () => {
    const listed = (text: string) =>
      [...text.matchAll(/^ {2}([a-z]+)(?:\|[a-z]+)?(?: |$)/gm)].map(([, name]) => name);
    const known = commands.map(([command]) => command);
    for (const above of ['', 'plan', 'ledger', 'queue', 'rescue', 'board']) {
      const text = await printed([...above.split(' ').filter(Boolean), '--help'], { cwd: area });
      const start = text.indexOf(above === '' ? 'Set up:' : 'Commands:');
      const names = listed(text.slice(start, text.indexOf('Examples:') >>> 0)).filter(
        (name) => name !== 'help',
      );
      expect(names.length).toBeGreaterThan(1);
      for (const name of names) expect(known).toContain(`${above} ${name}`.trim());
    }
  });

  test('without --help goes to stderr: copse plan alone', async () => {
    for (const argv of [['plan'], ['ledger']]) {
      const { code, stdout, stderr } = await copse(argv, { cwd: area });
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('Usage: copse');
    }
  });

  test('version is one line, the same in every spelling', async () => {
    const [short, long] = await Promise.all([
      printed(['-V'], { cwd: area }),
      printed(['--version'], { cwd: area }),
    ]);
    expect(long).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
    expect(short).toBe(long);
  });
});

describe('completion', () => {
  test.each(['bash', 'zsh', 'fish'])('for %s is a script that the shell accepts', async (shellName) => {
    const script = await printed(['completion', shellName], { cwd: area });
    expect(script).toContain('copse');
    expect(script).not.toContain(area);
    const file = path.join(area, `completion.${shellName}`);
    writeFileSync(file, script);
    const { error, status, stderr } = spawnSync(shellName, ['-n', file], { encoding: 'utf8' });
    // A shell that is not installed cannot be asked.
    if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('suggests commands and the ids of live tasks with their titles', async () => {
    const at = { cwd: newRepository(area) };
    const [one, two] = await newTasks(['Größe', 'Zwei'], at);
    expect(await suggestions(['sh'], at.cwd)).toContain('show');
    expect(await suggestions(['plan', ''], at.cwd)).toEqual(expect.arrayContaining(['add', 'show', 'list']));
    for (const command of ['show', 'edit', 'delete']) {
      const ids = await suggestions([command, ''], at.cwd);
      expect(ids.toSorted()).toEqual([one.id, two.id].toSorted());
    }
    expect(await suggestions(['show', one.id.slice(0, 6)], at.cwd)).toContain(one.id);
    expect(await printed(['complete', '--', 'show', ''], at)).toContain(`${one.id}\tGröße\n`);
    const commands = await suggestions([''], at.cwd);
    expect(commands).toContain('add');
    expect(commands).not.toContain('completion-script');
  });

  test('prints nothing without a board', async () => {
    expect(await suggestions(['show', ''], area)).toEqual([]);
    const env = { COPSE_BOARD: 'postgres://127.0.0.1:1/none' };
    expect(await copse(['complete', '--', 'show', ''], { cwd: newRepository(area), env })).toMatchObject({
      code: 0,
      stderr: '',
    });
  });
});

async function suggestions(words: readonly string[], cwd: string): Promise<string[]> {
  const text = await printed(['complete', '--', ...words], { cwd });
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(':'))
    .map((line) => line.split('\t')[0] ?? '');
}

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
