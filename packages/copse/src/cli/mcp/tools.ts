/**
 * The tools of an agent: what it could say by commands, about its own task and no other. Each is the command itself, with
 * what it prints as the answer, so that an agent hears the same whichever way it reports.
 */

import type { TaskId } from '../../kernel/ids.ts';
import { ledgerKinds } from '../../tasks/rules/ledger.ts';
import { openPhases } from '../../agents/rules/session/session.ts';
import { fail } from '../failure.ts';
import type { Cli, Invocation } from '../invocation.ts';
import type { Run } from '../program-parts.ts';
import { type Given, type Parameters, defineTool } from './define-tool.ts';
import type { Tool } from './server.ts';

/** What a call needs is loaded by the first one: every running agent has such a server, and most of the time it only waits. */
export function toolsFor({ cli, program }: Pick<Invocation, 'cli' | 'program'>): readonly Tool[] {
  const command = <P extends Parameters>(
    described: { readonly name: string; readonly title: string; readonly description: string },
    parameters: P,
    load: () => Promise<{ readonly run: Run }>,
    /** What the command line would have said. */
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
        title: 'Say that the work is finished',
        description:
          'Say that the work on your task is finished and committed. You hear at once what is still missing, if anything: put that right and call it again. When it was accepted, stop.',
      },
      {
        summary: { type: 'string', description: 'What was done, in a line or two.' },
        no_changes: {
          type: 'boolean',
          description: 'True if there was nothing to do, so nothing to commit.',
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
          'Say that only a person can decide how to go on. Then stop: your work is kept, and the task goes on with the answer.',
      },
      {
        reason: {
          type: 'string',
          description: 'The question, and the choices you see.',
          isRequired: true,
        },
      },
      () => import('../commands/agents/stuck.ts'),
      ({ reason }, task) => ({ words: [task], options: { reason: inWords(reason, 'reason') } }),
    ),
    command(
      {
        name: 'phase',
        title: 'Say how far the work is',
        description: 'Say how far the work on your task is. Phases go forward only.',
      },
      { phase: { type: 'string', description: 'Where you are now.', oneOf: openPhases, isRequired: true } },
      () => import('../commands/agents/phase.ts'),
      ({ phase }, task) => ({ words: [phase, task] }),
    ),
    command(
      {
        name: 'heartbeat',
        title: 'Say that the work goes on',
        description: 'Say that the work on your task is still going on, and hear whether it is still yours.',
      },
      {},
      () => import('../commands/agents/heartbeat.ts'),
      (_, task) => ({ words: [task] }),
    ),
    command(
      {
        name: 'ledger_add',
        title: 'Note something for those who come after',
        description:
          'Note in the ledger of your task what the next one should know: a learning, a decision with its reason, or how far you came (handoff).',
      },
      {
        kind: { type: 'string', description: 'What it is.', oneOf: ledgerKinds, isRequired: true },
        text: { type: 'string', description: 'What the next one should know.', isRequired: true },
      },
      () => import('../commands/plans/ledger-add.ts'),
      ({ kind, text }, task) => ({ words: [kind, inWords(text, 'text')], options: { task } }),
    ),
    command(
      {
        name: 'sync',
        title: 'Bring the newest base into your branch',
        description:
          'Merge what landed on the base branch meanwhile into the branch of your task, now. Commit first.',
      },
      {
        conflict: {
          type: 'boolean',
          description:
            'True leaves a conflict in the worktree for you to resolve; otherwise nothing changes.',
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
          'Your assignment with everything around it: plan, accept commands, ledger, git state at the beginning, who works nearby, rules.',
        parameters: {},
      },
      async (_, { cli, task }) => showContext(cli, task),
    ),
  ];
}

/** A dash stands for standard input in commands, and here that is the protocol. */
function inWords(text: string, name: string): string {
  return text === '-' ? fail('invalid', `The ${name} says nothing.`, 'write it out') : text;
}

/** About what an agent program takes from a tool at once; the file has the rest. */
const MOST_BYTES = 60_000;

async function showContext(cli: Cli, task: TaskId): Promise<void> {
  const { readContext } = await import('../../compose/context-file.ts');
  const { withReporting } = await import('../commands/report-here.ts');
  await withReporting(cli, task, async (context) => {
    const { file, read } = await readContext(cli, context, { task, mostBytes: MOST_BYTES });
    if (read === undefined) {
      fail('not_found', `No context was written for ${task}; it would be at ${file}.`, `copse show ${task}`);
    }
    cli.output.line(`This is ${file}${read.isCut ? ', its beginning; read the rest there' : ''}:`);
    cli.output.line();
    cli.output.line(read.text);
  });
}
