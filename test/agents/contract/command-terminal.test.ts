import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';

import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';

import { isAlive, listProcesses } from '../../../packages/copse/src/processes/identity.ts';
import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import {
  type CommandSettings,
  commandRuntime,
} from '../../../packages/copse/src/agents/runtimes/command/runtime.ts';
import type { ProcessIdentity } from '../../../packages/copse/src/kernel/process.ts';
import { RuntimeUnavailable, type Turn } from '../../../packages/copse/src/agents/ports/runtime.ts';
import { newArea } from '../../support/cli.ts';
import { endTurns, newTurn, pidsOf, printedIn, until, wordsIn } from '../../support/records/turns.ts';

const isLinux = process.platform === 'linux';
const area = newArea();
const socket = `copse-terminal-${process.pid}`;
const graceMs = 300;
let names = 0;

afterEach(endTurns);
afterAll(() => {
  try {
    tmux('kill-server');
  } catch {
    // Its last session ended, and it with it.
  }
  const folder = path.join(process.env['TMUX_TMPDIR'] ?? '/tmp', `tmux-${process.getuid?.()}`);
  for (const name of [socket, `${socket}-own`]) rmSync(path.join(folder, name), { force: true });
});

function tmux(...argv: readonly string[]): string {
  const { TMUX: _, ...env } = process.env;
  return execFileSync('tmux', ['-L', socket, ...argv], { env, encoding: 'utf8', stdio: 'pipe' });
}

function runtime(command: CommandSettings['command'], promptBy: CommandSettings['promptBy'] = 'file') {
  return commandRuntime({ command, promptBy }, openPrograms({ tmux: { socket } }));
}

function turnInTmux(changes: Partial<Turn> = {}): Turn & { readonly terminal: string } {
  names += 1;
  const terminal = `copse-cp-${names}`;
  return { ...newTurn(area, changes), terminal };
}

function hasSession(name: string): boolean {
  try {
    tmux('has-session', '-t', `=${name}`);
    return true;
  } catch {
    return false;
  }
}

async function run(turn: Turn, ...settings: Parameters<typeof runtime>) {
  return (await runtime(...settings).start(turn)).ended;
}

/** What a terminal adds at the ends of lines is taken away. */
function lines(turn: Turn): readonly string[] {
  return printedIn(turn).split(/\r?\n/).filter(Boolean);
}

describe.runIf(has('tmux'))('a program in tmux', () => {
  test('has a terminal, and a person who joins sees what it shows and types to it', async () => {
    const turn = turnInTmux();
    const running = await runtime(
      'test -t 0 && test -t 1 && echo ready; read -r word; echo "got $word"; read -r _',
    ).start(turn);
    await until(() => tmux('capture-pane', '-p', '-t', `=${turn.terminal}:`).includes('ready'));
    tmux('send-keys', '-t', `=${turn.terminal}:`, '-l', 'hällo');
    tmux('send-keys', '-t', `=${turn.terminal}:`, 'Enter');
    await until(() => tmux('capture-pane', '-p', '-t', `=${turn.terminal}:`).includes('got hällo'));
    expect(hasSession(turn.terminal)).toBe(true);
    tmux('send-keys', '-t', `=${turn.terminal}:`, 'Enter');
    expect(await running.ended).toEqual({ kind: 'completed', exitCode: 0 });
    expect(lines(turn)).toEqual(expect.arrayContaining(['ready', 'got hällo']));
  });

  test.runIf(has('script'))('is joined with tmux attach', async () => {
    const turn = turnInTmux();
    await runtime('echo for all to see; exec sleep 611').start(turn);
    const client = spawn('script', ['-qec', `tmux -L ${socket} attach -t =${turn.terminal}`, '/dev/null'], {
      env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', LANG: 'C.UTF-8' },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    onTestFinished(() => void client.kill('SIGKILL'));
    let shown = '';
    client.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
    await until(() => shown.includes('for all to see'));
    tmux('detach-client', '-s', `=${turn.terminal}`);
    expect(hasSession(turn.terminal)).toBe(true);
  });

  test.each([
    ['exit 0', { kind: 'completed', exitCode: 0 }],
    ['exit 75', { kind: 'limit', until: null }],
    [
      'echo last words; exit 3',
      { kind: 'crashed', exitCode: 3, reason: expect.stringContaining('last words') },
    ],
    ['kill -KILL $$', { kind: 'crashed', exitCode: null, reason: 'it was killed by SIGKILL' }],
  ])('ends as it would without tmux: %s', async (line, outcome) => {
    const turn = turnInTmux();
    expect(await run(turn, line)).toMatchObject(outcome);
    expect(hasSession(turn.terminal)).toBe(false);
    expect(readdirSync(path.dirname(turn.log))).toEqual([path.basename(turn.log)]);
  });

  test('has its whole output in the log', async () => {
    const turn = turnInTmux();
    await run(turn, 'echo first; seq 20000; echo last');
    const printed = lines(turn);
    expect(printed).toHaveLength(20_002);
    expect([printed[0], printed.at(-1)]).toEqual(['first', 'last']);
    expect(statSync(turn.log).mode & 0o777).toBe(0o600);
  });

  // promise: no-shell
  test('works in its folder, and no name runs as a command', async () => {
    const turn = turnInTmux();
    expect(await run(turn, 'pwd > where; echo said')).toMatchObject({ kind: 'completed' });
    expect(readFileSync(path.join(turn.folder, 'where'), 'utf8')).toBe(`${turn.folder}\n`);
    expect(lines(turn)).toEqual(['said']);
    for (const folder of [turn.folder, area, process.cwd(), '/'])
      expect(existsSync(path.join(folder, 'pwned'))).toBe(false);
  });

  test('has the environment of the turn and the kind of its terminal, and none of the server’s variables', async () => {
    const turn = turnInTmux();
    await run(turn, ['sh', '-c', 'env -0 > environment']);
    const all = readFileSync(path.join(turn.folder, 'environment'), 'utf8').split('\0').filter(Boolean);
    const found = all.map((one) => one.slice(0, one.indexOf('=')));
    expect(found.filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name)).toSorted()).toEqual([
      'COPSE_ATTEMPT_ID',
      'COPSE_PROMPT_FILE',
      'PATH',
      'TERM',
    ]);
  });

  const prompt = `Do 'it' "now"; $(touch pwned) #(touch pwned)\n--flag é林😀 %s \\n;`;

  test.each([
    ['argument', 'printf %s "$1" > got'],
    ['stdin', 'cat > got'],
    ['file', 'cat "$COPSE_PROMPT_FILE" > got'],
  ] as const)('gets its prompt by %s, with any characters and any length', async (promptBy, line) => {
    for (const text of [prompt, 'x'.repeat(100_000)]) {
      const turn = turnInTmux({ prompt: text });
      await run(turn, line, promptBy);
      expect(readFileSync(path.join(turn.folder, 'got'), 'utf8')).toBe(text);
      expect(existsSync(path.join(turn.folder, 'pwned'))).toBe(false);
    }
  });

  test('that is missing is named, and leaves no session', async () => {
    const turn = turnInTmux();
    const starting = runtime(['no such program']).start(turn);
    await expect(starting).rejects.toBeInstanceOf(RuntimeUnavailable);
    await expect(starting).rejects.toThrow('The program no such program is not installed.');
    await until(() => !hasSession(turn.terminal));
  });

  test('is stopped with every process it started, and its session ends', async () => {
    const turn = turnInTmux();
    const line = `(setsid sh -c 'echo $$ >> pids; trap "" TERM HUP; while :; do sleep 0.05; done' &)
      echo $$ >> pids; trap "" TERM HUP; while :; do sleep 0.02; done`;
    const running = await runtime(line).start(turn);
    const pids = new Set((await wordsIn(path.join(turn.folder, 'pids'), 2)).map(Number));
    await running.stop({ graceMs });
    expect(await running.ended).toEqual({ kind: 'cancelled' });
    const left = (await listProcesses()).filter(({ pid }) => pids.has(pid));
    expect(left).toEqual([]);
    await until(() => !hasSession(turn.terminal));
  });

  test('whose session is killed has crashed, even if it ignores the hang-up', async () => {
    const turn = turnInTmux();
    const running = await runtime('trap "" HUP; echo up; while :; do sleep 0.05; done').start(turn);
    await until(() => printedIn(turn).includes('up'));
    tmux('kill-session', '-t', `=${turn.terminal}`);
    expect(await running.ended).toMatchObject({ kind: 'crashed', exitCode: null });
    expect(await isAlive(running.process!)).toBe(false);
  });

  test('leaves the windows of a person alone, and the next one opens beside them', async () => {
    const turn = turnInTmux();
    const running = await runtime('read -r _').start(turn);
    tmux('split-window', '-t', `=${turn.terminal}:`, 'sleep 612');
    tmux('send-keys', '-t', `=${turn.terminal}:.0`, 'Enter');
    expect(await running.ended).toMatchObject({ kind: 'completed' });
    expect(hasSession(turn.terminal)).toBe(true);
    const next = { ...newTurn(area), terminal: turn.terminal };
    expect(await run(next, 'echo again')).toMatchObject({ kind: 'completed' });
    expect(lines(next)).toEqual(['again']);
    expect(hasSession(turn.terminal)).toBe(true);
    tmux('kill-session', '-t', `=${turn.terminal}`);
  });

  test.runIf(isLinux)('does not mark tmux’s server, which all sessions share', async () => {
    process.env['COPSE_ATTEMPT_ID'] = 'at-another';
    onTestFinished(() => void delete process.env['COPSE_ATTEMPT_ID']);
    const turn = turnInTmux();
    const own = `${socket}-own`;
    const started: ProcessIdentity[] = [];
    const running = await commandRuntime(
      { command: 'exec sleep 613', promptBy: 'file' },
      openPrograms({ tmux: { socket: own }, onStart: (process) => started.push(process) }),
    ).start(turn);
    expect(started).toEqual([running.process]);
    const server = execFileSync('tmux', ['-L', own, 'display-message', '-p', '-t', turn.terminal, '#{pid}'], {
      encoding: 'utf8',
    }).trim();
    expect(readFileSync(`/proc/${server}/environ`, 'latin1')).not.toContain('COPSE_ATTEMPT_ID');
    const marked = await pidsOf(turn);
    expect(marked).not.toContain(Number(server));
    expect(marked).not.toEqual([]);
    // A folder in use is not removed, and the server stays as long as a session uses it.
    expect(execFileSync('readlink', [`/proc/${server}/cwd`], { encoding: 'utf8' })).toBe('/\n');
    await running.stop({ graceMs });
  });
});

describe('without tmux', () => {
  test('a person is told how to get it', async () => {
    const empty = path.join(area, 'no programs');
    mkdirSync(empty);
    symlinkSync('/bin/sh', path.join(empty, 'sh'));
    const before = process.env['PATH'];
    process.env['PATH'] = empty;
    try {
      const starting = runtime('true').start(turnInTmux());
      await expect(starting).rejects.toBeInstanceOf(RuntimeUnavailable);
      await expect(starting).rejects.toThrow(/^tmux is not installed.*apt install tmux.*terminal: headless/);
    } finally {
      process.env['PATH'] = before;
    }
  });
});

function has(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
