import { existsSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { keepOutput } from '../../../packages/copse/src/queue/checks/output.ts';
import type { CheckCommand } from '../../../packages/copse/src/queue/ports/checks.ts';
import { checksAt, done, logOf, newCheckSite, only, writeFile } from '../../support/queue/checks.ts';
import { git, newArea, plainEnv } from '../../support/cli.ts';

const area = newArea();
const site = newCheckSite(area, {
  files: { 'ok.sh': '#!/bin/sh\nexit 0\n', 'plain.sh': 'exit 0\n', 'web/page': 'a page\n' },
});
const base = site.candidate({});

describe('verdicts', () => {
  it('all checks run one after another, and exit code 0 is green', async () => {
    const results = done(await site.run(base, { one: 'echo first', two: ['echo', 'second; $HOME'] }));
    expect(results.map(({ name, verdict, exitCode }) => ({ name, verdict, exitCode }))).toEqual([
      { name: 'one', verdict: 'green', exitCode: 0 },
      { name: 'two', verdict: 'green', exitCode: 0 },
    ]);
    expect(results.map(logOf)).toEqual(['first\n', 'second; $HOME\n']);
  });

  // setting: landing.checks.<name>.command
  it('the first check that is not green ends the run', async () => {
    const ran = path.join(area, 'ran');
    const results = done(
      await site.run(base, { one: 'true', two: 'echo broken; exit 3', three: `touch '${ran}'` }),
    );
    expect(results.map(({ name, verdict, exitCode, tail }) => ({ name, verdict, exitCode, tail }))).toEqual([
      { name: 'one', verdict: 'green', exitCode: 0, tail: '' },
      { name: 'two', verdict: 'red', exitCode: 3, tail: 'broken' },
    ]);
    expect(results[1]?.fault).toEqual({ kind: 'exit', code: 3 });
    expect(existsSync(ran)).toBe(false);
  });

  it.each<readonly [string, CheckCommand['command'] | Partial<CheckCommand>, string]>([
    ['a program that crashes is red', 'kill -SEGV $$', 'red'],
    ['one that another process kills is infrastructure', ['sh', '-c', 'kill -KILL $$'], 'infrastructure'],
    ['so is one whose shell says so', 'sh -c "kill -KILL \\$\\$"; exit $?', 'infrastructure'],
    ['a code above 128 that stands for no sent signal is red', 'exit 200', 'red'],
    [
      'a program of copse.yml that the machine lacks is infrastructure',
      'no-such-program-1',
      'infrastructure',
    ],
    ['also behind a folder', 'cd web && X=1 no-such-program-1 --all', 'infrastructure'],
    ['also without a shell', ['no-such-program-1', 'x'], 'infrastructure'],
    ['a script that lacks a program is red', './ok.sh && sh -c "no-such-program-1"', 'red'],
    ['arguments are no programs', 'sh plain.sh; sh -c "exit 127" no-such-program-1', 'red'],
    ['a script that the tree lacks is red', './gone.sh', 'red'],
    ['also without a shell', ['./gone.sh'], 'red'],
    ['and so is one that is no program there', ['./plain.sh'], 'red'],
    ['a program elsewhere that is not there is infrastructure', ['/no/such/program'], 'infrastructure'],
    ['a working directory that the tree lacks is red', { workingDirectory: 'gone' }, 'red'],
    ['one that leads out is infrastructure', { workingDirectory: '../..' }, 'infrastructure'],
    ['one that is there is where it runs', { workingDirectory: 'web', command: 'cat page' }, 'green'],
    ['a check that takes too long is a timeout', { command: 'sleep 60', timeoutMs: 100 }, 'timeout'],
  ])('%s', async (_, command, verdict) => {
    expect(only(await site.run(base, { check: command }))).toMatchObject({ verdict, name: 'check' });
  });

  it('a working directory that is a link out of the worktree in the tree is red', async () => {
    const linked = newCheckSite(area, { files: { keep: '' } });
    symlinkSync('/', path.join(linked.root, 'out'));
    git(linked.root, 'add', 'out');
    git(linked.root, 'commit', '--quiet', '--message=link');
    const result = only(await linked.run(linked.candidate({}), { check: { workingDirectory: 'out' } }));
    expect(result).toMatchObject({
      verdict: 'red',
      fault: { kind: 'other', text: expect.stringContaining('outside') },
    });
  });

  it('a failure on a full disk is infrastructure, and success on one is success', async () => {
    const full = newCheckSite(area, { options: { freeBytes: async () => 1_000 } });
    const commit = full.candidate({});
    const [green, bad] = done(await full.run(commit, { good: 'true', bad: 'false' }));
    expect([green?.verdict, bad?.verdict]).toEqual(['green', 'infrastructure']);
    expect(bad?.fault).toEqual({ kind: 'other', text: 'failed (exit code 1), and the disk is full' });
  });
});

describe('set-up', () => {
  it('runs for every candidate, before the checks, with the files that copse.yml copies', async () => {
    const set = newCheckSite(area, {
      settings: { copy: ['cache/secret'], setup: ['echo set up >> cache/ran', 'cat lock > cache/lock'] },
      files: { lock: 'one\n' },
    });
    writeFile(path.join(set.root, 'cache', 'secret'), 'from the main checkout\n');
    const print = { show: 'cat cache/secret cache/ran cache/lock' };
    expect(logOf(only(await set.run(set.candidate({}), print)))).toBe(
      'from the main checkout\nset up\none\n',
    );
    expect(logOf(only(await set.run(set.candidate({ lock: 'two\n' }), print)))).toBe(
      'from the main checkout\nset up\nset up\ntwo\n',
    );
  });

  it('that fails with a code is a red result called setup, and no check runs', async () => {
    const set = newCheckSite(area, { settings: { setup: ['true', 'echo bad manifest; exit 4', 'true'] } });
    const result = only(await set.run(set.candidate({}), { check: 'true' }));
    expect(result).toMatchObject({ name: 'setup', verdict: 'red', exitCode: 4 });
    expect(result.tail).toContain('bad manifest');
    expect(logOf(result)).toBe('$ true\n$ echo bad manifest; exit 4\nbad manifest\n');
  });

  it.each([
    ['takes too long', { setup: ['sleep 60'], commandTimeoutMs: 100 }],
    ['needs a program that is not there', { setup: ['no-such-program-1'] }],
    ['is killed', { setup: ['kill -KILL $$'] }],
  ])('that %s is infrastructure', async (_, settings) => {
    const set = newCheckSite(area, { settings });
    expect(await set.run(set.candidate({}), { check: 'true' })).toMatchObject({ kind: 'infrastructure' });
  });

  it('comes from the file of another tool when copse.yml has none', async () => {
    const set = newCheckSite(area, {
      settings: { setup: null },
      files: {
        'conductor.json': JSON.stringify({ scripts: { setup: 'echo "$CONDUCTOR_ROOT_PATH" > x.log' } }),
      },
    });
    expect(logOf(only(await set.run(set.candidate({}), { show: 'cat x.log' })))).toBe(`${set.root}\n`);
  });
});

describe('the environment', () => {
  const environment = {
    ...plainEnv,
    COPSE_BOARD: 'postgres://secret',
    COPSE_TOKEN: '7',
    COPSE_SESSION_ID: 'se-1',
    COPSE_TASK_ID: 'cp-1',
    GIT_DIR: '/nowhere',
    OWN: 'kept',
  };

  it('is the machine’s without Copse’s own variables, and names the check', async () => {
    const checks = checksAt(site.root, {}, { environment });
    const own = { command: 'env', env: { MINE: 'yes', COPSE_CHECK: 'forged' } };
    const result = only(await { ...site, checks }.run(base, { show: own }, { id: 'ch-shown' }));
    const lines = logOf(result).trimEnd().split('\n');
    expect(lines).toEqual(
      expect.arrayContaining(['OWN=kept', 'MINE=yes', 'CI=true', 'COPSE_CHECK=ch-shown']),
    );
    expect(lines.filter((line) => /^(COPSE_(BOARD|TOKEN|SESSION_ID|TASK_ID)|GIT_DIR)=/.test(line))).toEqual(
      [],
    );
    expect(lines).toContain(`COPSE_WORKTREE_PATH=${site.worktree}`);
    expect(lines).toContain('COPSE_CHECK_SLOT=1');
  });

  it('has neither input nor terminal', async () => {
    const command = 'test -t 0 || cat; ps -o tty= -p $$ || true';
    expect(logOf(only(await site.run(base, { show: command }))).trim()).toMatch(/^\?*$/);
  });

  it('has a digest that changes only with variables that could change a verdict', () => {
    const check: CheckCommand = {
      name: 'a',
      command: 'x',
      timeoutMs: 1,
      env: { A: '1' },
      workingDirectory: null,
    };
    const digest = (settings = {}, more = {}, changes = {}) =>
      checksAt(site.root, settings, { environment: { ...plainEnv, ...more } }).environmentOf({
        ...check,
        ...changes,
      });
    const plain = digest();
    expect(plain).toMatch(/^[0-9a-f]{64}$/);
    expect([
      digest({}, { TERM: 'dumb', SSH_AUTH_SOCK: '/x', COPSE_BACKGROUND: '1', PWD: '/' }),
      digest({}, {}, { timeoutMs: 2, name: 'b' }),
    ]).toEqual([plain, plain]);
    const others = [
      digest({ setup: ['npm ci'] }),
      digest({ copy: ['.env'] }),
      digest({ link: ['node_modules'] }),
      digest({ sparse: ['src'] }),
      digest({}, { PATH: '/elsewhere' }),
      digest({}, { ANYTHING: 'else' }),
      digest({}, {}, { env: { A: '2' } }),
      digest({}, {}, { workingDirectory: 'web' }),
    ];
    expect(new Set([plain, ...others]).size).toBe(others.length + 1);
  });
});

describe('output', () => {
  // promise: board-private
  it('is kept readable for its owner only, both streams in the order of their lines', async () => {
    const result = only(await site.run(base, { both: 'echo 1; echo 2 >&2; echo 3' }, { id: 'ch-both' }));
    expect(logOf(result)).toBe('1\n2\n3\n');
    expect(result.log).toBe(path.join(site.root, '.copse', 'logs', 'queue', 'ch-both', 'both.log'));
    expect(statSync(result.log ?? '').mode & 0o077).toBe(0);
  });

  it('has its last lines in the result', async () => {
    const result = only(await site.run(base, { many: 'seq 1 500; exit 1' }));
    expect(result.tail.split('\n')).toEqual(Array.from({ length: 40 }, (_, line) => String(461 + line)));
  });

  it.each([
    [0, 0],
    [1, 999],
    [7, 2_000],
    [7, 2_001],
    [333, 4_567],
    [5_000, 12_345],
  ])('in pieces of %i bytes, %i in all, keeps the beginning and the end', (piece, total) => {
    const file = path.join(area, 'bounded', `${piece}-${total}.log`);
    const text = Array.from({ length: total }, (_, at) => String.fromCharCode(97 + (at % 23))).join('');
    const output = keepOutput({ file, tailLines: 1, partBytes: 1_000 });
    for (let at = 0; at < total; at += piece) output.write(Buffer.from(text.slice(at, at + piece)));
    expect(output.close()).toEqual(output.close());
    const left = total > 2_000 ? `\n\n[… ${total - 2_000} bytes left out …]\n\n` : '';
    const expected = total > 2_000 ? text.slice(0, 1_000) + left + text.slice(-1_000) : text;
    expect(readFileSync(file, 'utf8')).toBe(expected);
    expect(existsSync(`${file}.end`)).toBe(false);
  });

  it('that could not be written makes the check infrastructure', async () => {
    const lost = newCheckSite(area);
    const commit = lost.candidate({});
    // A link in the place of a log would let a check write anywhere.
    writeFile(path.join(area, 'elsewhere'), 'mine\n');
    writeFile(path.join(lost.root, '.copse', 'logs', 'queue', 'ch-lost', 'x'), '');
    symlinkSync(path.join(area, 'elsewhere'), path.join(lost.root, '.copse/logs/queue/ch-lost/check.log'));
    expect(await lost.run(commit, { check: 'echo over it' }, { id: 'ch-lost' })).toMatchObject({
      kind: 'infrastructure',
    });
    expect(readFileSync(path.join(area, 'elsewhere'), 'utf8')).toBe('mine\n');
  });

  it('of a flood stays within bounds on disk', async () => {
    const command = 'head -c 60000000 /dev/zero | tr "\\0" x; echo; echo the end; exit 1';
    const result = only(await site.run(base, { flood: command }));
    expect(result.tail.endsWith('\nthe end')).toBe(true);
    expect(statSync(result.log ?? '').size).toBeLessThan(17 * 1024 * 1024);
    rmSync(result.log ?? '');
  });
});
