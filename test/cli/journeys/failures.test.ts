/** What a command says when it does not do what was asked, and the exit code that scripts read. */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import pg from 'pg';
import { beforeAll, describe, expect, inject, test } from 'vitest';

import {
  answer,
  cliFile,
  copse,
  finished,
  git,
  newArea,
  newRepository,
  newTasks,
  plainEnv,
  printed,
} from '../../support/cli.ts';

const area = newArea();
let cwd: string;

beforeAll(async () => {
  cwd = newRepository(area);
  await newTasks(['Here'], { cwd });
});

const STYLE = /^copse: \S.*(\n\(.*\))?\n(( {4}\S.*:\n)? {2}→ [a-z].*\n| {4}[A-Z].*\.\n)+$/;

const usage: readonly (readonly [argv: readonly string[], says: string])[] = [
  [['xyzzy'], 'There is no command "xyzzy".'],
  [['lst'], 'Did you mean list?'],
  [['list', '--stauts', 'x'], 'Did you mean --status?'],
  [['--nonsense'], 'copse has no option "--nonsense".'],
  [['add'], 'copse add needs a title'],
  [['edit'], 'copse edit needs <id>'],
  [['show'], "is not a task's worktree."],
  [['why'], "is not a task's worktree."],
  [['ledger', 'list'], 'No task given, and '],
  [['show', 'a', 'b'], 'takes at most one argument'],
  [['add', 'x', '--priority'], '--priority <p1-p5> needs a value'],
  [['add', 'x', '--priority', 'p9'], 'The priority must be p1 to p5 (p5 is the most urgent), not "p9".'],
  [['add', 'x', '--area', '../x'], '"../x" is not an area'],
  [['add', 'x', '--requires', 'a b'], '"a b" is not a capability'],
  [['add', 'x', '--kind', 'cod'], 'The kind must be one of code, non-code, import, not "cod".'],
  [['add', 'x', '--agent', ''], 'The name is empty'],
  [['add', ' '], 'The title is empty'],
  [['add', 'two\nlines'], 'The title must be one line'],
  [['add', 'x'.repeat(201)], 'The title may have at most 200 characters; this one has 201'],
  [['add', 'x', '--body', 'a', '--body-file', 'b'], 'Give --body or --body-file, not both.'],
  [['add', 'x', '--accept', ' '], 'An accept command cannot be empty'],
  [['list', '--status', 'reddy'], 'cancelled, not "reddy".'],
  [['stats', '--weeks', 'all'], '--weeks must be a whole number from 1 to 520, not "all".'],
  [['cost', '--by', 'month'], '--by must be one of task, agent, day, agent_day, not "month".'],
  [['move', 'TASK'], 'copse move needs --to <node>: the name or the id of a node.'],
  [
    ['ledger', 'add', 'note', 'x', '--task', 'TASK'],
    'The kind must be one of learning, decision, handoff, crash, not "note".',
  ],
  [['ledger', 'add', 'learning', 'x'], 'No task given'],
  [['ledger', 'add', 'learning', ' ', '--task', 'TASK'], 'A ledger entry cannot be empty.'],
  [['plan', 'add', ' '], 'The title is empty'],
  [['events', '--after', 'yesterday'], 'after must be an event number, not "yesterday".'],
  [['events', '--last', '-1'], '--last must be a number, not "-1".'],
  [['config', 'edit'], 'copse config has no command "edit".'],
  [['completion', 'tcsh'], 'The shell must be one of bash, zsh, fish, not "tcsh".'],
];

const notFound: readonly (readonly [argv: readonly string[], says: string])[] = [
  [['show', 'zzzz'], 'The board has no task "zzzz".'],
  [['edit', 'zzzz', '--title', 'x'], 'The board has no task "zzzz".'],
  [['delete', 'TASK', 'zzzz'], 'The board has no task "zzzz".'],
  [['add', 'x', '--depends', 'zzzz'], 'The board has no task "zzzz".'],
  [['add', 'x', '--plan', 'zzzz'], 'The board has no plan "zzzz".'],
  [['list', '--plan', 'zzzz'], 'The board has no plan "zzzz".'],
  [['plan', 'show', 'zzzz'], 'The board has no plan "zzzz".'],
  [['ledger', 'list', '--task', 'zzzz'], 'The board has no task "zzzz".'],
  [['events', '--task', 'zzzz'], 'The board has no task "zzzz".'],
  [['add', 'x', '--body-file', 'nö.md'], 'There is no file nö.md'],
  [['queue', '--target', 'nope'], 'There is no branch "nope".'],
  [['queue', 'pause', '--target', 'nope'], 'There is no branch "nope".'],
  [['import', 'nö.jsonl'], 'There is no file'],
];

describe('an error', () => {
  test('is a sentence and a next step on stderr: 2 for usage', async () => {
    await checkAll(usage, 2);
    expect(await printed(['list'], { cwd })).toContain('Active (1)');
  });

  test('is a sentence and a next step on stderr: 3 for not found', async () => {
    await checkAll(notFound, 3);
    expect(await printed(['list'], { cwd })).toContain('Active (1)');
  });

  test('with --json is one document on stderr and nothing on stdout', async () => {
    const rows = [
      [['bogus', '--json'], 2, 'usage'],
      [['list', '--bogus', '--json'], 2, 'usage'],
      [['add', 'x', '--priority', 'p9', '--json'], 2, 'invalid'],
      [['show', 'zzzz', '--json'], 3, 'not_found'],
      [['add', 'x', '--plan', 'zzzz', '--json'], 3, 'not_found'],
      [['events', '--task', 'zzzz', '--json'], 3, 'not_found'],
      [['config', 'edit', '--json'], 2, 'invalid'],
    ] as const;
    const runs = await Promise.all(rows.map(([argv]) => copse(argv, { cwd })));
    for (const [index, [argv, code, name]] of rows.entries()) {
      const run = runs[index];
      expect({ argv, code: run?.code, stdout: run?.stdout }).toEqual({ argv, code, stdout: '' });
      const document = JSON.parse(run?.stderr ?? '') as unknown;
      expect(document).toEqual({
        error: {
          code: name,
          reason: expect.stringMatching(/\S/) as string,
          next: expect.arrayContaining([expect.any(String)]) as string[],
        },
      });
    }
  });

  test('about usage names the help of that command, also for aliases and subcommands', async () => {
    const rows = [
      [['add'], 'copse add --help'],
      [['rm'], 'copse delete --help'],
      [['prd', 'add'], 'copse plan add --help'],
      [['ledger', 'add', 'learning'], 'copse ledger add --help'],
    ] as const;
    const runs = await Promise.all(rows.map(([argv]) => copse(argv, { cwd })));
    expect(runs.map(({ stderr }) => /→ (.*)/.exec(stderr)?.[1])).toEqual(rows.map(([, help]) => help));
  });

  test('outside a repository says so and how to make one: 3', async () => {
    const nowhere = path.join(area, 'nowhere');
    mkdirSync(nowhere);
    for (const argv of [['list'], ['add', 'x'], ['export'], ['config', 'show']]) {
      const { code, stdout, stderr } = await copse(argv, { cwd: nowhere });
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toMatch(STYLE);
      expect(stderr).toContain('is not inside a git repository');
      expect(stderr).toContain('git init');
    }
  });

  test('about the branch to land on names the commit that the repository lacks', async () => {
    const empty = path.join(area, 'without a commit');
    git(area, 'init', '--quiet', '--initial-branch=main', empty);
    const commit = 'git commit --allow-empty --message="First commit"';
    expect(await printed(['queue'], { cwd: empty })).toBe(`There is no branch to land on.\n  → ${commit}\n`);
    expect((await copse(['queue', 'pause'], { cwd: empty })).stderr).toContain(`  → ${commit}\n`);
  });

  test('in a folder that was removed meanwhile is a sentence, not a stack', async () => {
    const gone = path.join(area, 'gone');
    mkdirSync(gone);
    const script = 'rmdir "$PWD" && exec "$@"';
    const argv = ['-c', script, 'sh', process.execPath, cliFile, 'list'];
    const { code, stderr } = await finished(spawn('/bin/sh', argv, { cwd: gone, env: plainEnv }));
    expect(stderr).toMatch(STYLE);
    expect(code).toBe(3);
  });
});

describe('a board that cannot be used: 1', () => {
  // promise: full-disk-safe
  test('is a file that is not a board, a damaged one, or a folder', async () => {
    const content = readFileSync(path.join(cwd, '.copse', 'board.db'));
    const damaged = Buffer.from(content).fill(0xa5, 4096, 4096 * 20);
    const cases: readonly (readonly [name: string, content: Buffer | string | undefined])[] = [
      ['text', 'This is a text and not a database. '.repeat(10)],
      ['cut off', content.subarray(0, 5000)],
      ['damaged', damaged],
      ['a folder', undefined],
    ];
    for (const [name, bytes] of cases) {
      const broken = newRepository(area);
      const file = path.join(broken, '.copse', 'board.db');
      mkdirSync(bytes === undefined ? file : path.dirname(file), { recursive: true });
      if (bytes !== undefined) writeFileSync(file, bytes);
      const runs = [await copse(['list'], { cwd: broken }), await copse(['add', 'x'], { cwd: broken })];
      for (const { code, stdout, stderr } of runs) {
        expect({ name, code, stdout }).toEqual({ name, code: 1, stdout: '' });
        expect({ name, stderr }).toEqual({ name, stderr: expect.stringMatching(STYLE) as string });
        expect(stderr).toContain(file);
      }
      if (bytes !== undefined) expect(readFileSync(file).equals(Buffer.from(bytes))).toBe(true);
    }
  });

  // promise: full-disk-safe
  test('is one that cannot grow, on a full disk for example: nothing changes, and it works again afterwards', async () => {
    const full = newRepository(area);
    await newTasks(['Here'], { cwd: full });
    // A limit on the size of files stands in for the end of the disk; the signal that comes with it would kill.
    const script = `trap '' XFSZ; ulimit -f 300; exec "$@"`;
    const argv = [
      '-c',
      script,
      'bash',
      process.execPath,
      cliFile,
      'add',
      'Large',
      '--body',
      'x'.repeat(120_000),
    ];
    const runs = [];
    for (let run = 0; run < 4; run += 1) {
      runs.push(await finished(spawn('bash', argv, { cwd: full, env: plainEnv })));
    }
    const failed = runs.filter(({ code }) => code !== 0);
    expect(failed).not.toEqual([]);
    for (const { code, stdout, stderr } of failed) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(STYLE);
      expect(stderr).toContain(path.join(full, '.copse', 'board.db'));
    }
    const list = await printed(['list'], { cwd: full });
    expect(list).toContain(`Active (${1 + runs.length - failed.length})`);
  });

  // promise: full-disk-safe
  test('leaves no half export behind when the disk is full', async () => {
    const full = newRepository(area);
    await newTasks(['Here'], { cwd: full });
    await answer(['add', 'Large', '--body', 'x'.repeat(100_000)], { cwd: full });
    const script = `trap '' XFSZ; ulimit -f 100; exec "$@"`;
    const argv = ['-c', script, 'bash', process.execPath, cliFile, 'export', 'board.jsonl'];
    const { code, stdout, stderr } = await finished(spawn('bash', argv, { cwd: full, env: plainEnv }));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(STYLE);
    expect(readdirSync(full).filter((name) => name.includes('board'))).toEqual([]);
  });

  // promise: newer-board-refused
  test('is one of a newer version, on either engine, and nothing on it changes', async () => {
    const newer = newRepository(area);
    await newTasks(['Here'], { cwd: newer });
    const file = path.join(newer, '.copse', 'board.db');
    const database = new DatabaseSync(file);
    database.exec('update board set version = 99');
    database.close();

    const schema = `cli_${randomBytes(6).toString('hex')}`;
    const env = { COPSE_BOARD: `${inject('postgresUrl')}?schema=${schema}` };
    await newTasks(['Here'], { cwd: newer, env });
    const client = new pg.Client({ connectionString: inject('postgresUrl') });
    await client.connect();
    await client.query(`update ${schema}.board set version = 99`);

    for (const options of [{ cwd: newer }, { cwd: newer, env }]) {
      const { code, stdout, stderr } = await copse(['add', 'x'], options);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(STYLE);
      expect(stderr).toMatch(
        /A newer Copse wrote the board at .*: it has version 99, this Copse knows up to \d+\. Nothing was changed\./,
      );
    }
    const { rows } = await client.query(`select count(*)::int as tasks from ${schema}.tasks`);
    expect(rows).toEqual([{ tasks: 1 }]);
    await client.end();
  });

  // promise: passwords-hidden
  test('is an unreachable server or an invalid address: one sentence, soon, without the password', async () => {
    const addresses = [
      'postgres://ada:s3cret@127.0.0.1:1/db',
      'postgres://ada:s3cret%zz@127.0.0.1:1/db',
      'postgres://ada:s3cret@no-such-host.invalid/db',
      'postgres://ada:s3cret@127.0.0.1:99999/db',
      'mysql://ada:s3cret@127.0.0.1/db',
      's3cret',
      `${inject('postgresUrl').replace('copse@', 'copse:s3cret@')}-none`,
    ];
    for (const address of addresses) {
      const began = performance.now();
      const { code, stdout, stderr } = await copse(['list'], { cwd, env: { COPSE_BOARD: address } });
      expect({ address, code, stdout }).toEqual({ address, code: 1, stdout: '' });
      expect({ address, stderr }).toEqual({ address, stderr: expect.stringMatching(STYLE) as string });
      expect(stderr).not.toContain('s3cret');
      expect(stderr).toContain('COPSE_BOARD');
      expect(performance.now() - began).toBeLessThan(5_000);
    }
  });
});

async function checkAll(
  rows: readonly (readonly [argv: readonly string[], says: string])[],
  expected: number,
): Promise<void> {
  const { stdout: listed } = await copse(['list', '--json'], { cwd });
  const [task] = (JSON.parse(listed) as { tasks: { id: string }[] }).tasks;
  const runs = await Promise.all(
    rows.map(([argv]) =>
      copse(
        argv.map((word) => (word === 'TASK' ? (task?.id ?? '') : word)),
        { cwd },
      ),
    ),
  );
  for (const [index, [argv, says]] of rows.entries()) {
    const { code, stdout, stderr } = runs[index] ?? { code: null, stdout: '', stderr: '' };
    expect({ argv, code, stdout }).toEqual({ argv, code: expected, stdout: '' });
    expect({ argv, stderr }).toEqual({ argv, stderr: expect.stringMatching(STYLE) as string });
    expect(stderr).toContain(says);
  }
}
