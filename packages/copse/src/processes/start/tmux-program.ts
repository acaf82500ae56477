/**
 * A program inside a tmux session that a person can join.
 *
 *   job file → tmux → launcher → reaper → program → exit file → the pane closes
 *
 * tmux takes few and short arguments, and its server has an environment of its own, so what to run is in a file that the
 * launcher reads, and deletes once the program runs. How the program ended is in another one, because it is tmux's
 * child and not ours.
 *
 * tmux expands `#(…)` in folders and gives the command of a pipe to a shell. No name of ours reaches either as it is:
 * folders are escaped, and the log's name travels in base 64.
 *
 * The pane ends with the program. If a person opened others in the session, they stay, and the next program of that name
 * gets a window beside them.
 */

import { closeSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ProcessIdentity } from '../../kernel/process.ts';
import { type Program, type ProgramEnd, ProgramMissing, type RunningProgram } from '../ports/programs.ts';
import { endAttempt } from '../end.ts';
import { identify, isAlive } from '../identity.ts';
import { LAUNCHER } from '../launcher.ts';
import { missing, openLog } from './starting.ts';
import { type TmuxServer, askTmux } from '../tmux.ts';
import { watchedArguments } from './watched.ts';
import { readIfThere } from '../../kernel/system/plain-file.ts';

export async function startInTmux(
  program: Program,
  name: string,
  { server, group }: { readonly server: TmuxServer; readonly group: string | undefined },
): Promise<RunningProgram> {
  if (!/^[\w-]+$/.test(name)) throw new Error(`${name} cannot be the name of a tmux session.`);
  const files = { job: `${program.log}.job`, exit: `${program.log}.exit` };
  const forget = (): void => Object.values(files).forEach((file) => rmSync(file, { force: true }));
  forget();
  // tmux's shell would make it with the rights that its umask gives.
  closeSync(openLog(program.log));
  const { argv, folder, input } = program;
  const { environment: env, ...watched } = watchedArguments({ ...program, group });
  const job = JSON.stringify({ ...watched, folder, env, input, exit: files.exit });
  writeFileSync(files.job, job, { flag: 'wx', mode: 0o600 });
  try {
    const pane = await openPane(program, name, files.job, server);
    const process = (await identify(pane.pid)) ?? null;
    const error = await waitForStart(process, files);
    if (error !== undefined) {
      throw missing(argv[0], error) ?? new Error(`${argv[0]} could not be started in tmux: ${error}.`);
    }
    return {
      process,
      ended: waitForEnd(process, files.exit).then(async (end) => {
        forget();
        await waitUntilClosed(pane.id, server);
        return end;
      }),
      stop: async ({ graceMs }) => {
        await endAttempt(program.attempt, process === null ? [] : [process], { graceMs });
      },
    };
  } catch (error) {
    forget();
    throw error;
  }
}

/** With the pid of the launcher. One call, so that the log has the first word of the program. */
async function openPane(
  { folder, log }: Program,
  name: string,
  job: string,
  server: TmuxServer,
): Promise<Pane> {
  const at = `=${name}:`;
  const exists = (await askTmux(['has-session', '-t', `=${name}`], server)).kind === 'answered';
  const place = exists ? ['new-window', '-t', at] : ['new-session', '-d', '-s', name, ...SIZE];
  const answer = await askTmux(
    [
      place,
      ['-c', escaped(folder), '-P', '-F', '#{pane_pid} #{pane_id}'],
      ['--', process.execPath, '-e', LAUNCHER, job],
      // Whatever the person's own settings are, the session goes on unattended and ends with the program.
      [';', 'set-option', '-t', at, 'destroy-unattached', 'off'],
      [';', 'set-option', '-w', '-t', at, 'remain-on-exit', 'off'],
      [';', 'pipe-pane', '-o', '-t', at, `exec cat >> "$(echo ${base64(log)} | base64 -d)"`],
    ].flat(),
    server,
  );
  if (answer.kind === 'none' && !answer.isInstalled) {
    throw new ProgramMissing(
      'tmux is not installed, and this agent has `terminal: tmux`. Install it (apt install tmux, brew install tmux), or set `terminal: headless`.',
    );
  }
  if (answer.kind !== 'answered') {
    const why = answer.kind === 'failed' ? answer.said : 'its server ended at once';
    throw new Error(`tmux could not open the session ${name}: ${why}. Look at it: tmux list-sessions`);
  }
  const [pid = '', id = ''] = answer.said.trim().split(' ');
  return { pid: Number(pid), id };
}

interface Pane {
  readonly pid: number;
  readonly id: string;
}

const SIZE = ['-x', '200', '-y', '50'];

/** A doubled `#` is one that begins nothing, and after a slash no `;` ends the command. */
function escaped(folder: string): string {
  return `${folder.replaceAll('#', '##')}/`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

interface JobFiles {
  readonly job: string;
  readonly exit: string;
}

/** Why it did not start, or undefined. */
async function waitForStart(
  launcher: ProcessIdentity | null,
  { job, exit }: JobFiles,
): Promise<string | undefined> {
  for (;;) {
    const word = lastWord(exit);
    if (word !== undefined) return word.error;
    if (!existsSync(job)) return undefined;
    if (launcher === null || !(await isAlive(launcher)))
      return lastWord(exit)?.error ?? 'its terminal closed';
    await sleep(START_LOOK_MS);
  }
}

async function waitForEnd(launcher: ProcessIdentity | null, exit: string): Promise<ProgramEnd> {
  for (let look = 0; ; look += 1) {
    const word = lastWord(exit);
    const mayAsk = look % LOOKS_PER_QUESTION === 0 || word !== undefined;
    const isThere = launcher !== null && (!mayAsk || (await isAlive(launcher)));
    if (!isThere) return programEnd(word ?? lastWord(exit));
    await sleep(END_LOOK_MS);
  }
}

/** tmux closes the pane a moment later. The next program must not start in a session that is about to close. */
async function waitUntilClosed(pane: string, server: TmuxServer): Promise<void> {
  for (let look = 0; look < CLOSING_LOOKS; look += 1) {
    const answer = await askTmux(['list-panes', '-a', '-F', '#{pane_id}'], server);
    if (answer.kind !== 'answered' || !answer.said.split('\n').includes(pane)) return;
    await sleep(END_LOOK_MS);
  }
}

const CLOSING_LOOKS = 20;
const START_LOOK_MS = 10;
const END_LOOK_MS = 100;
/** Where there is no /proc, asking whether a process lives starts another one. */
const LOOKS_PER_QUESTION = 5;

interface LastWord {
  readonly error?: string;
  readonly code?: number | null;
  readonly signal?: string | null;
}

/** It arrives by a rename, so it is whole. */
function lastWord(exit: string): LastWord | undefined {
  const text = readIfThere(exit);
  return text === undefined ? undefined : (JSON.parse(text) as LastWord);
}

function programEnd(word: LastWord | undefined): ProgramEnd {
  if (word?.code != null) return { kind: 'exited', code: word.code };
  if (word?.signal != null) return { kind: 'signalled', signal: word.signal };
  return { kind: 'vanished' };
}
