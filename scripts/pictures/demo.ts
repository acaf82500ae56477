// Makes docs/demo.svg: runs `copse demo` in a terminal of 80 columns and draws what is on its screen at the end, as text.
//
//   node_modules/.bin/node scripts/pictures/demo.ts
//
// Needs tmux, of which a server of its own is started and ended.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { drawn } from './terminal.ts';

const COLUMNS = 80;
const ROWS = 45;
const LONGEST_MS = 120_000;

const root = fileURLToPath(new URL('../..', import.meta.url));
const server = `copse-picture-${process.pid}`;

const lines = await finalScreen();
writeFileSync(
  path.join(root, 'docs', 'demo.svg'),
  drawn({ lines, columns: COLUMNS, title: 'copse demo', label: 'The end of copse demo in a terminal' }),
);
console.log(`docs/demo.svg: ${lines.length} lines`);

/** With the escape sequences of its colours. */
async function finalScreen(): Promise<readonly string[]> {
  // As for a person who put the launcher on the PATH: no path of this machine is to be seen.
  const programs = mkdtempSync(path.join(tmpdir(), 'copse-picture-'));
  symlinkSync(path.join(root, 'copse'), path.join(programs, 'copse'));
  const env = { ...process.env, PATH: `${programs}${path.delimiter}${process.env['PATH'] ?? ''}` };
  const tmux = (...argv: readonly string[]) =>
    execFileSync('tmux', ['-L', server, '-f', '/dev/null', ...argv], { env, encoding: 'utf8' });
  try {
    // The build says that it builds; not here.
    execFileSync(path.join(root, 'copse'), ['--version'], { env });
    const size = ['-x', String(COLUMNS), '-y', String(ROWS)];
    const status = path.join(programs, 'status');
    // It stays until its server is ended.
    tmux(
      'new-session',
      '-d',
      ...size,
      '-e',
      `STATUS=${status}`,
      'copse demo; echo $? > "$STATUS"; sleep 600',
    );
    await untilThere(status);
    const screen = tmux('capture-pane', '-e', '-p').trimEnd();
    if (readFileSync(status, 'utf8') !== '0\n') throw new Error(`copse demo failed:\n${screen}`);
    return screen.split('\n');
  } finally {
    tmux('kill-server');
    rmSync(programs, { recursive: true, force: true });
  }
}

async function untilThere(file: string): Promise<void> {
  const until = Date.now() + LONGEST_MS;
  while (!existsSync(file) || statSync(file).size === 0) {
    if (Date.now() > until) throw new Error('copse demo took too long');
    await sleep(250);
  }
}
