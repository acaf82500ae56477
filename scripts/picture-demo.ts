// Makes docs/demo.svg: runs `copse demo` in a terminal of 80 columns and draws what is on its screen at the end, as text.
//
//   node_modules/.bin/node scripts/picture-demo.ts
//
// Needs tmux, of which a server of its own is started and ended.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const COLUMNS = 80;
const ROWS = 45;
const LONGEST_MS = 120_000;

const CELL = { width: 8.4, height: 18 };
const MARGIN = 20;
const BAR = 34;
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
const COLOURS = {
  background: '#161b22',
  text: '#d1d7e0',
  dim: '#8b949e',
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  36: '#76e3ea',
} as const;

const root = fileURLToPath(new URL('..', import.meta.url));
const server = `copse-picture-${process.pid}`;

const lines = await finalScreen();
writeFileSync(path.join(root, 'docs', 'demo.svg'), drawn(lines));
console.log(`docs/demo.svg: ${lines.length} lines`);

/** With the escape sequences of its colours. */
async function finalScreen(): Promise<readonly string[]> {
  // With the launcher on the PATH, so that no path of this machine is shown.
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

function drawn(screen: readonly string[]): string {
  const width = Math.ceil(COLUMNS * CELL.width + 2 * MARGIN);
  const height = screen.length * CELL.height + BAR + MARGIN;
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, index) => `<circle cx="${MARGIN + index * 18}" cy="17" r="5.5" fill="${colour}"/>`,
  );
  const rows = screen.map((line, row) => drawnLine(line, BAR + (row + 0.8) * CELL.height));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The end of copse demo in a terminal">`,
    `<rect width="${width}" height="${height}" rx="8" fill="${COLOURS.background}"/>`,
    ...dots,
    `<text x="${width / 2}" y="22" text-anchor="middle" font-family="${attribute(FONT)}" font-size="13" fill="${COLOURS.dim}">copse demo</text>`,
    `<g font-family="${attribute(FONT)}" font-size="14" fill="${COLOURS.text}" xml:space="preserve">`,
    ...rows.filter((row) => row !== ''),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** Each piece is put where its first column is: fonts differ in how wide they draw the arrows. */
function drawnLine(line: string, y: number): string {
  const pieces: string[] = [];
  let column = 0;
  let style = { isBold: false, fill: '' };
  for (const [, codes, text] of line.matchAll(/\u001b\[([\d;]*)m|([^\u001b]+)/g)) {
    if (codes !== undefined) {
      for (const code of codes.split(';')) style = styled(style, Number(code));
      continue;
    }
    // Spaces move on and are not drawn.
    for (const { 0: words, index } of (text ?? '').matchAll(/\S+(?: \S+)*/g)) {
      const x = (MARGIN + (column + index) * CELL.width).toFixed(1);
      const fill = style.fill === '' ? '' : ` fill="${style.fill}"`;
      const weight = style.isBold ? ' font-weight="bold"' : '';
      pieces.push(`<tspan x="${x}"${fill}${weight}>${content(words)}</tspan>`);
    }
    column += (text ?? '').length;
  }
  return pieces.length === 0 ? '' : `<text y="${y.toFixed(1)}">${pieces.join('')}</text>`;
}

function styled(style: { readonly isBold: boolean; readonly fill: string }, code: number) {
  switch (code) {
    case 0:
      return { isBold: false, fill: '' };
    case 1:
      return { ...style, isBold: true };
    case 2:
      return { ...style, fill: COLOURS.dim };
    case 22:
      return { isBold: false, fill: style.fill === COLOURS.dim ? '' : style.fill };
    case 31:
    case 32:
    case 33:
    case 36:
      return { ...style, fill: COLOURS[code] };
    case 39:
      return { ...style, fill: '' };
    default:
      return style;
  }
}

function content(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function attribute(text: string): string {
  return content(text).replaceAll('"', '&quot;');
}
