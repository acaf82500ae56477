import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterEach, describe, expect, it } from 'vitest';

import { openRun } from '../../../packages/copse/src/compose/run/run.ts';
import type { CheckCommand } from '../../../packages/copse/src/queue/ports/checks.ts';
import {
  type CheckSite,
  done,
  isRunning,
  logOf,
  newCheckSite,
  only,
  writeFile,
  written,
} from '../../support/queue/checks.ts';
import { newArea, plainEnv } from '../../support/cli.ts';
import { type WorkerProgram, bundleWorker } from '../../support/agents/worker-program.ts';

const isLinux = process.platform === 'linux';
const area = newArea();
const started: ChildProcess[] = [];
const noted: number[] = [];

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  for (const pid of noted.splice(0)) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
});

let files = 0;

function newFile(): string {
  files += 1;
  return path.join(area, `pid-${files}`);
}

async function pidIn(file: string): Promise<number> {
  const pid = Number(await written(file));
  noted.push(pid);
  return pid;
}

const SCRIPTS = {
  'stay.sh': 'echo $$ > "$1"\nexec /bin/sleep 600\n',
  'stubborn.sh': 'trap "" TERM\necho $$ > "$1"\nwhile :; do sleep 1; done\n',
  'twice.sh': 'setsid sh stay.sh "$1" &\n',
  'server.sh': 'while [ ! -e go.log ]; do sleep 0.05; done\nsh stay.sh "$1" &\nwait\n',
};

/** Ways for a process to outlive its parent; each writes the pid of the survivor. */
const WAYS = [
  ['stays in the background', (file: string) => `sh stay.sh '${file}' &`],
  ['ignores the polite signal', (file: string) => `sh stubborn.sh '${file}' &`],
  ['leads a session of its own', (file: string) => `setsid sh stay.sh '${file}' &`],
  ['has forked twice', (file: string) => `(setsid sh twice.sh '${file}' &)`],
  ['has gone elsewhere', (file: string) => `S="$PWD/stay.sh"; (cd / && setsid sh "$S" '${file}' &)`],
  ['has wiped its environment', (file: string) => `(setsid env -i /bin/sh stay.sh '${file}' &)`],
] as const;

const until = (file: string) => `while [ ! -s '${file}' ]; do sleep 0.05; done`;

/** A zombie counts as gone. */
const look = (file: string) =>
  `grep -q '^State:[^Z]*$' "/proc/$(cat '${file}')/status" 2>/dev/null && echo alive || echo gone`;

describe.runIf(isLinux)('processes of a check', () => {
  const site = newCheckSite(area, { files: SCRIPTS });
  const base = site.candidate({});

  // promise: no-process-left
  it.each(WAYS)('end before the next check when one %s', async (_, way) => {
    const file = newFile();
    const results = done(
      await site.run(base, { leave: `${way(file)}\n${until(file)}; ${look(file)}`, after: look(file) }),
    );
    noted.push(Number(readFileSync(file, 'utf8')));
    expect(results.map(({ verdict }) => verdict)).toEqual(['green', 'green']);
    expect(results.map(logOf)).toEqual(['alive\n', 'gone\n']);
  });

  it.each(WAYS)('end with it when it times out and one %s', async (_, way) => {
    const file = newFile();
    const command = `${way(file)}\n${until(file)}; sleep 600`;
    const result = only(await site.run(base, { slow: { command, timeoutMs: 1_500 } }));
    const pid = await pidIn(file);
    expect(result).toMatchObject({ verdict: 'timeout', exitCode: null });
    expect(isRunning(pid)).toBe(false);
  });

  it('end when only the record shows that they belong to it', async () => {
    const file = newFile();
    const hide = `S="$PWD/stay.sh"; (cd / && exec setsid env -i /bin/sh "$S" '${file}') & sleep 1.5`;
    expect(only(await site.run(base, { hide })).verdict).toBe('green');
    expect(isRunning(await pidIn(file))).toBe(false);
  });

  it('end also for a command without a shell', async () => {
    const file = newFile();
    const command = ['sh', '-c', `sleep 600 & echo $! > '${file}'`];
    expect(only(await site.run(base, { list: command })).verdict).toBe('green');
    expect(isRunning(await pidIn(file))).toBe(false);
  });

  it('a process that it left printing does not delay the run', async () => {
    const result = only(await site.run(base, { noisy: 'while :; do echo x; sleep 0.1; done & echo done' }));
    expect(result.verdict).toBe('green');
  });

  it('a server that set-up starts is there for all checks and gone afterwards', async () => {
    const [file, hidden, worker] = [newFile(), newFile(), newFile()];
    const setup = [
      `sh stay.sh '${file}' & ${until(file)}`,
      `env -i /bin/sh stay.sh '${hidden}' & sleep 1.5`,
      `sh server.sh '${worker}' &`,
    ];
    const served = newCheckSite(area, { files: SCRIPTS, settings: { setup } });
    const all = [file, hidden, worker].map(look).join('; ');
    // What it starts while a check runs is not the check's either.
    const results = done(
      await served.run(served.candidate({}), { one: `> go.log; ${until(worker)}; ${all}`, two: all }),
    );
    expect(results.map(logOf)).toEqual(['alive\nalive\nalive\n', 'alive\nalive\nalive\n']);
    const pids = await Promise.all([file, hidden, worker].map(pidIn));
    expect(pids.map(isRunning)).toEqual([false, false, false]);
  });

  it('a process that was in the worktree before is left alone', async () => {
    only(await site.run(base, { check: 'true' }));
    const visitor = spawn('sleep', ['600'], { cwd: site.worktree, stdio: 'ignore' });
    started.push(visitor);
    await sleep(50);
    only(await site.run(base, { check: 'sleep 0.1' }));
    expect(isRunning(visitor.pid ?? 0)).toBe(true);
  });
});

async function processesIn({ worktree }: CheckSite): Promise<readonly string[]> {
  const { processesInside } = await import('../../../packages/copse/src/processes/occupancy.ts');
  const inside = await processesInside(worktree);
  return inside.kind === 'known' ? inside.processes.map(({ name }) => name) : [inside.why];
}

describe.runIf(isLinux)('a cancelled run', () => {
  it('ends every process before it returns, and the slot is free at once', async () => {
    const site = newCheckSite(area);
    const commit = site.candidate({});
    const file = newFile();
    const off = new AbortController();
    const run = site.run(
      commit,
      {
        slow: `(setsid sh -c 'echo $$ > "${file}"; exec sleep 600' &); ${until(file)}; sleep 600`,
        next: 'true',
      },
      { signal: off.signal },
    );
    const pid = await pidIn(file);
    off.abort();
    expect(await run).toEqual({ kind: 'cancelled' });
    expect(isRunning(pid)).toBe(false);
    expect(await processesIn(site)).toEqual([]);
    expect(existsSync(path.join(site.root, '.copse/queue/1/run.json'))).toBe(false);
    expect(only(await site.run(commit, { check: 'true' })).verdict).toBe('green');
  });

  it('ends also during set-up', async () => {
    const file = newFile();
    const site = newCheckSite(area, {
      settings: { setup: [`sleep 600 & echo $! > '${file}'; wait`, 'echo too late >> late.log'] },
    });
    const off = new AbortController();
    const run = site.run(site.candidate({}), { check: 'true' }, { signal: off.signal });
    const pid = await pidIn(file);
    off.abort();
    expect(await run).toEqual({ kind: 'cancelled' });
    expect(isRunning(pid)).toBe(false);
    expect(existsSync(path.join(site.worktree, 'late.log'))).toBe(false);
  });

  it('starts nothing when it was cancelled before', async () => {
    const site = newCheckSite(area);
    const run = site.run(site.candidate({}), { check: 'true' }, { signal: AbortSignal.abort() });
    expect(await run).toEqual({ kind: 'cancelled' });
    expect(existsSync(site.worktree)).toBe(false);
  });

  it('leaves a usable worktree if it was being made', async () => {
    const site = newCheckSite(area);
    const commit = site.candidate({});
    for (const afterMs of [0, 20, 40, 80]) {
      const off = new AbortController();
      const run = site.run(commit, { check: 'sleep 600' }, { signal: off.signal });
      await sleep(afterMs);
      off.abort();
      expect(await run).toEqual({ kind: 'cancelled' });
    }
    expect(only(await site.run(commit, { check: 'git status --porcelain' })).verdict).toBe('green');
  });
});

describe.runIf(isLinux)('slots', () => {
  it('have one run at a time each, and do not wait for each other', async () => {
    const site = newCheckSite(area);
    const commit = site.candidate({});
    const file = newFile();
    const off = new AbortController();
    const first = site.run(commit, { slow: `echo $$ > '${file}'; sleep 600` }, { signal: off.signal });
    await pidIn(file);
    expect(await site.run(commit, { check: 'true' })).toMatchObject({ kind: 'infrastructure' });
    expect(only(await site.run(commit, { check: 'pwd' }, { slot: 2 })).verdict).toBe('green');
    off.abort();
    expect(await first).toEqual({ kind: 'cancelled' });
  });
});

let program: WorkerProgram | undefined;

/** Another process that runs this check, and nothing else. */
function runElsewhere(
  site: CheckSite,
  check: Partial<CheckCommand>,
  more: Readonly<Record<string, unknown>>,
  setup = '',
) {
  program ??= bundleWorker(new URL('../../support/queue/check-worker.ts', import.meta.url));
  const checks = [{ name: 'check', timeoutMs: 600_000, env: {}, workingDirectory: null, ...check }];
  const request = JSON.stringify({ slot: 1, checks, ...more });
  const child = spawn(process.execPath, [program.file, site.root, request, setup], {
    env: { ...plainEnv, ...program.env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  started.push(child);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

describe.runIf(isLinux)('after the process that ran a check was killed', () => {
  // promise: no-process-left
  it.each(WAYS)('recovering ends processes that %s, and the slot can be used', async (_, way) => {
    const site = newCheckSite(area, { files: SCRIPTS });
    const commit = site.candidate({});
    const [file, main] = [newFile(), newFile()];
    const command = `echo $$ > '${main}'; ${way(file)}\nsleep 600`;
    const child = runElsewhere(site, { command }, { id: 'ch-dead', commit });
    const pids = [await pidIn(main), await pidIn(file)];
    await kill(child);
    expect(pids.map(isRunning)).toEqual([true, true]);
    const said = await site.checks.recover();
    expect(pids.map(isRunning)).toEqual([false, false]);
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/^Ended \d+ processes of the check ch-dead, /);
    expect(await site.checks.recover()).toEqual([]);
    expect(only(await site.run(commit, { check: 'true' })).verdict).toBe('green');
  });

  it('the next run in the slot does the same without a recovery', async () => {
    const site = newCheckSite(area);
    const commit = site.candidate({});
    const [file, server] = [newFile(), newFile()];
    const setup = `sleep 600 & echo $! > '${server}'`;
    const child = runElsewhere(
      site,
      { command: `echo $$ > '${file}'; sleep 600` },
      { id: 'ch-dead', commit },
      setup,
    );
    const pids = [await pidIn(file), await pidIn(server)];
    await kill(child);
    expect(only(await site.run(commit, { check: 'true' })).verdict).toBe('green');
    expect(pids.map(isRunning)).toEqual([false, false]);
  });

  it('killed at any step, it leaves no process, and the slot can be used', async () => {
    const site = newCheckSite(area, {
      files: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`d${at % 9}/f${at}`, `${at}\n`])),
    });
    const [one, other] = [site.candidate({ 'd1/f1': 'other\n', 'd2/f2': null }), site.candidate({})];
    for (const afterMs of [60, 100, 140, 180, 220, 260, 300]) {
      const child = runElsewhere(site, { command: 'sleep 600' }, { id: `ch-${afterMs}`, commit: one });
      await sleep(afterMs);
      await kill(child);
      await site.checks.recover();
      const look = only(await site.run(other, { look: 'git status --porcelain; git rev-parse HEAD' }));
      expect(logOf(look)).toBe(`${other}\n`);
      expect(await processesIn(site)).toEqual([]);
    }
  });

  it('a check that another process runs is left alone', async () => {
    const site = newCheckSite(area);
    const commit = site.candidate({});
    const file = newFile();
    const child = runElsewhere(
      site,
      { command: `echo $$ > '${file}'; sleep 600` },
      { id: 'ch-alive', commit },
    );
    const pid = await pidIn(file);
    expect(await site.checks.recover()).toEqual([]);
    expect(isRunning(pid)).toBe(true);
    await kill(child);
    expect(await site.checks.recover()).toHaveLength(1);
    expect(isRunning(pid)).toBe(false);
  });

  it('recovering also removes expired output', async () => {
    const site = newCheckSite(area);
    const logs = path.join(site.root, '.copse', 'logs', 'queue');
    for (const name of ['old', 'new']) writeFile(path.join(logs, name, 'x.log'), '');
    utimesSync(path.join(logs, 'old'), 1, 1);
    await site.checks.recover();
    expect(readdirSync(logs)).toEqual(['new']);
    rmSync(logs, { recursive: true });
    expect(await site.checks.recover()).toEqual([]);
  });

  it('the age of finished worktrees in copse.yml does not expire output', async () => {
    const files = { 'copse.yml': 'maintenance: { worktree_cleanup: { max_worktree_age: 0 } }\n' };
    const { root } = newCheckSite(area, { files });
    const logs = path.join(root, '.copse', 'logs', 'queue');
    writeFile(path.join(logs, 'yesterday', 'x.log'), '');
    const yesterday = Date.now() / 1_000 - 86_400;
    utimesSync(path.join(logs, 'yesterday'), yesterday, yesterday);
    const opened = await openRun({ cwd: root, env: plainEnv });
    try {
      expect(opened.context.policy.maintenance.finishedWorktreeAgeMs).toBe(0);
      await opened.context.checks.recover();
      expect(readdirSync(logs)).toEqual(['yesterday']);
    } finally {
      await opened.close();
    }
  });
});
