import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect, test } from 'vitest';

import { processesOfAttempt } from '../../../packages/copse/src/processes/end.ts';
import { attemptFiles, readOrders } from '../../../packages/copse/src/agents/files/attempt-files.ts';
import { openRunners } from '../../../packages/copse/src/agents/files/runners.ts';
import {
  type AgentName,
  type AttemptId,
  type SessionId,
  type TaskId,
  brand,
  fencingToken,
} from '../../../packages/copse/src/kernel/ids.ts';
import type { Orders } from '../../../packages/copse/src/agents/ports/runners.ts';
import { newArea } from '../../support/cli.ts';
import { AWKWARD, until } from '../../support/records/turns.ts';

const isLinux = process.platform === 'linux';
const area = newArea();
const starter = fileURLToPath(new URL('../../support/agents/runner-starter.ts', import.meta.url));
const inherited = fileURLToPath(
  new URL('../../../packages/copse/src/processes/inherited.ts', import.meta.url),
);
const toEnd: number[] = [];
let homes = 0;

afterEach(() => {
  for (const pid of toEnd.splice(0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
});

interface Place {
  readonly home: string;
  readonly program: string;
  readonly orders: Orders;
  readonly said: string;
}

/** A runner that writes down who it is and lives until it is killed. */
function newPlace(): Place {
  homes += 1;
  const home = path.join(area, String(homes), AWKWARD);
  mkdirSync(path.join(home, '.copse'), { recursive: true });
  const said = path.join(home, 'said.json');
  const program = path.join(home, 'runner.mjs');
  writeFileSync(
    program,
    `import { writeFileSync, renameSync, readlinkSync, readdirSync } from 'node:fs';
     const { closeInherited } = await import(${JSON.stringify(inherited)});
     closeInherited();
     const links = () => { try { return readdirSync('/proc/self/fd').map((fd) => { try { return fd + ' ' + readlinkSync('/proc/self/fd/' + fd); } catch { return ''; } }); } catch { return []; } };
     console.log('runner here'); console.error('and here');
     const said = { pid: process.pid, argv: process.argv.slice(2), cwd: process.cwd(), env: process.env, files: links() };
     writeFileSync(${JSON.stringify(`${said}.new`)}, JSON.stringify(said));
     renameSync(${JSON.stringify(`${said}.new`)}, ${JSON.stringify(said)});
     setInterval(() => {}, 1000);`,
  );
  const orders: Orders = {
    task: brand<TaskId>('cp-test'),
    session: brand<SessionId>('se-test'),
    attempt: brand<AttemptId>(`at-${process.pid}r${homes}`),
    token: fencingToken(7),
    agent: brand<AgentName>('ada'),
    conversation: null,
    begin: { why: 'restarted', answer: "it's “so”\n" },
  };
  return { home, program, orders, said };
}

interface Said {
  readonly pid: number;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

async function saidBy({ said }: Place): Promise<Said> {
  await until(() => existsSync(said));
  const answer = JSON.parse(readFileSync(said, 'utf8')) as Said;
  toEnd.push(answer.pid);
  return answer;
}

function runnersOf(
  { home, program }: Place,
  environment: Readonly<Record<string, string | undefined>> = process.env,
) {
  return openRunners({
    home,
    program: [process.execPath, program],
    environment,
    settingsOf: ({ agent }) => ({ for: agent }),
    processesOf: processesOfAttempt,
  });
}

describe('a runner that is started', () => {
  test('gets its orders in a file of its own, and the given environment', async () => {
    const place = newPlace();
    const { home, orders } = place;
    await runnersOf(place, { PATH: process.env['PATH'], EDITOR: 'ed', GONE: undefined }).start(orders);
    const said = await saidBy(place);
    const file = attemptFiles(home, orders.attempt).orders;
    expect(file).toBe(path.join(home, '.copse/attempts', `${orders.attempt}.json`));
    expect(said).toMatchObject({ argv: [file], cwd: home });
    expect(said.env).toEqual({ PATH: process.env['PATH'], EDITOR: 'ed' });
    expect(readOrders(file)).toEqual({ orders, settings: { for: 'ada' } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    expect(readdirSync(path.dirname(file))).toEqual([path.basename(file)]);
  });

  test('prints into a log of its own', async () => {
    const place = newPlace();
    await runnersOf(place).start(place.orders);
    await saidBy(place);
    const log = path.join(place.home, '.copse/logs/cp-test', `${place.orders.attempt}.runner.log`);
    await until(() => readFileSync(log, 'utf8') === 'runner here\nand here\n');
    expect(statSync(log).mode & 0o777).toBe(0o600);
  });

  test('that is missing is an error that names the task, and leaves no orders', async () => {
    const place = newPlace();
    const { home, orders } = place;
    const runners = openRunners({
      home,
      program: ['/no/such/runner'],
      environment: {},
      processesOf: processesOfAttempt,
    });
    await expect(runners.start(orders)).rejects.toThrow('The runner of cp-test could not be started');
    expect(readdirSync(path.join(home, '.copse/attempts'))).toEqual([]);
  });

  // promise: orchestrator-restart
  test('outlives its starter, the starter’s group, and a hang-up', async () => {
    const place = newPlace();
    const parent = startStarter(place, { detached: true, env: { STAY: '1' } });
    await started(parent);
    const { pid } = await saidBy(place);
    for (const signal of ['SIGINT', 'SIGHUP', 'SIGKILL'] as const) {
      try {
        process.kill(-parent.pid!, signal);
      } catch {
        // The first of them was enough.
      }
    }
    await new Promise((resolve) =>
      (parent.exitCode ?? parent.signalCode) === null ? parent.once('exit', resolve) : resolve(0),
    );
    expect(isRunning(pid)).toBe(true);
  });

  test.runIf(isLinux)('outlives the terminal of its starter', async () => {
    const place = newPlace();
    // `script` gives its program a terminal, which goes when it goes.
    const quoted = starterArguments(place).map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
    const terminal = spawn('script', ['-qec', quoted.join(' '), '/dev/null'], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { ...process.env, STAY: '1', SHELL: '/bin/sh' },
    });
    const gone = new Promise((resolve) => terminal.once('exit', resolve));
    const { pid } = await saidBy(place);
    expect(terminalOf(pid)).toBe('0');
    terminal.kill('SIGKILL');
    await gone;
    expect(isRunning(pid)).toBe(true);
  });

  test.runIf(isLinux)(
    'inherits no open file of its starter: a reader of that file does not wait for the runner',
    async () => {
      const place = newPlace();
      // A low number and one that Node itself would hand on.
      const parent = spawn('bash', ['-c', 'exec 34>&3 "$@"', 'bash', ...starterArguments(place)], {
        stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
      });
      const closed = new Promise((resolve) => parent.once('close', resolve));
      const { pid, files } = await saidBy(place);
      // Only now are all pipes closed, while the runner goes on.
      await closed;
      expect(isRunning(pid)).toBe(true);
      const log = path.join(place.home, '.copse/logs/cp-test', `${place.orders.attempt}.runner.log`);
      expect(files.filter((file) => /^[012] /.test(file))).toEqual(['0 /dev/null', `1 ${log}`, `2 ${log}`]);
      const others = files.filter((file) => file !== '' && !/^[012] /.test(file));
      expect(others.filter((file) => !/ (anon_inode:|\/proc\/)/.test(file) && !isOwnPipe(pid, file))).toEqual(
        [],
      );
    },
  );
});

describe('what an attempt leaves behind', () => {
  test.runIf(isLinux)('is known from its record and from its mark while it runs', async () => {
    const place = newPlace();
    const { home, orders } = place;
    const runners = runnersOf(place);
    const marked = spawn('sleep', ['631'], {
      env: { PATH: process.env['PATH'], COPSE_ATTEMPT_ID: orders.attempt },
    });
    const recorded = spawn('sleep', ['632'], { env: { PATH: process.env['PATH'] } });
    toEnd.push(marked.pid!, recorded.pid!);
    mkdirSync(path.join(home, '.copse/attempts'));
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    const startTime = Number(
      readFileSync(`/proc/${recorded.pid}/stat`, 'latin1').split(') ')[1]!.split(' ')[19],
    );
    const pairs = [
      [recorded.pid, startTime],
      // The pid of another process by now.
      [process.ppid, 1],
    ];
    const file = attemptFiles(home, orders.attempt).processes;
    writeFileSync(file, JSON.stringify({ boot, processes: pairs }));
    const pids = async () => (await runners.processesOf(orders.attempt)).map(({ pid }) => pid).toSorted();
    await until(async () => (await pids()).length === 2);
    expect(await pids()).toEqual([marked.pid, recorded.pid].toSorted());
    recorded.kill('SIGKILL');
    await until(async () => (await pids()).length === 1);
    expect(await pids()).toEqual([marked.pid]);
  });

  test('can be forgotten, and forgetting may be repeated', async () => {
    const place = newPlace();
    const { home, orders } = place;
    const runners = runnersOf(place);
    await runners.start(orders);
    await saidBy(place);
    writeFileSync(attemptFiles(home, orders.attempt).processes, '{}');
    await runners.forget(orders.attempt);
    await runners.forget(orders.attempt);
    expect(readdirSync(path.join(home, '.copse/attempts'))).toEqual([]);
    expect(readdirSync(path.join(home, '.copse/logs/cp-test'))).toEqual([`${orders.attempt}.runner.log`]);
  });
});

function starterArguments({ home, program, orders }: Place): readonly string[] {
  return [process.execPath, starter, home, program, JSON.stringify(orders)];
}

function startStarter(
  place: Place,
  { detached, env }: { readonly detached: boolean; readonly env: Readonly<Record<string, string>> },
): ChildProcess {
  const [node = '', ...args] = starterArguments(place);
  const child = spawn(node, args, {
    detached,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  toEnd.push(child.pid!);
  return child;
}

async function started(child: ChildProcess): Promise<void> {
  await new Promise((resolve) => child.stdout!.once('data', resolve));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isLinux || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

function terminalOf(pid: number): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[4];
}

/** Node's own pipes to itself are closed when it starts another program. */
function isOwnPipe(pid: number, file: string): boolean {
  const [number = ''] = file.split(' ');
  const [, flags = ''] =
    /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${number}`, 'latin1')) ?? [];
  return (Number.parseInt(flags, 8) & 0o2000000) !== 0;
}
