/**
 * Notices on the desktop, shown by notify-send or osascript. The texts come from agents, so they are passed as arguments
 * of their own, never as part of a script, with markup and escapes removed.
 */

import { spawn } from 'node:child_process';
import path from 'node:path';

import type { Notice } from '../rules/notice.ts';
import type { NoticeChannel, NoticeResult } from '../notices/port.ts';
import { findProgram } from '../../kernel/system/find-program.ts';

export interface DesktopOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly timeoutMs: number;
}

/** Undefined on a machine without a desktop or without the program. */
export function desktopChannel(options: DesktopOptions): NoticeChannel | undefined {
  const { environment, platform } = options;
  const name = platform === 'darwin' ? 'osascript' : 'notify-send';
  const program = findProgram(name, environment);
  if (program === undefined || !hasDesktop(options)) return undefined;
  const argumentsOf = name === 'osascript' ? forOsascript : forNotifySend;
  return { name: 'desktop', send: (notice, givenUp) => run(program, argumentsOf(notice), givenUp, options) };
}

/** A server may have the program installed but no display. */
function hasDesktop({ environment, platform }: DesktopOptions): boolean {
  const signs = ['DISPLAY', 'WAYLAND_DISPLAY', 'DBUS_SESSION_BUS_ADDRESS'];
  return platform === 'darwin' || signs.some((name) => environment[name]);
}

/** Most desktops read the body as markup, and `notify-send` reads backslash escapes in it. */
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
): Promise<NoticeResult> {
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
    // Not `close`: a child of the program may keep the pipe open.
    child.on('exit', (exit) => resolve({ code: exit, complaint: said }));
  });
  if (code === 0) return { kind: 'sent' };
  const [line = ''] = complaint.trim().split('\n', 1);
  const why = line === '' ? (code === null ? 'it took too long' : `exit code ${code}`) : line;
  return {
    kind: 'failed',
    reason: `${path.basename(program)} could not show a notification: ${why} (to turn it off: notifications.desktop: false)`,
  };
}

const MOST_SAID = 2_000;
