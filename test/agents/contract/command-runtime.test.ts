import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterEach, describe, expect, test } from 'vitest';

import { isAlive } from '../../../packages/copse/src/processes/identity.ts';
import { openPrograms } from '../../../packages/copse/src/processes/start/programs.ts';
import {
  type CommandSettings,
  commandRuntime,
} from '../../../packages/copse/src/agents/runtimes/command/runtime.ts';
import { RuntimeUnavailable, type Turn } from '../../../packages/copse/src/agents/ports/runtime.ts';
import { newArea } from '../../support/cli.ts';
import { endTurns, newTurn, pidsOf, printedIn, until, wordsIn } from '../../support/records/turns.ts';

const isLinux = process.platform === 'linux';
const area = newArea();
const graceMs = 300;

afterEach(endTurns);

function runtime(command: CommandSettings['command'], promptBy: CommandSettings['promptBy'] = 'file') {
  return commandRuntime({ command, promptBy }, openPrograms());
}

async function run(turn: Turn, ...settings: Parameters<typeof runtime>) {
  const running = await runtime(...settings).start(turn);
  return running.ended;
}

/** A program that is not a shell script: it says its arguments, its input and its folder as JSON. */
const SAY = [
  process.execPath,
  '-e',
  'const input = require("fs").readFileSync(0, "utf8"); console.log(JSON.stringify({ args: process.argv.slice(1), input, cwd: process.cwd() }))',
  '--',
];

interface Said {
  readonly args: readonly string[];
  readonly input: string;
  readonly cwd: string;
}

function said(turn: Turn): Said {
  return JSON.parse(printedIn(turn)) as Said;
}

describe('how a program ended', () => {
  test.each([
    ['exit 0', { kind: 'completed', exitCode: 0 }],
    ['exit 75', { kind: 'limit', until: null, reason: expect.stringContaining('exit code 75') }],
    ['exit 3', { kind: 'crashed', exitCode: 3, reason: 'the agent program ended with exit code 3' }],
    ['kill -KILL $$', { kind: 'crashed', exitCode: null, reason: 'it was killed by SIGKILL' }],
    ['kill -TERM $$', { kind: 'crashed', exitCode: null, reason: 'it was killed by SIGTERM' }],
  ])('%s', async (line, outcome) => {
    expect(await run(newTurn(area), line)).toEqual(outcome);
  });

  test('is reported with the last few lines that it printed in this turn', async () => {
    const turn = newTurn(area);
    writeFileSync(turn.log, 'from the turn before\n');
    const line = `seq 100; printf 'a\\033[31mred\\033[0m 50%%\\r100%% \\007\\n'; printf 'no line feed é林' >&2; exit 2`;
    const outcome = await run(turn, line);
    expect(outcome).toMatchObject({ kind: 'crashed', exitCode: 2 });
    const { reason } = outcome as { readonly reason: string };
    expect(reason.split('\n').slice(-3)).toEqual(['100', '100% \\x07', 'no line feed é林']);
    expect(reason.split('\n')).toHaveLength(21);
    expect(printedIn(turn).startsWith('from the turn before\n1\n2\n')).toBe(true);
    expect(await run(turn, 'exit 2')).toMatchObject({ reason: 'the agent program ended with exit code 2' });
  });

  test('is reported for a program that printed a line of megabytes, or nothing', async () => {
    const turn = newTurn(area);
    const outcome = await run(turn, `head -c 3000000 /dev/zero | tr '\\0' 'é'; exit 1`);
    expect((outcome as { readonly reason: string }).reason.length).toBeLessThan(400);
  });

  test('a missing program is named, and nothing is started', async () => {
    const starting = runtime(['no such program', 'x']).start(newTurn(area));
    await expect(starting).rejects.toBeInstanceOf(RuntimeUnavailable);
    await expect(starting).rejects.toThrow(
      'The program no such program is not installed. Install it, or correct the agent’s `command` in copse.yml.',
    );
  });

  test('so is one that is not executable, and a folder that is missing is not mistaken for it', async () => {
    const turn = newTurn(area);
    const file = path.join(turn.folder, 'agent');
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o600 });
    await expect(runtime([file]).start(turn)).rejects.toThrow('is not executable');
    rmSync(turn.folder, { recursive: true });
    const starting = runtime(['true']).start(turn);
    await expect(starting).rejects.toThrow('does not exist');
    await expect(starting).rejects.not.toBeInstanceOf(RuntimeUnavailable);
  });

  test('a shell line that names a missing program says so in one sentence', async () => {
    expect(await run(newTurn(area), 'no-such-program --x')).toMatchObject({
      kind: 'crashed',
      exitCode: 127,
      reason: expect.stringMatching(/^a program in its command was not found \(exit code 127\)/),
    });
  });
});

describe('what a program gets', () => {
  test('is its folder and the environment of the turn, and none of this process', async () => {
    const turn = newTurn(area, { environment: { PATH: process.env['PATH'] ?? '', COPSE_PORT: '1' } });
    await run(turn, ['env']);
    expect(readEnvironmentNames(printedIn(turn))).toEqual(['COPSE_PORT', 'COPSE_PROMPT_FILE', 'PATH']);
    const where = newTurn(area);
    await run(where, SAY);
    expect(said(where)).toMatchObject({ cwd: where.folder, input: '' });
  });

  test('is its system prompt as a variable, what the agent’s settings add first', async () => {
    const turn = newTurn(area, { systemPrompt: 'Rules.' });
    const settings = {
      command: 'printf %s "$COPSE_SYSTEM_PROMPT"',
      promptBy: 'file',
      systemPrompt: 'You are.',
    } as const;
    await (
      await commandRuntime(settings, openPrograms()).start(turn)
    ).ended;
    expect(printedIn(turn)).toBe('You are.\n\nRules.');
  });

  const prompt = `Do 'it' "now"; $(touch pwned) \`touch pwned\` && rm -rf x\n--flag é林😀 %s \\n`;

  test('by file: the name as a variable and in place of {prompt_file}', async () => {
    const line = newTurn(area, { prompt });
    await run(line, 'cat "$COPSE_PROMPT_FILE"');
    expect(printedIn(line)).toBe(prompt);
    const list = newTurn(area, { prompt, promptFile: '/tmp/$& $1 {prompt_file}' });
    await run(list, [...SAY, '--file={prompt_file}', '{prompt_file}', '{prompt}']);
    expect(said(list).args).toEqual([`--file=${list.promptFile}`, list.promptFile, '{prompt}']);
  });

  // promise: no-shell
  test('by argument: as the last one, or as $1 of a shell line, with any characters', async () => {
    const line = newTurn(area, { prompt });
    await run(line, 'printf %s "$1"; echo "[$#]"', 'argument');
    expect(printedIn(line)).toBe(`${prompt}[1]\n`);
    const list = newTurn(area, { prompt });
    await run(list, [...SAY, 'first'], 'argument');
    expect(said(list)).toMatchObject({ args: ['first', prompt] });
    for (const { folder } of [line, list]) expect(existsSync(path.join(folder, 'pwned'))).toBe(false);
  });

  test('by stdin, to its end', async () => {
    for (const command of ['cat', ['cat']]) {
      const turn = newTurn(area, { prompt });
      expect(await run(turn, command, 'stdin')).toMatchObject({ kind: 'completed' });
      expect(printedIn(turn)).toBe(prompt);
      expect(existsSync(`${turn.log}.input`)).toBe(false);
    }
  });

  const long = `${'é'.repeat(512 * 1024 - 3)}end`;

  test('a prompt of a megabyte by file and by stdin; an argument names the file instead', async () => {
    const file = newTurn(area, { prompt: long });
    await run(file, 'cat "$COPSE_PROMPT_FILE"');
    const stdin = newTurn(area, { prompt: long });
    await run(stdin, 'cat', 'stdin');
    for (const turn of [file, stdin]) expect(printedIn(turn) === long).toBe(true);
    const argument = newTurn(area, { prompt: long });
    expect(await run(argument, SAY, 'argument')).toMatchObject({ kind: 'completed' });
    expect(said(argument).args).toEqual([expect.stringContaining(`follow them: ${argument.promptFile}`)]);
  });

  test.each([
    ['the longest that fits', 'x'.repeat(128 * 1024 - 1), true],
    ['one more', 'x'.repeat(128 * 1024), false],
    ['with a NUL', 'a\0b', false],
  ])('an argument: %s', async (_, text, fits) => {
    const turn = newTurn(area, { prompt: text });
    expect(await run(turn, SAY, 'argument')).toMatchObject({ kind: 'completed' });
    expect(said(turn).args[0] === text).toBe(fits);
  });

  test('a program that does not read its prompt ends with its own exit code', async () => {
    expect(await run(newTurn(area, { prompt: long }), 'exit 0', 'stdin')).toMatchObject({
      kind: 'completed',
    });
  });
});

describe('what a program prints', () => {
  test('goes straight to the log: fifty megabytes cost this process no memory', async () => {
    const turn = newTurn(area);
    global.gc?.();
    const before = process.memoryUsage.rss();
    expect(await run(turn, `head -c 50000000 /dev/zero | tr '\\0' x`)).toMatchObject({
      kind: 'completed',
    });
    expect(statSync(turn.log).size).toBe(50_000_000);
    expect(process.memoryUsage.rss() - before).toBeLessThan(25_000_000);
  });

  // promise: board-private, no-link-followed
  test('is readable for this user only, and is not written through a link', async () => {
    const turn = newTurn(area);
    await run(turn, 'echo x');
    expect(statSync(turn.log).mode & 0o777).toBe(0o600);
    const other = newTurn(area);
    symlinkSync(turn.log, other.log);
    await expect(run(other, 'echo y')).rejects.toThrow('ELOOP');
    expect(printedIn(turn)).toBe('x\n');
  });
});

describe('stopping', () => {
  test('sends SIGTERM first', async () => {
    const turn = newTurn(area);
    const running = await runtime(
      'trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.02; done',
    ).start(turn);
    await until(() => printedIn(turn) === 'up\n');
    await running.stop({ graceMs: 5_000 });
    expect(await running.ended).toEqual({ kind: 'cancelled' });
    expect(printedIn(turn)).toMatch(/bye\n$/);
  });

  test('kills a program that does not end', async () => {
    const turn = newTurn(area);
    const running = await runtime('trap "" TERM; echo up; while :; do sleep 0.02; done').start(turn);
    await until(() => printedIn(turn) === 'up\n');
    await running.stop({ graceMs });
    expect(await running.ended).toEqual({ kind: 'cancelled' });
    expect(await isAlive(running.process!)).toBe(false);
  });

  // promise: no-process-left
  test.runIf(isLinux)(
    'reaches processes that left the group, the session and their parents, and new ones',
    async () => {
      const turn = newTurn(area);
      const line = `
        setsid sh -c 'echo $$ >> pids; exec sleep 601' &
        (setsid sh -c 'echo $$ >> pids; trap "" TERM; while :; do sleep 0.05; done' &)
        (setsid sh -c '(setsid sh -c "echo \\$\\$ >> pids; exec sleep 602" &)' &)
        trap '(setsid sh -c "echo \\$\\$ >> pids; exec sleep 603" &)' TERM
        while :; do sleep 0.02; done`;
      const running = await runtime(line).start(turn);
      await wordsIn(path.join(turn.folder, 'pids'), 3);
      await running.stop({ graceMs });
      const pids = (await wordsIn(path.join(turn.folder, 'pids'), 4)).map(Number);
      expect(pids.filter(isRunning)).toEqual([]);
      expect(await pidsOf(turn)).toEqual([]);
      expect(await running.ended).toEqual({ kind: 'cancelled' });
    },
  );

  test.runIf(isLinux)(
    'a program that has ended ends the processes it left, and keeps its outcome',
    async () => {
      const turn = newTurn(area);
      const running = await runtime('(setsid sh -c "echo \\$\\$ > pids; exec sleep 604" &); exit 0').start(
        turn,
      );
      expect(await running.ended).toEqual({ kind: 'completed', exitCode: 0 });
      const [left = ''] = await wordsIn(path.join(turn.folder, 'pids'), 1);
      // Beside it, for as long as it lives, the reaper above it.
      expect(await pidsOf(turn)).toContain(Number(left));
      await running.stop({ graceMs });
      expect(await running.ended).toEqual({ kind: 'completed', exitCode: 0 });
      expect(isRunning(Number(left))).toBe(false);
      expect(await pidsOf(turn)).toEqual([]);
    },
  );

  test.runIf(isLinux)('ends no other process, for example one of the next attempt', async () => {
    const other = newTurn(area);
    const next = await runtime('exec sleep 605').start(other);
    const turn = newTurn(area);
    const running = await runtime('exec sleep 606').start(turn);
    await running.stop({ graceMs });
    expect(await isAlive(next.process!)).toBe(true);
    expect(await isAlive(running.process!)).toBe(false);
  });
});

describe('a program', () => {
  test.runIf(isLinux)('leads a session of its own', async () => {
    const running = await runtime(['sleep', '607']).start(newTurn(area));
    const { pid } = running.process!;
    const [, group, session] =
      /\) \S+ \d+ (\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1')) ?? [];
    expect([group, session]).toEqual([String(pid), String(pid)]);
  });
});

function readEnvironmentNames(printed: string): readonly string[] {
  // A value may have lines of its own.
  return printed
    .split('\n')
    .flatMap((line) => /^([A-Z_]+)=/.exec(line)?.[1] ?? [])
    .filter((name) => !['PWD', 'SHLVL', '_'].includes(name))
    .toSorted();
}

function isRunning(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
