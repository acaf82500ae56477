/** The tools of an agent, all about its own task. Each runs a command and answers with its output. */

import type { TaskId } from '../../kernel/ids.ts';
import { ledgerKinds } from '../../tasks/rules/ledger.ts';
import { openPhases } from '../../agents/rules/session/session.ts';
import { fail } from '../../operations/failure.ts';
import type { Cli, Invocation } from '../invocation.ts';
import type { Run } from '../program/parts.ts';
import { type Given, type Parameters, defineTool } from './define-tool.ts';
import type { Tool } from './server.ts';

/** Commands are loaded by their first call: every running agent has such a server, which is mostly idle. */
export function toolsFor({ cli, program }: Pick<Invocation, 'cli' | 'program'>): readonly Tool[] {
  const command = <P extends Parameters>(
    described: { readonly name: string; readonly title: string; readonly description: string },
    parameters: P,
    load: () => Promise<{ readonly run: Run }>,
    /** The words and options of the command. */
    said: (given: Given<P>, task: TaskId) => { readonly words: readonly string[]; readonly options?: object },
  ): Tool =>
    defineTool(cli, { ...described, parameters }, async (given, { cli, task }) => {
      const { run } = await load();
      const { words, options = {} } = said(given, task);
      await run({ cli, program, words, options: options as never });
    });

  return [
    command(
      {
        name: 'finish',
        title: 'Report the work as finished',
        description:
          'Report that the work on your task is finished and committed. If something is missing, the answer names it: fix that and call it again. When it is accepted, stop.',
      },
      {
        summary: { type: 'string', description: 'What you did, in one or two lines.' },
        no_changes: {
          type: 'boolean',
          description: 'True if there was nothing to do, and so nothing to commit.',
        },
      },
      () => import('../commands/agents/finish.ts'),
      ({ summary, no_changes }, task) => ({
        words: [task],
        options: { summary, changes: no_changes !== true },
      }),
    ),
    command(
      {
        name: 'stuck',
        title: 'Ask a person',
        description:
          'Ask a person to decide something, then stop. Leave your worktree as it is: the task continues with the answer.',
      },
      {
        reason: {
          type: 'string',
          description: 'The question, and the choices.',
          isRequired: true,
        },
      },
      () => import('../commands/agents/stuck.ts'),
      ({ reason }, task) => ({ words: [task], options: { reason: inWords(reason, 'reason') } }),
    ),
    command(
      {
        name: 'phase',
        title: 'Report the phase',
        description: 'Report the phase of your work. Phases only go forward.',
      },
      { phase: { type: 'string', description: 'The current phase.', oneOf: openPhases, isRequired: true } },
      () => import('../commands/agents/phase.ts'),
      ({ phase }, task) => ({ words: [phase, task] }),
    ),
    command(
      {
        name: 'heartbeat',
        title: 'Renew your lease',
        description: 'Report that you are still working. The answer says whether the task is still yours.',
      },
      {},
      () => import('../commands/agents/heartbeat.ts'),
      (_, task) => ({ words: [task] }),
    ),
    command(
      {
        name: 'ledger_add',
        title: 'Add a note for the next agent',
        description:
          'Add to the ledger of your task what the next agent should know: a learning, a decision with its reason, or how far you got (handoff).',
      },
      {
        kind: { type: 'string', description: 'The kind of entry.', oneOf: ledgerKinds, isRequired: true },
        text: { type: 'string', description: 'What the next agent should know.', isRequired: true },
      },
      () => import('../commands/plans/ledger-add.ts'),
      ({ kind, text }, task) => ({ words: [kind, inWords(text, 'text')], options: { task } }),
    ),
    command(
      {
        name: 'artifact_add',
        title: 'Add a result',
        description:
          'Add a file or a URI to the results of your task. A file is copied; it must be in your worktree or, for a task without a worktree, in its folder. A URI is kept as text.',
      },
      {
        file_or_uri: {
          type: 'string',
          description: 'A path, relative to your worktree, or a URI.',
          isRequired: true,
        },
        title: { type: 'string', description: 'What it is, in one line.' },
      },
      () => import('../commands/artifacts/add.ts'),
      ({ file_or_uri, title }, task) => ({ words: [file_or_uri], options: { task, title } }),
    ),
    command(
      {
        name: 'sync',
        title: 'Bring the newest base into your branch',
        description:
          'Bring the newest commits of the base branch into the branch of your task. Commit first.',
      },
      {
        conflict: {
          type: 'boolean',
          description:
            'True leaves a conflict in the worktree for you to resolve; otherwise a conflict changes nothing.',
        },
      },
      () => import('../commands/workspaces/sync.ts'),
      ({ conflict }, task) => ({ words: [task], options: { conflict: conflict === true } }),
    ),
    defineTool(
      cli,
      {
        name: 'context',
        title: 'Read your assignment again',
        description:
          'Your assignment and its context: plan, accept commands, ledger, git state at the start, agents in the same area, rules.',
        parameters: {},
      },
      async (_, { cli, task }) => showContext(cli, task),
    ),
  ];
}

/** `-` means standard input in commands, which here carries the protocol. */
function inWords(text: string, name: string): string {
  return text === '-' ? fail('invalid', `The ${name} cannot be "-".`, 'Write the text itself.') : text;
}

/** About as much as agent programs accept from a tool; the file has the rest. */
const MOST_BYTES = 60_000;

async function showContext(cli: Cli, task: TaskId): Promise<void> {
  const { readContext } = await import('../../compose/context-file.ts');
  const { withReporting } = await import('../commands/agents/report-here.ts');
  await withReporting(cli, task, async (context) => {
    const { file, read } = await readContext(cli, context, { task, mostBytes: MOST_BYTES });
    if (read === undefined) {
      fail('not_found', `There is no context file for ${task}; it would be ${file}.`, `copse show ${task}`);
    }
    cli.output.line(
      `${read.isCut ? 'The beginning of ' : ''}${file}${read.isCut ? '; read the rest there' : ''}:`,
    );
    cli.output.line();
    cli.output.line(read.text);
  });
}
