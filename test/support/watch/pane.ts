/** A terminal of tmux with a shell in it, as a person has it: keys in, pictures out. */

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, expect } from 'vitest';

import { plainEnv } from '../cli.ts';

export const hasTmux = spawnSync('tmux', ['-V']).status === 0;

export class Panes {
  readonly #env: NodeJS.ProcessEnv;
  #count = 0;

  constructor(area: string) {
    const TMUX_TMPDIR = path.join(area, 'tmux');
    mkdirSync(TMUX_TMPDIR);
    this.#env = { ...plainEnv, TMUX_TMPDIR, TERM: 'screen-256color', LANG: 'C.UTF-8' };
    afterAll(() => void spawnSync('tmux', ['kill-server'], { env: this.#env }));
  }

  tmux(...argv: readonly string[]): string {
    return execFileSync('tmux', ['-f', '/dev/null', ...argv], {
      env: this.#env,
      encoding: 'utf8',
      stdio: 'pipe',
    });
  }

  /** With a shell that shows `$ ` when it waits. */
  open(
    folder: string,
    [columns, rows]: readonly [number, number],
    variables: Readonly<Record<string, string>> = {},
  ): Pane {
    this.#count += 1;
    const name = `pane${this.#count}`;
    const set = Object.entries({ ...variables, PS1: '$ ' }).flatMap(([key, value]) => [
      '-e',
      `${key}=${value}`,
    ]);
    const size = ['-x', String(columns), '-y', String(rows)];
    this.tmux('-u', 'new-session', '-d', '-s', name, ...size, '-c', folder, ...set, 'bash', '--norc', '-i');
    return new Pane(this, name);
  }
}

export class Pane {
  readonly #panes: Panes;
  readonly #name: string;

  constructor(panes: Panes, name: string) {
    this.#panes = panes;
    this.#name = `${name}:`;
  }

  picture(): readonly string[] {
    return this.#panes.tmux('capture-pane', '-p', '-t', this.#name).trimEnd().split('\n');
  }

  coloured(): string {
    return this.#panes.tmux('capture-pane', '-p', '-e', '-t', this.#name);
  }

  /** Names of keys, as tmux has them. */
  press(...keys: readonly string[]): void {
    this.#panes.tmux('send-keys', '-t', this.#name, ...keys);
  }

  type(text: string): void {
    this.#panes.tmux('send-keys', '-l', '-t', this.#name, text);
  }

  resize(columns: number, rows: number): void {
    this.#panes.tmux('resize-window', '-t', this.#name, '-x', String(columns), '-y', String(rows));
  }

  /** Whether the alternate screen is shown, and the cursor. */
  modes(): { readonly isAlternate: boolean; readonly isCursorVisible: boolean } {
    const format = '#{alternate_on} #{cursor_flag}';
    const [alternate, cursor] = this.#panes
      .tmux('display-message', '-p', '-t', this.#name, format)
      .trim()
      .split(' ');
    return { isAlternate: alternate === '1', isCursorVisible: cursor === '1' };
  }

  /** The settings of the terminal. Its shell must be waiting. */
  async settings(): Promise<string> {
    const tty = this.#panes.tmux('display-message', '-p', '-t', this.#name, '#{pane_tty}').trim();
    return execFileSync('stty', ['--file', tty, '-a'], { encoding: 'utf8' });
  }

  /** The process of a program that runs in here. */
  async pidOf(isIt: (commandLine: readonly string[]) => boolean): Promise<number> {
    const shell = Number(this.#panes.tmux('display-message', '-p', '-t', this.#name, '#{pane_pid}'));
    for (let looks = 0; looks < 300; looks += 1) {
      const found = below(shell).find((pid) => isIt(commandLineOf(pid)));
      if (found !== undefined) return found;
      await sleep(100);
    }
    return expect.fail(`It does not run:\n${this.picture().join('\n')}`);
  }

  async until(look: (lines: readonly string[]) => boolean): Promise<readonly string[]> {
    for (let looks = 0; looks < 600; looks += 1) {
      const lines = this.picture();
      if (look(lines)) return lines;
      await sleep(100);
    }
    return expect.fail(`It did not come about: ${look.toString()}\n${this.picture().join('\n')}`);
  }

  untilText(text: string): Promise<readonly string[]> {
    return this.until((lines) => lines.join('\n').includes(text));
  }
}

function commandLineOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function below(pid: number): readonly number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    const own = children === '' ? [] : children.split(' ').map(Number);
    return [...own, ...own.flatMap(below)];
  } catch {
    return [];
  }
}
