/** Calls of the operations on agents, their output and their reports. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { type RunOptions, answer } from '../../support/cli.ts';
import { type OwnTmux, tellRunning } from '../../support/server/output.ts';
import { taken } from '../../support/workspaces/worktrees.ts';
import type { ChangingCalls, KnownRecords, ReadingCalls } from './call.ts';

const TASK = 'cp-aaaa';
const IN_TMUX = 'cp-tttt';

export async function prepareAgents(
  known: KnownRecords,
  at: RunOptions,
  tmux: OwnTmux | undefined,
): Promise<void> {
  await tellRunning(at.cwd, 'tttt');
  tmux?.start(IN_TMUX, 'exec cat');
  ({ task: known.finished } = await taken('To finish', at));
  ({ task: known.stuck } = await taken('To ask', at));
  const { attempts } = await answer<{ attempts: readonly { id: string }[] }>(['show', TASK], at);
  known.attempt = attempts.at(-1)?.id ?? '';
  const folder = path.join(at.cwd, '.copse', 'logs', TASK);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${known.attempt}.log`), 'one\ntwo\nthr');
  writeFileSync(path.join(at.cwd, 'report.txt'), 'A report\n');
  ({ id: known.report } = await answer<{ id: string }>(
    ['artifact', 'add', 'report.txt', '--task', 'cp-dddd'],
    at,
  ));
}

export function readingAgents(known: KnownRecords): ReadingCalls {
  const attempt = () => ['--attempt', known.attempt];
  return {
    'agent.list': () => [{ argv: ['agents'], input: {} }],
    'agent.detect': () => [{ argv: ['agents', 'detect'], input: {} }],
    'task.logs': () => [
      { argv: ['logs', TASK], input: { task: TASK } },
      { argv: ['logs', TASK, '-n', '1', '--all'], input: { task: TASK, all: true, lines: 1 } },
      {
        argv: ['logs', TASK, ...attempt(), '--after', '4'],
        input: { task: TASK, attempt: known.attempt, after: 4 },
      },
    ],
    'cost.show': () => [
      { argv: ['cost'], input: {} },
      {
        argv: ['cost', '--by', 'agent', '--since', '2026-01-01', '--plan', 'pl-a'],
        input: { by: 'agent', since: '2026-01-01', plan: 'pl-a' },
      },
    ],
    'stats.show': () => [
      { argv: ['stats'], input: {} },
      { argv: ['stats', '--weeks', '500'], input: { weeks: 500 } },
    ],
    'artifact.content': () => [
      { argv: ['artifact', 'get', known.report], input: { artifact: known.report } },
      {
        argv: ['artifact', 'get', known.report, '--after', '2'],
        input: { artifact: known.report, after: 2 },
      },
    ],
  };
}

export function changingAgents(known: KnownRecords): ChangingCalls {
  return {
    'task.heartbeat': () => ({ argv: ['heartbeat', known.stuck], input: { task: known.stuck } }),
    'task.phase': () => ({
      argv: ['phase', 'working', known.stuck],
      input: { task: known.stuck, phase: 'working' },
    }),
    'task.notify': () => ({
      argv: ['notify', 'idle', known.stuck, '--message', 'Which port?'],
      input: { task: known.stuck, attention: 'idle', message: 'Which port?' },
    }),
    'task.stuck': () => ({
      argv: ['stuck', known.stuck, '--reason', 'Keep both?'],
      input: { task: known.stuck, reason: 'Keep both?' },
    }),
    'task.finish': () => ({
      argv: ['finish', known.finished, '--no-changes', '--summary', 'Done before'],
      input: { task: known.finished, noChanges: true, summary: 'Done before' },
    }),
    'session.take_over': () => ({
      argv: ['take-over', IN_TMUX],
      input: { task: IN_TMUX, isKept: true },
    }),
    'session.give_back': () => ({ argv: ['give-back', IN_TMUX], input: { task: IN_TMUX } }),
    'artifact.add': () => ({
      argv: ['artifact', 'add', 'report.txt', '--task', 'cp-dddd', '--title', 'Again'],
      input: { task: 'cp-dddd', file: 'report.txt', title: 'Again' },
    }),
  };
}
