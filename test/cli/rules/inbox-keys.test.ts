/** Which keys the inbox offers for what needs a person. */

import { describe, expect, test } from 'vitest';

import { answerFor, keyHints } from '../../../packages/copse/src/explain/rules/inbox/answers.ts';

describe('a task that needs attention', () => {
  test('is queued again with a', () => {
    expect(keyHints({ kind: 'attention' }, false)).toContain('a queue it again');
    expect(answerFor({ kind: 'attention' }, 'a')).toBe('queue');
  });

  test('is not queued while it has nothing to land', () => {
    const need = { kind: 'attention', hasNothingToLand: true } as const;
    expect(keyHints(need, false).slice(0, 3)).toEqual([
      'r resume',
      't resume with a message',
      'c cancel the task',
    ]);
    expect(answerFor(need, 'a')).toBeUndefined();
    expect(answerFor(need, '\r')).toBe('resume_with');
  });
});
