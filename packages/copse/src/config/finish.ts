import * as z from 'zod';
import { defaultPolicy } from '../kernel/policy.ts';
import { overrides, section } from './sections.ts';
import { commandLines } from './text.ts';

const keys = {
  on_dirty: z
    .enum(['handback', 'commit', 'fail'])
    .describe(
      'When an agent stops with uncommitted changes: tell it to commit, commit for it, or fail the task.',
    ),
  commit_convention: z
    .enum(['off', 'warn', 'require'])
    .describe('Conventional commit messages: not checked, noted, or required (handed back otherwise).'),
  accept: commandLines.describe('Commands that must pass in the worktree before a task counts as finished.'),
};

export const finishSection = section(keys, {
  on_dirty: defaultPolicy.finish.onDirty,
  commit_convention: defaultPolicy.finish.commitConvention,
  accept: [],
});

export const finishOverrides = overrides(keys);
