/** Inputs and outputs of the operations on the board as a whole. */

import { z } from 'zod';

import { aTask, time } from '../shapes/common.ts';
import { MOST_EVENTS, USUAL_EVENTS } from './events.ts';

const cursor = z.string().describe('term:number. The term grows when the server of the board is replaced.');

export const events = {
  input: z.strictObject({
    task: aTask.optional().describe('Only events of this task.'),
    after: z.string().optional().describe('Only later events: a cursor, or the number of an event.'),
    last: z.int().min(0).optional().describe('Only so many of the latest events.'),
    limit: z
      .int()
      .min(1)
      .max(MOST_EVENTS)
      .optional()
      .describe(`At most so many events, and fewer if they are large; the default is ${USUAL_EVENTS}.`),
  }),
  output: z.strictObject({
    events: z.array(
      z.strictObject({
        cursor,
        number: z.number().describe('Numbers have no gaps and grow in the order of commits.'),
        at: time,
        type: z.string().describe('As task.created: a kind of record, and what happened to it.'),
        id: z.string().describe('Of the record.'),
        by: z.string().describe('person, person:<name>, session:<id> or node:<id>.'),
        data: z.record(z.string(), z.unknown()),
      }),
    ),
    lost: z
      .strictObject({ term: z.number(), from: z.number(), to: z.number() })
      .nullable()
      .describe('Events before the cursor that a replaced server of the board no longer has.'),
    cursor: cursor.describe('For `after` of the next page.'),
    hasMore: z.boolean(),
  }),
};

export const backup = {
  input: z.strictObject({}),
  output: z.strictObject({ file: z.string().describe('On the machine of the board.') }),
};

export const importing = {
  input: z.strictObject({ text: z.string().describe('The lines of copse export.') }),
  output: z.strictObject({ records: z.number(), events: z.number() }),
};
