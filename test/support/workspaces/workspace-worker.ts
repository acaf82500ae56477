/**
 * A process that prepares, uses and removes workspaces, for tests that end it without warning. It does what its one
 * argument says, with the real adapters, and says what is complete, one line of JSON each and nothing before it is.
 *
 * It can be told to kill its own process group: at a named step, or before its n-th operation, counting every call that
 * changes the disk and every program that is started, but for git where it only reads.
 */

import childProcess, { execFileSync } from 'node:child_process';
import fs, { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { flushCompileCache, syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { prepareWorkspace } from '../../../packages/copse/src/workspaces/act/prepare.ts';
import { removeWorkspace } from '../../../packages/copse/src/workspaces/discard/remove.ts';
import { resetWorkspace } from '../../../packages/copse/src/workspaces/discard/reset.ts';
import { undo } from '../../../packages/copse/src/workspaces/discard/undo.ts';
import type { WorkspaceContext } from '../../../packages/copse/src/workspaces/act/context.ts';
import { openWorkspaceContext } from '../../../packages/copse/src/compose/open.ts';
import type { TaskId } from '../../../packages/copse/src/kernel/ids.ts';
import { sweep } from '../../../packages/copse/src/workspaces/sweep/sweep.ts';
import { sweeperOf } from './sweeper.ts';
import { agentEnv, drawing } from './workspace-chance.ts';

export type WorkspaceAct = 'prepare' | 'remove' | 'reset' | 'undo' | 'sweep';

export interface WorkerOrders {
  readonly folder: string;
  readonly task: string;
  /** `life` goes on until it is killed. */
  readonly act: WorkspaceAct | 'life';
  readonly seed?: number;
  /** Prepared at the same time, in this process. */
  readonly others?: readonly string[];
  /** Nothing begins before this file is there. */
  readonly signal?: string;
  /** A sweep takes place so much later. */
  readonly laterMs?: number;
  readonly kill?: { readonly step: string } | { readonly operation: number };
}

/** What a worker says. `wrote` and `committed` name what an agent was told to be complete. */
export type WorkerSaying =
  | { readonly says: 'ready' | 'finished'; readonly operations: number }
  | { readonly says: 'step'; readonly step: string }
  | { readonly says: 'did'; readonly act: WorkspaceAct; readonly ok: boolean; readonly reason: string }
  | { readonly says: 'wrote' | 'committed'; readonly token: string }
  | { readonly says: 'blocked' | 'error'; readonly reason: string };

const orders = JSON.parse(process.argv[2] ?? '') as WorkerOrders;
const task = orders.task as TaskId;

/** Being killed before git reads is the same as being killed after whatever came before. */
const READING = new Set([
  'rev-parse',
  'merge-base',
  'cat-file',
  'ls-files',
  'diff-files',
  'diff-index',
  'diff-tree',
  'for-each-ref',
  'symbolic-ref',
  'config',
  'rev-list',
  'check-ignore',
  'ls-tree',
]);

let operations = 0;
let isCounting = false;
const { kill } = orders;
countOperations(kill && 'operation' in kill ? kill.operation : Number.POSITIVE_INFINITY);

process.on('uncaughtException', (error) => {
  say({ says: 'error', reason: error.stack ?? error.message });
  process.exit(1);
});

const context: WorkspaceContext = await openWorkspaceContext({ cwd: orders.folder, env: { USER: 'ada' } });
// The only chance of those that are killed. What is in it is never added to, so whoever lives does it after a turn.
if (orders.act !== 'life') flushCompileCache();
isCounting = true;
say({ says: 'ready', operations });
while (orders.signal !== undefined && !existsSync(orders.signal)) await setTimeout(2);
await (orders.act === 'life' ? live(orders.seed ?? 0) : performForAll(orders.act));
say({ says: 'finished', operations });
await context.board.close();

function say(saying: WorkerSaying): void {
  writeSync(1, `${JSON.stringify(saying)}\n`);
}

async function performForAll(act: WorkspaceAct): Promise<void> {
  await Promise.all([task, ...((orders.others ?? []) as TaskId[])].map((one) => perform(act, one)));
}

async function perform(act: WorkspaceAct, of: TaskId = task): Promise<boolean> {
  try {
    const { ok, reason } = await outcomeOf(act, of);
    say({ says: 'did', act, ok, reason });
    return ok;
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
    say({ says: 'error', reason: `${act}: ${reason}` });
    return false;
  }
}

async function outcomeOf(
  act: WorkspaceAct,
  of: TaskId,
): Promise<{ readonly ok: boolean; readonly reason: string }> {
  if (act === 'prepare') {
    const record = await context.board.get('task', of);
    if (record === undefined) throw new Error(`There is no task ${of}`);
    const prepared = await prepareWorkspace(context, { task: record, agent: null, session: null, onStep });
    return prepared.kind === 'prepared' ? { ok: true, reason: '' } : { ok: false, reason: prepared.reason };
  }
  if (act === 'remove') {
    const request = { by: 'person', isNamed: true, isForced: true, deleteBranch: true } as const;
    const removed = await removeWorkspace(context, task, request, onStep);
    if (removed.kind === 'removed') return { ok: true, reason: '' };
    return { ok: false, reason: 'question' in removed ? removed.question : removed.reason };
  }
  if (act === 'sweep') {
    const swept = await sweep(sweeperOf({ folder: orders.folder, context }, orders), { onStep });
    const failed = swept?.swept.find(({ fate }) => fate.kind === 'failed')?.fate;
    return { ok: swept !== undefined && failed === undefined, reason: failed ? JSON.stringify(failed) : '' };
  }
  const outcome = await (act === 'undo' ? undo(context, task) : reset());
  return outcome.kind === 'done' ? { ok: true, reason: '' } : { ok: false, reason: outcome.refusal.reason };
}

async function reset() {
  const record = await context.board.get('task', task);
  if (record === undefined) throw new Error(`There is no task ${task}`);
  const done = await context.git.tryLock(`task-${task}`, () => resetWorkspace(context, record));
  if (done === undefined) throw new Error('Somebody else has the lock');
  return done.value;
}

function onStep(step: string): void {
  say({ says: 'step', step });
  if (kill && 'step' in kill && kill.step === step) killGroup();
}

/** One act of Copse after another, with an agent at work between them. */
async function live(seed: number): Promise<void> {
  const draw = drawing(seed);
  for (let turn = 0; ; turn += 1) {
    if (await perform('prepare')) {
      const chores = 1 + Math.floor(draw() * 5);
      for (let chore = 0; chore < chores; chore += 1) workAsAgent(draw, `${task}-${seed}-${turn}-${chore}`);
    }
    const chance = draw();
    if (chance < 0.35) await perform('remove');
    else if (chance < 0.55) await perform('reset');
    if (draw() < 0.5) await perform('undo');
    flushCompileCache();
  }
}

/** Every token is written once and never over another. */
function workAsAgent(draw: () => number, token: string): void {
  const folder = path.join(orders.folder, '.worktrees', task);
  // An agent has no business in a place that is not its worktree.
  if (!existsSync(path.join(folder, '.git'))) return;
  const text = `<${token}>\n`;
  const chance = draw();
  if (chance < 0.25) appendFileSync(path.join(folder, 'tracked.txt'), text);
  else if (chance < 0.5) writeFileSync(path.join(folder, `new ${token}.txt`), text);
  else if (chance < 0.75) {
    mkdirSync(path.join(folder, 'ignored'), { recursive: true });
    writeFileSync(path.join(folder, 'ignored', token), text);
  } else {
    writeFileSync(path.join(folder, 'committed or staged.txt'), text, { flag: 'a' });
    if (!runAsAgent(folder, 'add', '--all')) return;
    if (chance > 0.85 && runAsAgent(folder, 'commit', '--quiet', `--message=${token}`)) {
      say({ says: 'committed', token: runAsAgent(folder, 'rev-parse', 'HEAD') ?? '' });
    }
  }
  say({ says: 'wrote', token: `<${token}>` });
}

/** What git left locked when it was killed, its user unlocks, as git tells them to. */
function runAsAgent(folder: string, ...argv: readonly string[]): string | undefined {
  for (let attempt = 0; attempt < 4; attempt += 1) {
    try {
      return (
        execFileSync('git', argv, { cwd: folder, env: agentEnv, encoding: 'utf8', stdio: 'pipe' }).trim() ||
        'done'
      );
    } catch (error) {
      const said = String((error as { readonly stderr?: unknown }).stderr);
      const [, lock] = /Unable to create '([^']+\.lock)': File exists/.exec(said) ?? [];
      if (lock === undefined) {
        say({ says: 'blocked', reason: `git ${argv.join(' ')}: ${said}` });
        return undefined;
      }
      rmSync(lock, { force: true });
    }
  }
  return undefined;
}

function killGroup(): void {
  process.kill(-process.pid, 'SIGKILL');
}

function countOperations(last: number): void {
  const disk = ['rename', 'writeFile', 'rm', 'unlink', 'symlink', 'link', 'copyFile', 'mkdtemp'];
  for (const name of disk) count(fs.promises, name);
  for (const name of disk) count(fs, `${name}Sync`);
  for (const name of ['spawn', 'execFile', 'execFileSync']) count(childProcess, name);
  syncBuiltinESMExports();

  function count(holder: object, name: string): void {
    const functions = holder as Record<string, (...argv: unknown[]) => unknown>;
    const original = functions[name];
    if (original === undefined) return;
    functions[name] = function counted(...argv) {
      if (isCounting && !isReading(argv)) {
        operations += 1;
        if (operations === last) killGroup();
      }
      return original.apply(this, argv);
    };
  }
}

function isReading([program, argv]: readonly unknown[]): boolean {
  if (program !== 'git' || !Array.isArray(argv)) return false;
  return argv.some((word) => READING.has(String(word)));
}
