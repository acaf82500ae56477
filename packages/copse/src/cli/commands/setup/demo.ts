import { mkdirSync, mkdtempSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { RunContext } from '../../../queue/context.ts';
import { statusTexts } from '../../../explain/rules/status.ts';
import { whyTask } from '../../../explain/why.ts';
import { asOrchestrator } from '../../../compose/board/who-runs.ts';
import { gitVersion, openNewRepository } from '../../../compose/on-demand.ts';
import { countLeftovers } from '../../../demo/leftovers.ts';
import { Narrator } from '../../../demo/narration.ts';
import { Demo } from '../../../demo/perform.ts';
import { gitSettings, projectFiles } from '../../../demo/scenario.ts';
import { addTasks } from '../../../demo/set-up.ts';
import { summarise } from '../../../demo/summary.ts';
import { authorFrom } from '../../../board/rules/author.ts';
import type { BoardEvent } from '../../../board/rules/event.ts';
import { type BranchName, type EventNumber, type TaskId, brand } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { printEpilogue, printPrologue } from '../../screen/demo-texts.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import { joinNode, staySeen } from '../../../machines/act/join.ts';
import { arrivalOf } from '../../../compose/node-facts.ts';
import { toldBy } from '../nodes/node-options.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { openView, tellEvents } from '../../screen/live-view.ts';
import { type Dashboard, startDashboard } from '../server/dashboard.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { withRun } from '../../with-run.ts';

interface Options {
  readonly dir?: string;
  readonly keep?: boolean;
  readonly speed?: string;
  readonly dashboard?: boolean;
}

const MAIN = brand<BranchName>('main');

/** The pause between two steps of an agent, and before an answer. */
const PAUSE_MS = 1_200;

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const pauseMs = PAUSE_MS / requireSpeed(options.speed ?? '1');
  await requireGit();
  const folder = makeFolder(cli, options);
  const own = { ...cli, cwd: folder, env: withoutOthers(cli.env) };
  const repository = await openNewRepository();
  await repository.makeRepository({
    folder,
    branch: MAIN,
    files: projectFiles(pauseMs),
    settings: gitSettings,
    author: { name: 'Copse demo', email: 'demo@demo.invalid' },
    message: 'feat: a library that says hello',
  });
  printPrologue(cli, folder);
  await withRun(own, { asNode: true }, async (context) => {
    const person = authorFrom(own.env);
    orFail(await joinNode(context, arrivalOf(own, context, toldBy(cli, {}))));
    const tasks = await addTasks({ ...context, by: person });
    const dashboard = options.dashboard
      ? await startDashboard(own, { isOpened: cli.output.isTerminal })
      : undefined;
    try {
      const performed = () => perform(own, context, { pauseMs, dashboard });
      const end = await asOrchestrator(context.home, performed);
      const open = await unfinished(context, tasks);
      if (end === 'stopped') failStopped(folder);
      if (open.length > 0) await failUnfinished(context, folder, open);
      const events = await allEvents(context);
      const leftovers = await countLeftovers(context);
      printEpilogue(cli, {
        folder,
        history: await repository.drawHistory(folder, MAIN),
        summary: summarise(events),
        leftovers,
      });
      if (dashboard) await stay(cli);
    } finally {
      await dashboard?.end();
    }
  });
}

/** The dashboard shows what happened until the person ends it. */
async function stay({ output }: Cli): Promise<void> {
  output.line();
  output.line('The dashboard stays open. Ctrl+C ends it.');
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

interface Performance {
  readonly pauseMs: number;
  readonly dashboard: Dashboard | undefined;
}

async function perform(
  cli: Cli,
  context: RunContext,
  { pauseMs, dashboard }: Performance,
): Promise<'over' | 'stopped'> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  // A second signal ends the process.
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  const view = openView(cli, context, { onInterrupt: 'ends the demo and its agents' });
  dashboard?.tellBy((text) => stop.signal.aborted || view.problem(null, text));
  const narrator = new Narrator(context, dashboard ? 'person' : 'demo');
  const say = (text: string | undefined) => {
    if (text !== undefined) view.note(text);
  };
  const onError = (error: unknown) => {
    view.problem(null, error instanceof Error ? error.message : String(error));
    stop.abort();
  };
  const demo = new Demo({
    context,
    person: authorFrom(cli.env),
    signal: stop.signal,
    answerAfterMs: dashboard ? null : pauseMs,
    onPass: (pass) => {
      view.pass(pass);
      void narrator.aboutPass(pass).then(say, onError);
    },
    onProblem: (task, reason) => view.problem(task, reason),
  });
  const telling = new AbortController();
  const told = tellEvents(context, await context.board.lastEvent(), telling.signal, async (event) => {
    await view.event(event);
    say(await narrator.about(event));
    if (event.type === 'task.stuck') demo.answerQuestions().catch(onError);
  });
  told.catch(onError);
  const seen = staySeen(context, telling.signal);
  seen.catch(onError);
  try {
    return await demo.perform();
  } finally {
    telling.abort();
    await Promise.all([told, seen]);
    await view.close();
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

async function requireGit(): Promise<void> {
  const git = await gitVersion();
  if (git.kind === 'found' && git.isNewEnough) return;
  const found = git.kind === 'found' ? `; this machine has ${git.version}` : '';
  fail('unavailable', `The demo needs git ${git.required} or newer${found}.`, 'copse doctor');
}

function requireSpeed(text: string): number {
  const speed = /^\d{1,3}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (speed >= SLOWEST && speed <= FASTEST) return speed;
  return fail(
    'invalid',
    `--speed must be a number from ${SLOWEST} to ${FASTEST}, not ${JSON.stringify(text)}.`,
    'copse demo --speed 2',
  );
}

const SLOWEST = 0.5;
const FASTEST = 100;

/** An existing folder is used only if it is empty. */
function makeFolder(cli: Cli, { dir, keep }: Options): string {
  if (dir === undefined && !keep) return realpathSync(mkdtempSync(path.join(tmpdir(), 'copse-demo-')));
  if (dir?.trim() === '') fail('invalid', 'The name of the folder is empty.', 'copse demo');
  const folder = dir === undefined ? freeName(cli.cwd) : path.resolve(cli.cwd, dir);
  const found = statSync(folder, { throwIfNoEntry: false });
  const isEmpty = found?.isDirectory() && readdirSync(folder).length === 0;
  if (found !== undefined && !isEmpty) {
    fail(
      'invalid',
      `${shown(folder)} is ${found.isDirectory() ? 'not empty' : 'not a folder'}: the demo needs an empty or new folder.`,
      'copse demo',
      `copse demo --dir ${shellWord(`${folder}-2`)}`,
    );
  }
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    fail('invalid', `${shown(folder)} cannot be created: ${shown(why)}`, 'copse demo');
  }
  return realpathSync(folder);
}

function freeName(cwd: string): string {
  for (let number = 1; ; number += 1) {
    const folder = path.join(cwd, number === 1 ? 'copse-demo' : `copse-demo-${number}`);
    if (statSync(folder, { throwIfNoEntry: false }) === undefined) return folder;
  }
}

/** Without variables that name another board or repository. */
function withoutOthers(env: Cli['env']): Cli['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:COPSE|GIT)_/.test(name)));
}

async function unfinished({ board }: RunContext, tasks: readonly TaskId[]): Promise<readonly TaskId[]> {
  const statuses = await board.statuses(tasks);
  return tasks.filter((id) => statuses.get(id) !== 'done');
}

function failStopped(folder: string): never {
  fail(
    'unhealthy',
    `The demo was stopped and its agents were ended. Their work so far is in ${shown(folder)}.`,
    'copse demo',
    deletion(folder),
  );
}

async function failUnfinished(context: RunContext, folder: string, open: readonly TaskId[]): Promise<never> {
  const lines: string[] = [];
  for (const id of open) {
    const why = await whyTask(context, id, { isOrchestrated: false });
    if (why.kind === 'refused') continue;
    const { task, because } = why.value;
    const { state } = task;
    const reason = 'reason' in state ? state.reason : because.join(' ');
    lines.push(`  ${id} ${statusTexts[state.status]}: ${reason?.split('\n', 1)[0] ?? ''}`);
  }
  return fail(
    'unhealthy',
    `${open.length} tasks of the demo did not finish; this is a bug in Copse:\n${lines.join('\n')}\nEverything is in ${folder}.`,
    `cd ${shellWord(folder)} && copse events`,
    'copse doctor',
  );
}

function deletion(folder: string): string {
  return `rm -rf ${shellWord(folder)}`;
}

const PAGE = 500;

async function allEvents({ board }: RunContext): Promise<readonly BoardEvent[]> {
  const events: BoardEvent[] = [];
  for (let after = 0 as EventNumber; ;) {
    const page = await board.events({ after, limit: PAGE });
    events.push(...page.map(({ event }) => event));
    after = page.at(-1)?.number ?? after;
    if (page.length < PAGE) return events;
  }
}
