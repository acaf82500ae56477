/** Shared by the definitions of commands. */

import type { Command } from 'commander';

import { type TaskKind, taskKinds } from '../../tasks/rules/task.ts';
import type { Invocation } from '../invocation.ts';
import type { CopseCommand } from './command.ts';

export type Run = (invocation: Invocation<never>) => Promise<void>;

/** Loads a command only when it is run. */
export type On = (load: () => Promise<{ readonly run: Run }>) => (this: Command) => Promise<void>;

/** A command with all its names: the command line sets up only the one that its first word names. */
export interface CommandEntry {
  readonly names: readonly string[];
  /** It speaks about all commands, so all are set up. */
  readonly needsAll?: true;
  readonly add: (program: CopseCommand, on: On) => void;
}

export const aTask = 'a task id, or the unique beginning of one';
export const taskHere = 'a task (default: the task of the current worktree)';
export const someTasks = 'tasks in the queue: ids, or unique beginnings of ids';
export const aTarget = 'the target branch (default: landing.target, or the base branch)';

const kindTexts: Readonly<Record<TaskKind, string>> = {
  code: 'the result is commits',
  'non-code': 'the result is artifacts',
  import: 'the agent commits artifacts of other tasks',
};

function several(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function byComma(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(',').map((word) => word.trim())];
}

/** The options with which `add` and `edit` define a task. */
export function withDefinition(command: CopseCommand): CopseCommand {
  return command
    .option('--priority <p1-p5>', 'p5 is the most urgent')
    .option(
      '--area <glob>',
      'paths that it will change; tasks with overlapping areas run one after another (repeat)',
      several,
    )
    .option(
      '--requires <capabilities>',
      'capabilities that its agent or node must have; cpus:8 means at least 8 CPUs, memory:16 at least 16 GB (repeat or separate by commas)',
      byComma,
    )
    .option('--plan <id>', 'the plan it belongs to')
    .option('--agent <name>', 'only this agent may take it')
    .option(
      '--accept <command>',
      'a command that must pass before the work counts as finished (repeat)',
      several,
    )
    .option('--kind <kind>', taskKinds.map((kind) => `${kind} (${kindTexts[kind]})`).join(', '));
}
