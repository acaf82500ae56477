/**
 * The terminal of a task: the tmux session with exactly this name, on the server of this user. No tmux and no server mean
 * that there is none; any other error means `unknown`.
 */

import { execFile, spawn } from 'node:child_process';
import path from 'node:path';

import type { TmuxSession } from '../kernel/process.ts';
import { launchersAmong } from './launcher.ts';
import type { TmuxSessions } from './ports/occupancy.ts';

export interface TmuxServer {
  /** The name of a socket other than the usual one. */
  readonly socket?: string;
}

export async function tmuxSessions(name: string, server: TmuxServer = {}): Promise<TmuxSessions> {
  const answer = await askTmux(['list-panes', '-a', '-F', FORMAT], server);
  if (answer.kind === 'none') return { kind: 'known', sessions: [] };
  if (answer.kind === 'failed') return { kind: 'unknown', why: answer.said };
  const all = answer.said.split('\n').flatMap((line) => parsePane(line) ?? []);
  const own = all.filter((pane) => pane.name === name);
  const [first] = own;
  if (first === undefined) return { kind: 'known', sessions: [] };
  const panes = own.map(({ pid }) => pid);
  const launchers = await launchersAmong(panes);
  const session: TmuxSession = { name, attached: first.attached, panes, launchers };
  return { kind: 'known', sessions: [session] };
}

/** False when there is no such session. Without `=`, tmux would take the beginning of a name for the whole. */
export async function killTmuxSession(name: string, server: TmuxServer = {}): Promise<boolean> {
  const answer = await askTmux(['kill-session', '-t', `=${name}`], server);
  if (answer.kind === 'failed') {
    throw new Error(`tmux could not end the session ${name}: ${answer.said}. Look at it: tmux list-sessions`);
  }
  return answer.kind === 'answered';
}

const FORMAT = '#{pane_pid} #{session_attached} #{session_name}';

function parsePane(line: string) {
  const [, pid, attached, name] = /^(\d+) (\d+) (.*)$/.exec(line) ?? [];
  return name === undefined ? undefined : { pid: Number(pid), attached: Number(attached), name };
}

type Answer = { readonly kind: 'answered' | 'failed'; readonly said: string } | Absent;
type Absent = { readonly kind: 'none'; readonly isInstalled: boolean };

const NONE =
  /^no server running|^no current (session|target)|^can't find session|\(No such file or directory\)|\(Connection refused\)/;

/** `none` when there is no tmux, no server or no such session. */
export async function askTmux(argv: readonly string[], server: TmuxServer): Promise<Answer> {
  const answer = await askOnce(argv, server);
  // It ended with its last session while it was asked: whether another one is there now is not known yet.
  return answer.kind === 'failed' && SERVER_ENDED.test(answer.said) ? askOnce(argv, server) : answer;
}

const SERVER_ENDED = /^(server exited|lost server)/;

function askOnce(argv: readonly string[], { socket }: TmuxServer): Promise<Answer> {
  return new Promise((resolve) => {
    execFile(
      'tmux',
      [...(socket === undefined ? [] : ['-L', socket]), ...argv],
      { env: serverEnvironment(), cwd: '/', timeout: ANSWER_MS },
      (error, stdout, stderr) => {
        if (error === null) return resolve({ kind: 'answered', said: stdout });
        const said = stderr.trim() || error.message;
        const isInstalled = error.code !== 'ENOENT';
        const isNone = !isInstalled || NONE.test(stderr.trim());
        resolve(isNone ? { kind: 'none', isInstalled } : { kind: 'failed', said });
      },
    );
  });
}

const ANSWER_MS = 10_000;

/**
 * What a server keeps if this starts one. Inside a terminal of tmux, `TMUX` would choose the server of that terminal; and
 * a server with the mark of an attempt would be ended with it, and all sessions of this user too.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^TMUX$|^TMUX_PANE$|^COPSE_/.test(name));
  return Object.fromEntries(kept);
}

/**
 * Shows the session in this terminal until the person leaves it. Inside a terminal of the same server, the client goes
 * there instead; inside one of another server, the session is shown in it. False: tmux said why it could not.
 */
export function attachTmux(name: string, terminal: string | undefined): Promise<boolean> {
  const isInside = terminal !== undefined && path.basename(terminal.split(',', 1)[0] ?? '') === USUAL_SOCKET;
  const [verb, env] = isInside ? ['switch-client', process.env] : ['attach-session', serverEnvironment()];
  return new Promise((resolve, reject) => {
    const child = spawn('tmux', [verb, '-t', `=${name}`], { stdio: 'inherit', env });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0));
  });
}

const USUAL_SOCKET = 'default';
