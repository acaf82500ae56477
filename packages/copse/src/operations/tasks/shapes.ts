/** Inputs and outputs of the operations on tasks. */

import { z } from 'zod';

import { aTask, agentName } from '../shapes/common.ts';
import { priority, question as asked, task } from '../shapes/task.ts';
import { removed } from '../shapes/worktree.ts';
import { taskKinds } from '../../tasks/rules/task.ts';

const texts = z.array(z.string());
const command = z.string().optional().describe('A shell command to use as the agent.');

const definition = {
  body: z.string().optional().describe('The whole assignment.'),
  priority: priority.optional(),
  kind: z.enum(taskKinds).optional(),
  areas: texts.optional().describe('Globs of paths; tasks with overlapping areas run one after another.'),
  requires: texts.optional().describe('Capabilities that its agent or node must have.'),
  accept: texts.optional().describe('Commands that must pass before the work counts as finished.'),
};

export const add = {
  input: z.strictObject({
    title: z.string().describe('What to do, in a few words.'),
    ...definition,
    plan: z.string().optional().describe('The plan it belongs to.'),
    agent: agentName.optional().describe('Only this agent may take it.'),
    dependsOn: texts.optional().describe('Tasks that must be done first.'),
    from: z.string().optional().describe('Of an import: the artifact or the task that it brings in.'),
  }),
  output: task,
};

export const addItem = {
  input: z.strictObject({ item: z.string().describe('A work item of a source, for example github#12.') }),
  output: task,
};

export const edit = {
  input: z.strictObject({
    task: aTask,
    title: z.string().optional(),
    ...definition,
    plan: z.string().nullable().optional().describe('The plan it belongs to; null: none.'),
    agent: agentName.nullable().optional().describe('Only this agent may take it; null: any.'),
    addDependencies: texts.optional().describe('More tasks that must be done first.'),
    removeDependencies: texts.optional().describe('Tasks that it no longer waits for.'),
  }),
  output: task,
};

const remaining = z.strictObject({
  pid: z.number(),
  startTime: z.number(),
  name: z.string(),
  user: z.number().nullable(),
});

export const remove = {
  input: z.strictObject({
    tasks: z.array(aTask).min(1).describe('All of them are deleted, or none.'),
    unlink: z.boolean().optional().describe('Delete them even if other tasks depend on them.'),
    keepWorktree: z.boolean().optional().describe('Leave their worktrees as they are.'),
  }),
  output: z.strictObject({
    deleted: z.array(
      z.strictObject({
        ...task.shape,
        agentEnd: z.enum(['none', 'stopped', 'elsewhere']),
        remaining: z.array(remaining).describe('Processes that could not be ended.'),
        removed: removed.nullable(),
      }),
    ),
  }),
};

const stopped = z.strictObject({
  task,
  remaining: z.number().describe('How many processes could not be ended.'),
});

export const pause = { input: z.strictObject({ task: aTask }), output: stopped };

export const cancel = {
  input: z.strictObject({ task: aTask, reason: z.string().optional() }),
  output: stopped,
};

const started = z.strictObject({
  task,
  agent: z.string().nullable().describe('Who works on it now; null while it waits.'),
});

export const resume = {
  input: z.strictObject({
    task: aTask,
    message: z.string().optional().describe('What its agent is told.'),
    command,
  }),
  output: started,
};

export const restart = {
  input: z.strictObject({
    task: aTask,
    answer: z.string().optional().describe('The answer to its question.'),
    command,
  }),
  output: started,
};

export const move = {
  input: z.strictObject({ task: aTask, to: z.string().describe('The name or the id of a node.') }),
  output: task,
};

export const question = {
  input: z.strictObject({ task: aTask }),
  output: z.strictObject({ task: z.string(), question: asked.nullable() }),
};

export const answer = {
  input: z.strictObject({
    task: aTask,
    isAllowed: z.boolean(),
    message: z.string().optional().describe('Passed on to the agent.'),
    question: z
      .string()
      .optional()
      .describe('Its id: the answer is refused when another question is open by now.'),
  }),
  output: z.strictObject({ question: asked, isAllowed: z.boolean(), message: z.string().nullable() }),
};
