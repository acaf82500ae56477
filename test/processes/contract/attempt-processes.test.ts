import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterEach, describe, expect, onTestFinished, test } from 'vitest';

import { endAttempt, endMarked, processesOfAttempt } from '../../../packages/copse/src/processes/end.ts';
import { identify, isAlive } from '../../../packages/copse/src/processes/identity.ts';
import { readRecord, recordProcesses } from '../../../packages/copse/src/processes/start/recorder.ts';
import { type AttemptId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import type { ProcessIdentity } from '../../../packages/copse/src/kernel/process.ts';
import { newArea } from '../../support/cli.ts';
import { until, wordsIn } from '../../support/records/turns.ts';

const isLinux = process.platform === 'linux';
const area = newArea();
const graceMs = 300;
const toEnd: number[] = [];
const attempts: AttemptId[] = [];
let folders = 0;

afterEach(async () => {
  for (const attempt of attempts.splice(0)) await endAttempt(attempt, [], { graceMs: 0 });
  for (const pid of toEnd.splice(0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended, which is what most of these tests are about.
    }
  }
});

interface Started {
  readonly folder: string;
  readonly attempt: AttemptId;
  readonly root: ProcessIdentity;
  /** What the script wrote into `pids`, once so many are there. */
  readonly pids: (count: number) => Promise<readonly number[]>;
}

async function start(script: string, { isMarked = true } = {}): Promise<Started> {
  folders += 1;
  const folder = path.join(area, `f ${folders}`);
  mkdirSync(folder);
  const attempt = brand<AttemptId>(`at-${process.pid}x${folders}`);
  attempts.push(attempt);
  const env = { PATH: process.env['PATH'] ?? '', ...(isMarked && { COPSE_ATTEMPT_ID: attempt }) };
  const child: ChildProcess = spawn('sh', ['-c', script], { cwd: folder, env, stdio: 'ignore' });
  toEnd.push(child.pid!);
  const pids = async (count: number): Promise<readonly number[]> => {
    const found = (await wordsIn(path.join(folder, 'pids'), count)).map(Number);
    toEnd.push(...found);
    return found;
  };
  return { folder, attempt, root: (await identify(child.pid!))!, pids };
}

const DAEMON = `(setsid sh -c '(setsid sh -c "echo \\$\\$ >> pids; exec sleep 621" &)' &)`;

async function pidsOf(attempt: AttemptId, record?: string): Promise<readonly number[]> {
  return (await processesOfAttempt(attempt, record)).map(({ pid }) => pid).toSorted((a, b) => a - b);
}

describe.runIf(isLinux)('the processes of an attempt', () => {
  // promise: no-process-left
  test('are those with its mark, wherever they went, and none with another mark', async () => {
    const { attempt, root, pids } = await start(`${DAEMON}; exec sleep 620`);
    const [daemon = 0] = await pids(1);
    await until(async () => (await pidsOf(attempt)).length === 2);
    expect(await pidsOf(attempt)).toEqual([root.pid, daemon].toSorted((a, b) => a - b));
    expect(await pidsOf(brand<AttemptId>(attempt.slice(0, -1)))).toEqual([]);
    expect(await pidsOf(brand<AttemptId>(`${attempt}0`))).toEqual([]);
  });

  test('are also their children without the mark', async () => {
    const { attempt, pids } = await start(`env -i /bin/sh -c 'echo $$ >> pids; exec sleep 622' & wait`);
    const [wiped = 0] = await pids(1);
    expect(await pidsOf(attempt)).toContain(wiped);
  });

  test('are never this process, even if it has the mark itself', async () => {
    const { attempt } = await start('exec sleep 623');
    const script = `import(${JSON.stringify(path.resolve('packages/copse/src/processes/end.ts'))}).then(async (m) => console.log((await m.processesOfAttempt(${JSON.stringify(attempt)})).some(({ pid }) => pid === process.pid)))`;
    const child = spawn(process.execPath, ['-e', script], {
      env: { ...process.env, COPSE_ATTEMPT_ID: attempt },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await new Promise((resolve) => child.once('close', resolve));
    expect(said).toBe('false\n');
  });

  // promise: no-process-left
  test('are ended, also those that start meanwhile', async () => {
    const { attempt, root, pids } = await start(
      `trap '(setsid sh -c "echo \\$\\$ >> pids; trap \\"\\" TERM; while :; do sleep 0.05; done" &)' TERM
       ${DAEMON}; while :; do sleep 0.02; done`,
    );
    await pids(1);
    const { remaining } = await endAttempt(attempt, [root], { graceMs });
    expect(remaining).toEqual([]);
    expect(await pids(2)).toHaveLength(2);
    expect(await pidsOf(attempt)).toEqual([]);
  });
});

describe('the processes of a command whose first process has ended', () => {
  test('are ended if they stayed in its session, without a mark and without a parent', async () => {
    folders += 1;
    const folder = path.join(area, `f ${folders}`);
    mkdirSync(folder);
    const script = `env -i /bin/sh -c 'echo $$ >> pids; exec sleep 628' & sleep 0.1`;
    const child = spawn('sh', ['-c', script], { cwd: folder, stdio: 'ignore', detached: true });
    await new Promise((resolve) => child.once('exit', resolve));
    const [left = 0] = (await wordsIn(path.join(folder, 'pids'), 1)).map(Number);
    toEnd.push(left);
    const process = (await identify(left))!;
    const mark = 'COPSE_COMMAND=none-has-it';
    expect((await endMarked(mark, [], { graceMs })).ended).toEqual([]);
    expect(await isAlive(process)).toBe(true);
    expect((await endMarked(mark, [], { graceMs, leader: child.pid! })).ended).toEqual([process]);
    expect(await isAlive(process)).toBe(false);
  });
});

test('a first process that wiped its environment is ended, because its starter knows it', async () => {
  const child = spawn('sleep', ['629'], { env: {}, stdio: 'ignore', detached: true });
  await new Promise((resolve) => child.once('spawn', resolve));
  toEnd.push(child.pid!);
  const { pid, startTime } = (await identify(child.pid!))!;
  const { ended } = await endMarked('COPSE_COMMAND=none-has-it', [{ pid, startTime }], { graceMs });
  expect(ended.map((one) => one.pid)).toEqual([pid]);
});

describe('the record of an attempt', () => {
  async function record(started: Started) {
    const file = path.join(started.folder, 'at.processes.json');
    const around = await identify(process.pid);
    const recorder = recordProcesses({ file, around: around! });
    onTestFinished(() => recorder.stop());
    return { file, recorder };
  }

  test('has the descendants of this process, and not this process', async () => {
    const started = await start(`sh -c 'echo $$ >> pids; sleep 624; true' & wait`);
    const [below = 0] = await started.pids(1);
    const { file, recorder } = await record(started);
    await recorder.look();
    const pids = readRecord(file).map(({ pid }) => pid);
    expect(pids).toEqual(expect.arrayContaining([started.root.pid, below]));
    expect(pids).not.toContain(process.pid);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('is updated without a call', async () => {
    const started = await start('exec sleep 625');
    const { root } = started;
    const { file } = await record(started);
    await until(() => readRecord(file).length > 0);
    expect(readRecord(file)).toContainEqual(root);
  });

  test.runIf(isLinux)('keeps one that lost its parents and its mark, until it ends', async () => {
    const started = await start(
      `env -i /bin/sh -c 'setsid sh -c "echo \\$\\$ >> pids; exec sleep 626" & echo $$ >> pids; sleep 627; true' & wait`,
      { isMarked: false },
    );
    const [first = 0, second = 0] = await started.pids(2);
    const { file, recorder } = await record(started);
    await recorder.look();
    process.kill(started.root.pid, 'SIGKILL');
    const names = new Map([first, second].map((pid) => [pid, readFileSync(`/proc/${pid}/comm`, 'latin1')]));
    const [leaf = 0] = [...names].find(([, name]) => name === 'sleep\n') ?? [];
    const middle = first === leaf ? second : first;
    process.kill(middle, 'SIGKILL');
    await until(async () => (await identify(middle)) === undefined);
    await recorder.look();
    const left = readRecord(file).find(({ pid }) => pid === leaf);
    expect(left).toEqual(await identify(leaf));
    expect(await pidsOf(started.attempt, file)).toContain(leaf);
    await endAttempt(started.attempt, [], { graceMs, records: [file] });
    expect(await isAlive(left!)).toBe(false);
    await recorder.look();
    expect(readRecord(file).map(({ pid }) => pid)).not.toContain(leaf);
  });

  test('has added processes and those below them, the pane of a terminal for example', async () => {
    // Not below this process: its parent is gone at once.
    const started = await start(
      `(setsid sh -c 'echo $$ >> pids; sleep 628; true' &); while ! test -f go; do sleep 0.05; done`,
    );
    const [other = 0] = await started.pids(1);
    writeFileSync(path.join(started.folder, 'go'), '');
    await until(async () => (await identify(started.root.pid)) === undefined);
    const { file, recorder } = await record(started);
    await recorder.look();
    expect(readRecord(file).map(({ pid }) => pid)).not.toContain(other);
    recorder.add((await identify(other))!);
    await until(async () => {
      await recorder.look();
      return readRecord(file).length >= 2;
    });
    expect(readRecord(file).map(({ pid }) => pid)).toContain(other);
  });

  test('is not written again when nothing changed', async () => {
    const { file, recorder } = await record(await start('exec sleep 629'));
    await until(async () => {
      const before = readRecord(file).length;
      await recorder.look();
      return before > 0;
    });
    const { ino } = statSync(file);
    await recorder.look();
    expect(statSync(file).ino).toBe(ino);
  });

  test.each([
    ['nothing', undefined],
    ['half of it', '{"boot": nul'],
    ['another kind of thing', '[]'],
    ['nonsense', '{"boot": null, "processes": [[1, 2], ["a", 5], 7, [-4, 1], null]}'],
    ['an earlier start of the system', `{"boot": "earlier", "processes": [[${process.pid}, 1]]}`],
  ])('of which there is %s counts as empty', (_, text) => {
    const file = path.join(area, 'broken.json');
    if (text !== undefined) writeFileSync(file, text);
    expect(readRecord(file)).toEqual([]);
  });
});
