/**
 * Notices on the desktop, by the program that the system has for it. The texts come from agents: they are arguments of their
 * own, never part of a script, and nothing in them is markup or an escape to the program that shows them.
 */

import { spawn } from 'node:child_process';
import path from 'node:path';

import type { Notice } from '../rules/notice.ts';
import type { NoticeChannel, Sent } from '../notices/port.ts';
import { findProgram } from '../../kernel/system/find-program.ts';

export interface DesktopOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly timeoutMs: number;
}

/** Undefined where there is no program for it, which is no failure: many machines have no desktop. */
export function desktopChannel(options: DesktopOptions): NoticeChannel | undefined {
  const { environment, platform } = options;
  const name = platform === 'darwin' ? 'osascript' : 'notify-send';
  const program = findProgram(name, environment);
  if (program === undefined || !hasDesktop(options)) return undefined;
  const argumentsOf = name === 'osascript' ? forOsascript : forNotifySend;
  return { name: 'desktop', send: (notice, givenUp) => run(program, argumentsOf(notice), givenUp, options) };
}

/** A server one is logged in to may have the program, and nobody to show anything to. */
function hasDesktop({ environment, platform }: DesktopOptions): boolean {
  const signs = ['DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS'];
  return platform === 'darwin' || signs.some((name) => environment[name]);
}

/** The body is markup to most desktops, and `notify-send` reads escapes with a backslash in it. */
function forNotifySend(notice: Notice): readonly string[] {
  const body = bodyOf(notice)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\\', '\\\\');
  return [
    '--app-name=Copse',
    `--urgency=${notice.isUrgent ? 'critical' : 'normal'}`,
    '--',
    headlineOf(notice),
    body,
  ];
}

function forOsascript(notice: Notice): readonly string[] {
  const script = [
    'on run texts',
    'display notification (item 2 of texts) with title (item 1 of texts)',
    'end run',
  ];
  return [...script.flatMap((line) => ['-e', line]), headlineOf(notice), bodyOf(notice)];
}

function headlineOf({ headline }: Notice): string {
  return `Copse: ${headline}`;
}

function bodyOf({ text, command }: Notice): string {
  return text === '' ? command : `${text}\n${command}`;
}

async function run(
  program: string,
  argv: readonly string[],
  givenUp: AbortSignal,
  { environment, timeoutMs }: DesktopOptions,
): Promise<Sent> {
  const { code, complaint } = await new Promise<{ code: number | null; complaint: string }>((resolve) => {
    let said = '';
    const child = spawn(program, argv, {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      signal: givenUp,
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (said.length < MOST_SAID) said += text;
    });
    child.on('error', (error) => resolve({ code: null, complaint: error.message }));
    // Not `close`: something it started may keep its end of the pipe open.
    child.on('exit', (exit) => resolve({ code: exit, complaint: said }));
  });
  if (code === 0) return { sent: true };
  const [line = ''] = complaint.trim().split('\n', 1);
  const why = line === '' ? (code === null ? 'it took too long' : `it ended with ${code}`) : line;
  return {
    sent: false,
    reason: `${path.basename(program)} shows no notification: ${why} (notifications.desktop: false turns it off)`,
  };
}

const MOST_SAID = 2_000;
