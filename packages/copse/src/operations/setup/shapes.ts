/** Inputs and outputs of the operations on the set-up. */

import { z } from 'zod';

const nothing = z.strictObject({});

export const configShow = {
  input: nothing,
  output: z.strictObject({
    settings: z.array(
      z.strictObject({
        key: z.string(),
        value: z.unknown().describe('As the file would have it; secrets are hidden.'),
        from: z.enum(['default', 'copse.yml']),
      }),
    ),
  }),
};

export const configCheck = {
  input: nothing,
  output: z.strictObject({
    ok: z.literal(true),
    withoutEffect: z
      .array(z.string())
      .optional()
      .describe('Settings that have no effect, one sentence each.'),
  }),
};

const keyword = z.unknown().optional();

export const configSchema = {
  input: nothing,
  output: z
    .strictObject({
      $schema: z.string().optional(),
      title: z.string().optional(),
      description: z.string().optional(),
      type: keyword,
      properties: z.record(z.string(), z.unknown()).optional(),
      additionalProperties: keyword,
      required: keyword,
    })
    .describe('A JSON Schema, draft 7.'),
};

export const configPending = {
  input: nothing,
  output: z.strictObject({
    changes: z.array(
      z.strictObject({
        name: z.string().describe('A file, or refs/remotes/<remote>/HEAD.'),
        decides: z.string().describe('What it decides.'),
        before: z.string().nullable().describe('The accepted content, without secrets.'),
        now: z.string().nullable(),
        problem: z.string().nullable().describe('Why it cannot be accepted as it is.'),
      }),
    ),
    version: z.string().describe('Of these contents; accepting them needs it.'),
  }),
};

export const configAccept = {
  input: z.strictObject({ version: z.string().describe('Of the changes that the person saw.') }),
  output: z.strictObject({ accepted: z.array(z.string()).describe('Files.') }),
};

export const configAcceptRemotes = {
  input: nothing,
  output: z.strictObject({
    remotes: z.array(z.strictObject({ name: z.string(), url: z.string().describe('Without a password.') })),
  }),
};

export const noticeTest = {
  input: nothing,
  output: z.strictObject({
    channels: z.array(
      z.strictObject({
        channel: z.string(),
        result: z.enum(['sent', 'failed', 'absent']).describe('absent: not on this machine.'),
        why: z.string().nullable(),
      }),
    ),
  }),
};

export const doctor = {
  input: nothing,
  output: z.strictObject({
    checks: z.array(
      z.strictObject({
        name: z.string(),
        state: z
          .enum(['fine', 'missing', 'problem'])
          .describe('missing: a fault only for agents that need it.'),
        found: z.string(),
        remedy: z.string().nullable().describe('A command, or what to do.'),
        ok: z.boolean(),
      }),
    ),
  }),
};
