/**
 * Every example in the help, run as it stands there. `a1b2` and `c3d4` are tasks in a fitting state. Lines that only a shell
 * understands go to bash or fish; the others run inside this process.
 */

import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { afterAll, describe, expect, inject, test } from 'vitest';

import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import {
  type Finished,
  type RunOptions,
  answer,
  cliFile,
  copse,
  finished,
  git,
  newArea,
  newRepository,
  plainEnv,
  printed,
  startCopse,
} from '../../support/cli.ts';
import { runnableCommands } from '../../support/command-tree.ts';

const area = newArea();
afterAll(() => endAgents(area));

/** What an example finds: the folder it runs in, and what its words stand for. */
interface Place extends RunOptions {
  readonly words?: Readonly<Record<string, string>>;
}

let common: Scene | undefined;

/** Tasks of one example do not meet those of another, so most share a repository. */
function scene(): Scene {
  common ??= newScene(area, { sections: { landing: { policy: 'review' } } });
  return common;
}

async function idle(): Promise<Place> {
  const [one, two] = [await scene().add('One', 'true'), await scene().add('Two', 'true')];
  return { ...scene().at, words: { a1b2: one, c3d4: two } };
}

/** Taken by hand, with its worktree. */
async function taken(): Promise<Place> {
  const place = await idle();
  const { worktree } = await answer<{ worktree: string }>(['work', place.words?.['a1b2'] ?? ''], place);
  return { cwd: worktree, words: { ...place.words } };
}

async function committed(): Promise<Place> {
  const place = await taken();
  writeFileSync(path.join(place.cwd, `${place.words?.['a1b2']}.txt`), 'done\n');
  git(place.cwd, 'add', '--all');
  git(place.cwd, 'commit', '--quiet', '--message=feat: work');
  return place;
}

async function inReview(): Promise<Place> {
  const place = await committed();
  await answer(['finish'], place);
  return { ...place, cwd: scene().folder };
}

async function queued(): Promise<Place> {
  const place = await inReview();
  await answer(['review', place.words?.['a1b2'] ?? '', '--approve'], place);
  return place;
}

async function withFile(): Promise<Place> {
  const place = await held();
  writeFileSync(path.join(place.cwd, 'report.pdf'), 'report\n');
  return place;
}

async function withArtifact(): Promise<Place> {
  const place = await idle();
  const task = place.words?.['a1b2'] ?? '';
  const file = path.join(mkdtempSync(path.join(area, 'results-')), 'result.txt');
  writeFileSync(file, 'result\n');
  const { id } = await answer<{ id: string }>(['artifact', 'add', file, '--task', task], place);
  return { ...place, cwd: newFolderIn(place.cwd), words: { 'ar-a1b2': id, a1b2: task } };
}

/** Where an example may write files. */
function newFolderIn(repository: string): string {
  return mkdtempSync(path.join(repository, 'files-'));
}

async function stuck(): Promise<Place> {
  const place = await taken();
  await answer(['stuck', '--reason', 'Which one?'], place);
  return { ...place, cwd: scene().folder };
}

async function paused(): Promise<Place> {
  const place = { ...(await taken()), cwd: scene().folder };
  await answer(['pause', place.words?.['a1b2'] ?? ''], place);
  return place;
}

async function rescued(): Promise<Place> {
  const place = await taken();
  writeFileSync(path.join(place.cwd, 'new.txt'), 'new\n');
  await answer(['cleanup', place.words?.['a1b2'] ?? '', '--force'], scene().at);
  return { ...place, cwd: scene().folder };
}

/** A task whose scripted agent has printed something and asked a person, and one whose agent has finished. */
async function byAgents(): Promise<Place> {
  const own = newScene(area, { sections: { landing: { policy: 'review' } } });
  const asked = await own.add('Asked', 'echo hello; copse stuck --reason "Which?"');
  const done = await own.add('Done', 'commit done done.txt; copse finish');
  await copse(['orchestrate', '--until-idle'], own.at);
  return { ...own.at, words: { a1b2: asked, c3d4: done } };
}

/** One place for all examples that leave it as it is, or that follow one another in it. */
function shared(from: () => Promise<Place>): () => Promise<Place> {
  let place: Promise<Place> | undefined;
  return () => (place ??= from());
}

const byAgent = shared(byAgents);
const held = shared(taken);
const withWork = shared(committed);
const reviewed = shared(inReview);
const waiting = shared(queued);
const kept = shared(rescued);

async function landed(): Promise<Place> {
  const place = await inReview();
  await printed(['merge', place.words?.['a1b2'] ?? ''], place);
  return place;
}

function withoutTasks(): Promise<Place> {
  return Promise.resolve(newScene(area).at);
}

function fresh(): Promise<Place> {
  return Promise.resolve({ cwd: newRepository(area) });
}

async function twoInReview(): Promise<Place> {
  const [one, two] = [await inReview(), await inReview()];
  return { ...one, words: { a1b2: one.words?.['a1b2'] ?? '', c3d4: two.words?.['a1b2'] ?? '' } };
}

interface Row {
  readonly from: () => Promise<Place>;
  /** Added to the line, so that it ends. */
  readonly and?: string;
  readonly code?: number | readonly number[];
  /** It goes on until Ctrl+C. */
  readonly isEndless?: boolean;
}

/** By the path of a command, or by a line that needs something else. */
const rows: Readonly<Record<string, Row | Row['from']>> = {
  status: idle,
  inbox: idle,
  watch: idle,
  add: idle,
  list: idle,
  show: idle,
  why: idle,
  orchestrate: { from: withoutTasks, and: '--until-idle' },
  edit: idle,
  delete: idle,
  // Without a terminal it cannot ask.
  'copse delete a1b2 c3d4': { from: idle, code: 4 },
  'plan add': async () => {
    mkdirSync(path.join(scene().folder, 'plans'), { recursive: true });
    writeFileSync(path.join(scene().folder, 'plans', 'login.md'), 'Login\n');
    return scene().at;
  },
  'plan show': planned,
  'plan list': planned,
  'ledger add': held,
  'ledger list': idle,
  'artifact add': withFile,
  'artifact list': withArtifact,
  'artifact show': withArtifact,
  'artifact get': withArtifact,
  agents: idle,
  // Without a question there is none to answer, which is what the examples are told.
  answer: { from: held, code: 4 },
  logs: byAgent,
  'copse logs a1b2 --follow': { from: byAgent, isEndless: true },
  // Agents of this test have no terminal.
  attach: { from: idle, code: 3 },
  'take-over': { from: idle, code: 4 },
  'give-back': idle,
  pause: taken,
  resume: paused,
  restart: stuck,
  cancel: idle,
  cost: idle,
  stats: idle,
  work: idle,
  'copse work': { from: idle, code: 2 },
  'copse work a1b2 --resume': held,
  worktrees: held,
  switch: held,
  diff: withWork,
  sync: held,
  cleanup: taken,
  'copse cleanup a1b2 --yes': async () => {
    const place = await taken();
    // Copse would ask about it.
    writeFileSync(path.join(place.cwd, 'new.txt'), 'new\n');
    return { ...place, cwd: scene().folder };
  },
  undo: landed,
  'copse undo': rescued,
  'rescue list': kept,
  'rescue show': kept,
  'rescue restore': rescued,
  'copse rescue restore cp-a1b2 --into .': async () => {
    const place = await rescued();
    return { ...place, cwd: (await taken()).cwd };
  },
  'rescue move': async () => {
    const place = await taken();
    mkdirSync(path.join(scene().folder, 'src'), { recursive: true });
    writeFileSync(path.join(scene().folder, 'src', 'login.ts'), 'login\n');
    return { ...place, cwd: scene().folder };
  },
  // By hand no session is recorded that changed files.
  'copse rescue move a1b2': { from: held, code: 4 },
  sweep: idle,
  tend: idle,
  review: reviewed,
  'copse review a1b2 --send-back "Please add a test"': async () => {
    const place = await byAgent();
    return { ...place, words: { a1b2: place.words?.['c3d4'] ?? '' } };
  },
  merge: twoInReview,
  queue: waiting,
  'queue pause': idle,
  'queue resume': async () => {
    await copse(['queue', 'pause'], scene().at);
    await copse(['queue', 'pause', '--accept'], scene().at);
    return scene().at;
  },
  'queue front': waiting,
  'queue cancel': waiting,
  'queue retry': twoInReview,
  radar: withWork,
  init: fresh,
  config: idle,
  doctor: idle,
  // To its end: test/cli/journeys/demo.test.ts.
  demo: { from: fresh, isEndless: true },
  'shell-init': fresh,
  completion: fresh,
  help: fresh,
  serve: { from: idle, isEndless: true },
  events: idle,
  'copse events --follow --json': { from: idle, isEndless: true },
  export: idle,
  import: exported,
  'board backup': idle,
  'board migrate': elsewhere,
  'copse board migrate --to sqlite': onServer,
  'copse board migrate': idle,
  'copse board migrate --force': idle,
  'board restore': snapshot,
  'board rebuild': idle,
  'schedule list': withSchedule,
  'schedule show': withSchedule,
  'schedule run': withSchedule,
  'schedule pause': withSchedule,
  'schedule resume': schedulePaused,
  trigger: withSchedule,
  jobs: withSchedule,
  'jobs show': jobStarted,
  'sources list': withSources,
  'sources sync': withSources,
  'sources show': withSources,
  'node list': () => asNode('build-1'),
  'node show': () => asNode('build-1'),
  'node drain': () => asNode('build-1'),
  'node rename': () => asNode('build-1'),
  'node resume': drained,
  'node leave': drained,
  move: async () => {
    const place = await asNode('build-2');
    const { id } = await answer<{ id: string }>(['add', 'Moved'], place);
    return { ...place, words: { a1b2: id } };
  },
  'copse board rebuild --empty': async () => {
    const own = newScene(area);
    await own.add('Lost', 'true');
    for (const name of ['board.db', 'board.db-wal', 'board.db-shm'])
      rmSync(path.join(own.folder, '.copse', name), { force: true });
    return own.at;
  },
  finish: committed,
  'copse finish --no-changes': taken,
  stuck: taken,
  phase: held,
  heartbeat: held,
  notify: held,
  // It fails where no channel works, on a machine without a desktop for example.
  'copse notify --test': { from: held, code: [0, 1] },
  mcp: held,
};

/** With the agent and the schedule that the examples name. */
async function withSchedule(): Promise<Place> {
  const nightly = { type: 'cron', cron: '0 6 * * *', prompt: 'Look around' };
  return Promise.resolve(newScene(area, { agents: { coder: { schedules: { nightly } } } }).at);
}

async function withSources(): Promise<Place> {
  const todo = { type: 'markdown', files: ['*.md'] };
  return Promise.resolve(newScene(area, { sections: { sources: { todo } } }).at);
}

async function schedulePaused(): Promise<Place> {
  const place = await withSchedule();
  await answer(['schedule', 'pause', 'nightly'], place);
  return place;
}

async function jobStarted(): Promise<Place> {
  const place = await withSchedule();
  const { job } = await answer<{ job: string }>(['schedule', 'run', 'nightly'], place);
  return { ...place, words: { 'jb-4f9k': job } };
}

/** A repository whose orchestrator has joined under this name. */
async function asNode(name: string): Promise<Place> {
  const own = newScene(area);
  await printed(['up', '--once', '--node-name', name], own.at);
  return own.at;
}

async function drained(): Promise<Place> {
  const place = await asNode('build-1');
  const { id } = await answer<{ id: string }>(['node', 'drain', 'build-1'], place);
  return { ...place, words: { 'n-2x4k9mzq7c1d': id } };
}

async function planned(): Promise<Place> {
  const { id } = await answer<{ id: string }>(['plan', 'add', 'A plan'], scene().at);
  return { ...scene().at, words: { 'pl-a1b2': id } };
}

async function exported(): Promise<Place> {
  await idle();
  const place = await fresh();
  writeFileSync(path.join(place.cwd, 'board.jsonl'), (await copse(['export'], scene().at)).stdout);
  const url = `${inject('postgresUrl').replace('copse@', 'copse:secret@')}?schema=examples`;
  return { ...place, words: { 'postgres://db.example/team': `'${url}'` } };
}

function newSchema(): string {
  return `${inject('postgresUrl')}?schema=examples_${randomBytes(4).toString('hex')}`;
}

async function elsewhere(): Promise<Place> {
  const own = newScene(area);
  await own.add('Moved', 'true');
  return { ...own.at, words: { 'postgres://db.example/team': newSchema() } };
}

async function onServer(): Promise<Place> {
  const place = { ...(await fresh()), env: { COPSE_BOARD: newSchema() } };
  await answer(['add', 'Moved back'], place);
  return place;
}

async function snapshot(): Promise<Place> {
  const own = newScene(area);
  await own.add('Kept', 'true');
  const { file } = await answer<{ file: string }>(['board', 'backup'], own.at);
  return { ...own.at, words: { '20261118T031945123Z-asked.db': path.basename(file) } };
}

const examples = [...runnableCommands()].flatMap(([command, { exampleLines }]) =>
  exampleLines.map(({ line }) => ({ command, line })),
);

describe('an example of the help', () => {
  test.each(examples)('$line', async ({ command, line }) => {
    const found = rows[line] ?? rows[command];
    if (found === undefined) throw new Error(`The examples of copse ${command} have no row above.`);
    const row: Row = typeof found === 'function' ? { from: found } : found;
    const place = await row.from();
    const whole = inWords(line, place.words ?? {}) + (row.and === undefined ? '' : ` ${row.and}`);
    const ended = await (row.isEndless ? untilPrinted(whole, place) : run(whole, place));
    const isExpected = [row.code ?? 0].flat().includes(ended.code ?? -1);
    expect({ whole, ...ended, isExpected }).toMatchObject({ isExpected: true });
    expect(ended.stderr).not.toMatch(/Unexpected error|\n {4}at /);
  });
});

/** `cp-a1b2` and `a1b2` are the same task. */
function inWords(line: string, words: Readonly<Record<string, string>>): string {
  return Object.entries(words).reduce(
    (text, [word, meant]) => text.replaceAll(`cp-${word}`, meant).replaceAll(word, meant),
    line,
  );
}

const hasFish = spawnSync('fish', ['--version']).error === undefined;

async function run(line: string, place: Place): Promise<Finished> {
  const words = plainWords(line);
  if (words?.[0] === 'copse') {
    const { cwd, env } = place;
    return copse(words.slice(1), { cwd, ...(env && { env }) });
  }
  const isFish = line.endsWith('| source');
  if (isFish && !hasFish) return copse(plainWords(line.split(' |')[0] ?? '')?.slice(1) ?? [], place);
  const shell = isFish ? 'fish' : 'bash';
  const script = isFish ? `function copse; "$NODE" "$CLI" $argv; end; ${line}` : `${SHIMS}${line}`;
  const env = { ...plainEnv, NODE: process.execPath, CLI: cliFile, HOME: area };
  return finished(spawn(shell, ['-c', script], { cwd: place.cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** Agent programs that register an MCP server try to start it. */
const SHIMS = `copse() { "$NODE" "$CLI" "$@"; }
claude() { shift 4; "$@"; }; gemini() { shift 3; "$@"; }
set -o pipefail
`;

/** Undefined when only a shell understands the line. */
function plainWords(line: string): readonly string[] | undefined {
  if (/^\w+=|[|<>]|\$\(/.test(line) || !line.startsWith('copse')) return undefined;
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

async function untilPrinted(line: string, place: Place): Promise<Finished> {
  const child = startCopse(plainWords(line)?.slice(1) ?? [], place);
  child.stdout?.once('data', () => child.kill('SIGINT'));
  const { code, ...rest } = await finished(child);
  // Ended by the signal, as a shell reports it.
  return { ...rest, code: code === null || code === 130 ? 0 : code };
}
