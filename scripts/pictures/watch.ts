// Records `copse watch` while eight scripted agents work for about three minutes, and answers what they need by keys alone:
// two questions, a conflict, a crash and a review. Writes docs/recordings/watch.cast, in the format of asciinema, and a
// picture for the README.
//
//   npm exec -c "node scripts/pictures/watch.ts"
//
// Needs tmux, of which a server of its own is started and ended. Fails when a frame does not say what needs a person.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { makeScene, root } from './scene.ts';
import { answers, sceneFiles, titles } from './watch-scene.ts';
import { drawn } from './terminal.ts';

const COLUMNS = 100;
const ROWS = 30;
const PAUSE_SECONDS = 17;
const LONGEST_MS = 600_000;
/** As long as a person takes to read what is needed. */
const READING_MS = 8_000;
const MOST_BYTES = 300_000;

const { folder, repository, copse, env, run, remove } = makeScene(sceneFiles(PAUSE_SECONDS), titles);
const bytesFile = path.join(folder, 'bytes');
const server = `copse-record-${process.pid}`;

const tmux = (...argv: readonly string[]) => run('tmux', '-L', server, '-f', '/dev/null', ...argv);

interface Frame {
  readonly atMs: number;
  readonly lines: readonly string[];
  readonly coloured: readonly string[];
}

const chunks: (readonly [seconds: number, text: string])[] = [];
const answered: string[] = [];

const orchestrator = spawn(copse, ['orchestrate'], { cwd: repository, env, stdio: 'ignore' });
try {
  const frames = await watched();
  check(frames);
  write(frames);
} finally {
  await end(orchestrator);
  tmux('kill-server');
  remove();
}

/** A frame each second until everything landed, and the bytes of the terminal with their times. */
async function watched(): Promise<readonly Frame[]> {
  writeFileSync(bytesFile, '');
  const size = ['-x', String(COLUMNS), '-y', String(ROWS)];
  tmux(
    '-u',
    'new-session',
    '-d',
    ...size,
    '-c',
    repository,
    '-e',
    'PS1=$ ',
    '-e',
    `PATH=${env['PATH']}`,
    'bash',
    '--norc',
    '-i',
  );
  tmux('pipe-pane', '-o', `cat >> '${bytesFile}'`);
  const beganMs = performance.now();
  const frames: Frame[] = [];
  let readBytes = 0;
  let neededSinceMs: number | undefined;
  type('copse watch');
  tmux('send-keys', 'Enter');
  for (let tick = 0; performance.now() - beganMs < LONGEST_MS; tick += 1) {
    const atMs = performance.now() - beganMs;
    const bytes = readFileSync(bytesFile);
    // A character may be cut: what is not whole waits for the next time.
    const whole = wholeText(bytes.subarray(readBytes));
    if (whole.length > 0) chunks.push([Number((atMs / 1_000).toFixed(2)), whole.toString()]);
    readBytes += whole.length;
    if (tick % 5 === 0) {
      const frame = picture(atMs);
      frames.push(frame);
      if (isOver(frame)) break;
      if (needsOf(frame) === 0) neededSinceMs = undefined;
      else neededSinceMs ??= atMs;
      if (neededSinceMs !== undefined && atMs - neededSinceMs > READING_MS && (await answerSelected(frame)))
        neededSinceMs = undefined;
    }
    await sleep(200);
  }
  tmux('send-keys', 'q');
  await sleep(2_000);
  const last = wholeText(readFileSync(bytesFile).subarray(readBytes)).toString();
  chunks.push([Number(((performance.now() - beganMs) / 1_000).toFixed(2)), last]);
  return frames;
}

function wholeText(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && end > bytes.length - 4 && (bytes[end - 1] ?? 0) >= 0x80) end -= 1;
  return bytes.subarray(0, end);
}

function picture(atMs: number): Frame {
  const coloured = tmux('capture-pane', '-e', '-p').replace(/\n$/, '').split('\n');
  return { atMs, coloured, lines: coloured.map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, '')) };
}

function needsOf({ lines }: Frame): number {
  return Number(/(\d+) needs? you/.exec(lines[0] ?? '')?.[1] ?? 0);
}

function isOver({ lines }: Frame): boolean {
  return /^copse watch +8 done/.test(lines[0] ?? '');
}

/** As a person does it: look at the line that is marked, press the key that it names. */
async function answerSelected({ lines }: Frame): Promise<boolean> {
  const at = lines.findIndex((line) => line.startsWith('▸ '));
  const isNeed = /^▸ [?!]/.test(lines[at] ?? '');
  if (!isNeed) {
    tmux('send-keys', 'Home');
    return false;
  }
  const about = lines.slice(at, at + 3).join('\n');
  const key = /→ (\w): /.exec(about)?.[1];
  if (key === undefined) throw new Error(`No key for:\n${about}`);
  tmux('send-keys', key);
  if (key === 'a' || key === 's') {
    await untilShown(/^(Answer|Comment):/m);
    const text = answers.find(([word]) => about.includes(word))?.[1];
    if (text === undefined) throw new Error(`No answer for:\n${about}`);
    for (const character of text) {
      type(character);
      await sleep(40);
    }
    tmux('send-keys', 'Enter');
  }
  answered.push(`${key} ${about.split('\n')[0] ?? ''}`);
  return true;
}

async function untilShown(text: RegExp): Promise<void> {
  for (let looks = 0; looks < 100; looks += 1) {
    if (text.test(tmux('capture-pane', '-p'))) return;
    await sleep(100);
  }
  throw new Error(`${text} did not appear`);
}

function type(text: string): void {
  tmux('send-keys', '-l', text);
}

/** At each second one can say what needs a person, and everything was answered. */
function check(frames: readonly Frame[]): void {
  const shownFrames = frames.filter(({ lines }) => lines[0]?.startsWith('copse watch  '));
  for (const frame of shownFrames) {
    const text = frame.lines.join('\n');
    const needs = needsOf(frame);
    const isSaid = needs === 0 ? text.includes('Nothing needs you.') : text.includes(`NEEDS YOU (${needs})`);
    const shownNeeds = frame.lines.filter((line) => /^[▸ ] [?!] cp-/.test(line)).length;
    if (!isSaid || shownNeeds !== needs)
      throw new Error(`At ${frame.atMs} ms one cannot say what needs a person:\n${text}`);
  }
  const last = frames.at(-1);
  if (last === undefined || !isOver(last))
    throw new Error(`Not everything landed:\n${last?.lines.join('\n')}`);
  if (answered.length !== 5) throw new Error(`${answered.length} answers:\n${answered.join('\n')}`);
  console.log(
    `${shownFrames.length} frames, each says what needs a person; answered by keys:\n${answered.join('\n')}`,
  );
}

function write(frames: readonly Frame[]): void {
  const header = {
    version: 2,
    width: COLUMNS,
    height: ROWS,
    title: 'copse watch',
    env: { TERM: 'screen-256color' },
  };
  const lines = [header, ...chunks.map(([seconds, text]) => [seconds, 'o', text])].map((line) =>
    JSON.stringify(line),
  );
  const cast = `${lines.join('\n')}\n`;
  if (cast.includes(folder) || cast.includes(root))
    throw new Error('The recording has a path of this machine.');
  if (cast.length > MOST_BYTES) throw new Error(`The recording has ${cast.length} bytes.`);
  mkdirSync(path.join(root, 'docs', 'recordings'), { recursive: true });
  writeFileSync(path.join(root, 'docs', 'recordings', 'watch.cast'), cast);
  // The frame with the most to see, and a need selected.
  const isAsked = ({ lines: seen }: Frame) => Number(seen.some((line) => /^▸ [?!]/.test(line)));
  const [best] = frames.toSorted(
    (one, other) => needsOf(other) - needsOf(one) || isAsked(other) - isAsked(one) || one.atMs - other.atMs,
  );
  const svg = drawn({
    lines: best?.coloured ?? [],
    columns: COLUMNS,
    title: 'copse watch',
    label:
      'copse watch in a terminal: what needs you, what works, what lands, and the keys for the selected task',
  });
  writeFileSync(path.join(root, 'docs', 'watch.svg'), svg);
  console.log(`docs/recordings/watch.cast: ${cast.length} bytes; docs/watch.svg: ${svg.length} bytes`);
}

async function end(child: ChildProcess): Promise<void> {
  const over = new Promise((resolve) => child.once('exit', resolve));
  if (child.exitCode === null && child.kill('SIGINT')) await over;
}
