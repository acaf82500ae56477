/** Inputs and outputs of the operations on nodes. */

import { z } from 'zod';

import { time } from '../shapes/common.ts';

const aNode = z.string().describe('The name or the id of a node.');
const texts = z.array(z.string());

const node = z.strictObject({
  id: z.string(),
  name: z.string(),
  joinedAt: time,
  leftAt: time.nullable(),
  silentMs: z.number().nullable().describe('How long it was not heard from; null: it never was.'),
  drain: z
    .strictObject({ since: time, until: time, by: z.enum(['person', 'signal']) })
    .nullable()
    .describe('While it takes no new work.'),
  version: z.string().nullable().describe('Of Copse there.'),
  protocol: z
    .strictObject({ oldest: z.number(), newest: z.number() })
    .nullable()
    .describe('The versions of the board that it works with.'),
  labels: texts,
  capabilities: z
    .strictObject({
      programs: texts.describe('Agent programs that are installed.'),
      agents: z.array(z.strictObject({ name: z.string(), capabilities: texts })),
      platform: texts,
      cpus: z.number(),
      memoryBytes: z.number(),
      isContainer: z.boolean(),
    })
    .nullable(),
  slots: z.number().nullable().describe('How many agents may run at once.'),
  clockOffsetMs: z.number().nullable().describe("The clock of the board's server minus its own."),
  tasks: texts.describe('The tasks in progress there.'),
});

export const list = {
  input: z.strictObject({ all: z.boolean().optional().describe('With the nodes that left.') }),
  output: z.strictObject({ nodes: z.array(node) }),
};

export const show = { input: z.strictObject({ node: aNode }), output: node };

export const drain = {
  input: z.strictObject({
    node: aNode,
    withinMs: z
      .int()
      .min(0)
      .optional()
      .describe('How long running work may go on; the default is policy.drain_within.'),
  }),
  output: node,
};

export const drainPreview = {
  input: z.strictObject({ node: aNode }),
  output: z.strictObject({
    tasks: z.array(
      z.strictObject({
        id: z.string(),
        title: z.string(),
        moves: z.boolean().describe('False: a person works on it by hand.'),
        to: texts.describe('The nodes that can take it now.'),
      }),
    ),
  }),
};

export const resume = { input: z.strictObject({ node: aNode }), output: node };

export const leave = { input: z.strictObject({ node: aNode }), output: node };

export const rename = { input: z.strictObject({ node: aNode, name: z.string() }), output: node };
