import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { brand } from '../../../packages/copse/src/kernel/ids.ts';
import {
  type Preparation,
  type PreparationFacts,
  decidePreparation,
} from '../../../packages/copse/src/workspaces/rules/preparation.ts';

const tip = (digit: string) => brand<PreparationFacts['localTip'] & string>(digit.repeat(40));

const nothing: PreparationFacts = {
  worktree: { state: 'absent', isRegistered: false },
  branch: brand('cp-a1b2/fix-it'),
  localTip: undefined,
  remoteTip: undefined,
  holder: undefined,
  base: { branch: brand('main'), commit: tip('b') },
};
const healthy = { state: 'healthy', branch: nothing.branch, head: tip('c'), operation: null } as const;

const cases: readonly [string, Partial<PreparationFacts>, Partial<Preparation>][] = [
  [
    'begins at the base when there is nothing',
    {},
    { kind: 'new_worktree', from: 'base', start: tip('b'), aside: null },
  ],
  [
    'continues a local branch',
    { localTip: tip('1') },
    { kind: 'new_worktree', from: 'branch', start: tip('1') },
  ],
  [
    'prefers the local branch to the remote one',
    { localTip: tip('1'), remoteTip: tip('2') },
    { start: tip('1') },
  ],
  [
    'continues a remote branch',
    { remoteTip: tip('2') },
    { kind: 'new_worktree', from: 'remote', start: tip('2') },
  ],
  [
    'leaves a branch that is checked out elsewhere',
    { localTip: tip('1'), holder: '/x' },
    { kind: 'taken', by: '/x' },
  ],
  ['reuses a healthy worktree', { worktree: healthy }, { kind: 'reuse', notes: [] }],
  [
    'reuses one whose branch was renamed, and says so',
    { worktree: { ...healthy, branch: brand('other') } },
    { kind: 'reuse', branch: brand('other'), notes: ['Its branch is now other, not cp-a1b2/fix-it.'] },
  ],
  [
    'reuses one in the middle of a rebase',
    { worktree: { ...healthy, branch: null, operation: 'rebase' } },
    { kind: 'reuse', notes: ['A rebase is in progress there.'] },
  ],
  [
    'sets a broken one aside and continues its branch',
    { worktree: { state: 'broken', why: 'its index is gone', isUnfinished: false }, localTip: tip('1') },
    { kind: 'new_worktree', from: 'branch', aside: 'its index is gone' },
  ],
  [
    'recovers from a folder that was deleted by hand',
    { worktree: { state: 'absent', isRegistered: true }, localTip: tip('1') },
    { kind: 'new_worktree', from: 'branch', aside: 'its folder was deleted' },
  ],
  ['cannot begin without a base', { base: undefined }, { kind: 'no_base' }],
];

describe('decidePreparation', () => {
  it.each(cases)('%s', (_, facts, expected) => {
    expect(decidePreparation({ ...nothing, ...facts })).toMatchObject(expected);
  });

  it('never starts new if there is a branch, and never sets a healthy worktree aside', () => {
    const worktree = fc.constantFrom<PreparationFacts['worktree']>(
      healthy,
      { state: 'broken', why: 'x', isUnfinished: false },
      { state: 'absent', isRegistered: true },
      { state: 'absent', isRegistered: false },
    );
    const some = fc.option(fc.constant(tip('1')), { nil: undefined });
    fc.assert(
      fc.property(
        worktree,
        some,
        some,
        fc.option(fc.constant('/x'), { nil: undefined }),
        (found, local, remote, holder) => {
          const decided = decidePreparation({
            ...nothing,
            worktree: found,
            localTip: local,
            remoteTip: remote,
            holder,
          });
          if (decided.kind === 'new_worktree' && decided.from === 'base')
            expect([local, remote]).toEqual([undefined, undefined]);
          expect(decided.kind === 'reuse').toBe(found.state === 'healthy');
          if (decided.kind === 'new_worktree')
            expect(decided.aside !== null).toBe(
              found.state === 'broken' || ('isRegistered' in found && found.isRegistered),
            );
        },
      ),
    );
  });
});
