/**
 * What running agents costs: one pass of the loop, an orchestrator with nothing to do, whole runs of trivial tasks against
 * the bare git commands they contain, and memory.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { Orchestrator } from '../../packages/copse/src/orchestrator/orchestrate.ts';
import { claimTask } from '../../packages/copse/src/tasks/act/claims.ts';
import { addTask } from '../../packages/copse/src/tasks/act/tasks.ts';
import { openRun } from '../../packages/copse/src/compose/run/run.ts';
import { decided } from '../../packages/copse/src/kernel/decision.ts';
import {
  type AgentName,
  type AttemptId,
  type SessionId,
  type TaskId,
  brand,
} from '../../packages/copse/src/kernel/ids.ts';
import { change } from '../../packages/copse/src/board/context.ts';
import type { RunContext } from '../../packages/copse/src/queue/context.ts';
import { fill } from '../boards.ts';
import { bundle, run } from '../commands.ts';
import { newSizedRepository } from '../repositories.ts';
import { type Bench, type Result, type Row, inMs, median } from '../row.ts';

const READY = 10_000;
const RUNNING = 15;
const FINISHED = 50_000;
const TASKS = 50;
const AGENTS = 8;
const IDLE_MS = 20_000;

export const orchestration: Row = {
  name: 'orchestration',
  timeoutMs: 600_000,
  async measure(bench) {
    return [
      ...(await measurePass(bench)),
      await measureIdle(bench),
      await measureWhole(bench),
      ...(await measureMemory(bench)),
    ];
  },
};

async function measurePass(bench: Bench): Promise<readonly Result[]> {
  const few = await newLoop(bench, 0);
  const many = await newLoop(bench, FINISHED);
  const repetitions = bench.isQuick ? 20 : 60;
  const times: Record<'few' | 'many', number[]> = { few: [], many: [] };
  for (let turn = -5; turn < repetitions; turn += 1) {
    for (const [name, { orchestrator }] of Object.entries({ few, many }) as ['few' | 'many', typeof few][]) {
      const beganMs = performance.now();
      await orchestrator.pass();
      if (turn >= 0) times[name].push(performance.now() - beganMs);
    }
  }
  await few.close();
  await many.close();
  const [plainMs, manyMs] = [median(times.few), median(times.many)];
  return [
    {
      what: `one pass, ${READY} ready and ${RUNNING} running`,
      measured: inMs(plainMs),
      against: 'the goal is a time',
      figure: plainMs,
      goal: { atMost: 50, unit: ' ms' },
      limit: null,
    },
    {
      what: `one pass, with ${FINISHED} finished tasks`,
      measured: inMs(manyMs),
      against: `none finished: ${inMs(plainMs)}`,
      figure: manyMs / plainMs,
      goal: { atMost: 1.2, unit: '×' },
      limit: 1,
    },
  ];
}

/** A board as it is in the middle of things. The runners are this process: alive, whatever they are. */
async function newLoop(
  bench: Bench,
  finished: number,
): Promise<{ readonly orchestrator: Orchestrator; close(): Promise<void> }> {
  const repository = await newSizedRepository(bench, 'S');
  run([...bundle, 'list'], repository);
  await fill(
    { engine: 'sqlite', file: path.join(repository, '.copse', 'board.db') },
    { ready: READY, done: finished },
  );
  const opened = await openRun(
    { cwd: repository, env: { USER: 'bench' } },
    { command: 'true', asNode: true },
  );
  const policy = {
    ...opened.context.policy,
    orchestration: { ...opened.context.policy.orchestration, maxAgents: RUNNING },
  };
  const context = { ...opened.context, policy };
  await holdSome(context);
  return { orchestrator: new Orchestrator(context, () => {}), close: () => opened.close() };
}

async function holdSome(context: RunContext): Promise<void> {
  const self = await context.occupancy.identify(process.pid);
  if (self === undefined) throw new Error('This process is not among the processes');
  for (let count = 0; count < RUNNING; count += 1) {
    const { id } = await newTask(context, `running ${count}`);
    const session = brand<SessionId>(`se-bench${count}`);
    const attempt = brand<AttemptId>(`at-bench${count}`);
    const agent = brand<AgentName>('command');
    const claimed = await claimTask(context, id, { session, attempt, node: context.node, agent });
    if (claimed.kind === 'refused') throw new Error(claimed.refusal.reason);
    const recorded = await change(context, async (change) => {
      const { at } = change;
      const of = { session, task: id, node: context.node, token: claimed.value.token };
      await change.apply(decided({ type: 'attempt.started', id: attempt, at, ...of }));
      await change.apply(decided({ type: 'attempt.process_known', id: attempt, at, ...self }));
    });
    if (recorded.kind === 'refused') throw new Error(recorded.refusal.reason);
  }
}

async function newTask(context: RunContext, title: string): Promise<{ readonly id: TaskId }> {
  const added = await addTask(context, { title });
  if (added.kind === 'refused') throw new Error(added.refusal.reason);
  return added.value;
}

async function measureIdle(bench: Bench): Promise<Result> {
  const repository = await newSizedRepository(bench, 'S');
  const loop = startLoop(bench, repository, ['--command', 'true']);
  await sleep(3_000);
  const beganMs = cpuMs(loop);
  const began = performance.now();
  await sleep(bench.isQuick ? IDLE_MS / 2 : IDLE_MS);
  const share = ((cpuMs(loop) - beganMs) / (performance.now() - began)) * 100;
  loop.kill('SIGKILL');
  return {
    what: 'an orchestrator with nothing to do',
    measured: `${share.toFixed(2)} % of a core`,
    against: 'the goal is a share',
    figure: share,
    goal: { atMost: 1, unit: ' %' },
    limit: null,
  };
}

const AGENT =
  'echo "$COPSE_TASK_ID" > "$COPSE_TASK_ID.txt" && git add . && git commit -qm "feat: $COPSE_TASK_ID"';

/** Trivial tasks end to end, against the same work done with bare git commands, as many at once. */
async function measureWhole(bench: Bench): Promise<Result> {
  const tasks = bench.isQuick ? 16 : TASKS;
  const plainMs = await runPlainly(bench, tasks);
  const copseMs = await runThrough(bench, tasks);
  return {
    what: `${tasks} trivial tasks with ${AGENTS} agents, S`,
    measured: `${inMs(copseMs / tasks)} a task`,
    against: `bare git commands: ${inMs(plainMs / tasks)} a task`,
    figure: copseMs / plainMs,
    goal: { atMost: 3, unit: '×' },
    limit: null,
    why: 'Each attempt has a runner of its own, which is a Node process that has to start; git commands start in a tenth of that.',
  };
}

async function runThrough(bench: Bench, tasks: number): Promise<number> {
  const repository = await newRunRepository(bench);
  for (let count = 0; count < tasks; count += 1) run([...bundle, 'add', `task ${count}`], repository);
  const beganMs = performance.now();
  const options = ['--until-idle', '--max-agents', String(AGENTS), '--command', AGENT];
  const loop = startLoop(bench, repository, options);
  await new Promise((resolve) => loop.once('exit', resolve));
  const tookMs = performance.now() - beganMs;
  const landed = Number(run(['git', 'rev-list', '--count', 'first..main'], repository));
  if (landed !== tasks) throw new Error(`${landed} of ${tasks} tasks landed`);
  return tookMs;
}

/** What each of them contains, in a shell: a worktree, the agent, a rebase, the landing, and all of it away again. */
async function runPlainly(bench: Bench, tasks: number): Promise<number> {
  const repository = await newRunRepository(bench);
  const script = [
    'set -e',
    'id=$1',
    'git worktree add -q -b "$id" ".worktrees/$id" main',
    `(cd ".worktrees/$id" && export COPSE_TASK_ID="$id" && ${AGENT})`,
    'exec 9>.git/landing',
    'flock 9',
    'git -C ".worktrees/$id" rebase -q main',
    'git merge -q --ff-only "$id"',
    'git worktree remove ".worktrees/$id"',
    'git branch -q -d "$id"',
  ].join('\n');
  const file = path.join(repository, '..', 'plain.sh');
  writeFileSync(file, script);
  const ids = Array.from({ length: tasks }, (_, index) => `task-${index}`);
  const beganMs = performance.now();
  // As many at once; `worktree add` races with itself, which the naive way has to live with.
  const all = `printf '%s\\n' ${ids.join(' ')} | xargs -P ${AGENTS} -I{} sh -c 'for n in 1 2 3 4 5; do sh "$0" {} && exit 0; done; exit 0' '${file}'`;
  spawnShell(all, repository);
  return performance.now() - beganMs;
}

function spawnShell(line: string, cwd: string): void {
  try {
    run(['sh', '-c', `${line} 2>/dev/null`], cwd);
  } catch {
    // Some of them lost a race and are not counted against plain git.
  }
}

async function newRunRepository(bench: Bench): Promise<string> {
  const repository = await newSizedRepository(bench, 'S');
  run(['git', 'checkout', '-q', 'main'], repository);
  run(['git', 'tag', 'first'], repository);
  writeFileSync(path.join(repository, '.git', 'info', 'exclude'), '/.worktrees/\n');
  return repository;
}

async function measureMemory(bench: Bench): Promise<readonly Result[]> {
  const repository = await newRunRepository(bench);
  run([...bundle, 'add', 'sleeps'], repository);
  const loop = startLoop(bench, repository, ['--command', 'sleep 600']);
  const runner = await runnerOf(repository);
  bench.atEnd(() => tryKill(runner));
  await sleep(5_000);
  const [loopBytes, runnerBytes] = [memoryOf(loop.pid ?? 0), memoryOf(runner)];
  loop.kill('SIGKILL');
  run([...bundle, 'cancel', onlyTask(repository)], repository);
  return [memory('memory of an orchestrator', loopBytes, 120), memory('memory of a runner', runnerBytes, 80)];
}

function memory(what: string, bytes: number, goal: number): Result {
  const megabytes = bytes / 1024 ** 2;
  return {
    what,
    measured: `${megabytes.toFixed(0)} MB`,
    against: 'bare node: 45 MB',
    figure: megabytes,
    goal: { atMost: goal, unit: ' MB' },
    limit: 45,
  };
}

async function runnerOf(repository: string): Promise<number> {
  for (let looks = 0; looks < 100; looks += 1) {
    const { running } = JSON.parse(run([...bundle, 'agents', '--json'], repository)) as {
      running: { pid: number | null }[];
    };
    const pid = running[0]?.pid;
    if (pid) return pid;
    await sleep(100);
  }
  throw new Error('No runner started');
}

function onlyTask(repository: string): string {
  const { tasks } = JSON.parse(run([...bundle, 'list', '--json'], repository)) as { tasks: { id: string }[] };
  return tasks[0]?.id ?? '';
}

function startLoop(bench: Bench, cwd: string, options: readonly string[]): ChildProcess {
  const [node, ...argv] = bundle;
  const { COPSE_BOARD: _, ...env } = process.env;
  const child = spawn(node, [...argv, 'orchestrate', ...options], {
    cwd,
    env: { ...env, COPSE_BACKGROUND: '0' },
    stdio: 'ignore',
  });
  bench.atEnd(() => child.kill('SIGKILL'));
  return child;
}

const TICKS_PER_SECOND = 100;

function cpuMs({ pid }: ChildProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND;
}

function memoryOf(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  return Number(kilobytes) * 1024;
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
