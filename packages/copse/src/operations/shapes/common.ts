/** Shapes of values that many operations take or return. */

import { z } from 'zod';

import { defaultPolicy } from '../../kernel/policy.ts';

export const time = z.iso.datetime().meta({ id: 'Time', description: 'A time, in UTC.' });

export const aTask = z.string().describe('The id of a task, or the unique beginning of one.');

export const taskOrHere = aTask
  .optional()
  .describe('The id of a task, or the unique beginning of one. Without it: the task of the caller.');

export const agentName = z.string().describe('The name of an agent in copse.yml.');

export const usage = z
  .strictObject({
    input: z.number().describe('Tokens read anew.'),
    cached: z.number().describe("Tokens read from or written to the vendor's cache."),
    output: z.number(),
    dollars: z.number().nullable().describe('Null when the vendor does not say.'),
  })
  .meta({ id: 'Usage', description: 'What agents used.' });

/** Of a change that is as large as an agent likes. */
export const maxPatchBytes = z
  .int()
  .min(0)
  .max(defaultPolicy.diffPage.mostPatchBytes)
  .optional()
  .describe('At most so much of the patch, cut after a line (default: 1 MB).');
