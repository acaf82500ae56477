/** The disk budget of a sweep, and what a move to the trash frees. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { taskStatuses } from '../../../packages/copse/src/tasks/rules/task.ts';
import { type RemovalFacts, decideRemoval } from '../../../packages/copse/src/workspaces/rules/removal.ts';
import { planSweep, sweepRequest } from '../../../packages/copse/src/workspaces/rules/sweep/plan.ts';
import {
  type FoundLogs,
  type FoundSession,
  type FoundTrash,
  type FoundWorktree,
  type OwnerStatus,
  type SweepFacts,
  type SweepItem,
} from '../../../packages/copse/src/workspaces/rules/sweep/things.ts';
import {
  before,
  logs,
  maintenance,
  none,
  now,
  pruning,
  removal,
  session,
  shell,
  trash,
  worktree,
} from '../../support/workspaces/sweep-facts.ts';

describe('the disk budget', () => {
  const withBudget = (maxDiskBytes: number) => ({
    ...pruning,
    maintenance: { ...maintenance, maxDiskBytes },
  });
  const owners = fc.constantFrom<OwnerStatus>(...taskStatuses, 'deleted', 'unknown');
  const moment = fc.integer({ min: 0, max: 60 * 86_400_000 }).map(before);
  const bytes = fc.option(fc.integer({ min: 0, max: 1_000 }));
  const facts = fc.record({
    inside: fc.constantFrom([], [], [shell], null),
    uncommitted: fc.constantFrom(0, 0, 3, null),
    unmerged: fc.constantFrom(0, 2, null),
    branch: fc.constantFrom<RemovalFacts['branch']>('merged', 'unmerged', 'gone'),
    isManaged: fc.boolean(),
    hasRunner: fc.boolean(),
    isByHand: fc.boolean(),
    lease: fc.constantFrom<RemovalFacts['lease']>(
      { kind: 'none' },
      { kind: 'live', holder: 'here' },
      { kind: 'expired', forMs: maintenance.abandonedWorktreeAgeMs },
    ),
    disposition: fc.constantFrom<RemovalFacts['disposition']>(
      { is: 'in_use' },
      { is: 'kept', why: 'asked', detail: '', since: now },
      null,
    ),
  });
  const asTrash = (one: Partial<FoundTrash>): FoundTrash => ({ ...trash, ...one });
  const asLogs = (one: Partial<FoundLogs>): FoundLogs => ({ ...logs, ...one });
  const asSession = (one: Partial<FoundSession>): FoundSession => ({ ...session, ...one });
  const asFacts = (found: Partial<SweepFacts>): SweepFacts => ({ ...none, ...found });
  const asWorktree = (
    found: Pick<FoundWorktree, 'owner'> & Partial<FoundWorktree>,
    seen: Partial<RemovalFacts>,
  ): FoundWorktree => {
    const status = found.owner === 'deleted' || found.owner === 'unknown' ? null : found.owner;
    return { ...worktree, ...found, removal: { ...removal, ...seen, status } };
  };
  const worktrees = fc.array(
    fc
      .record({
        owner: owners,
        since: fc.option(moment),
        changedAt: fc.option(moment),
        isThere: fc.boolean(),
        isRecovered: fc.boolean(),
        cleanupOnFailure: fc.boolean(),
        isResult: fc.boolean(),
        bytes,
      })
      .chain((found) => facts.map((seen) => asWorktree(found, seen))),
    { maxLength: 8 },
  );
  const trashes = fc.array(
    fc
      .record({
        at: moment,
        isLeftover: fc.boolean(),
        isEmpty: fc.boolean(),
        isBegun: fc.boolean(),
        repositories: fc.constantFrom<readonly string[]>([], ['lib']),
        isOccupied: fc.constantFrom(false, true, null),
        bytes,
      })
      .map(asTrash),
    { maxLength: 6 },
  );
  const logFolders = fc.array(
    fc
      .record({
        kind: fc.constantFrom<FoundLogs['kind']>('logs', 'artifacts'),
        owner: owners,
        at: moment,
        newer: fc.integer({ min: 0, max: 1_000 }),
        isDerived: fc.boolean(),
        bytes,
      })
      .map(asLogs),
    { maxLength: 6 },
  );
  const sessions = fc.array(fc.record({ owner: owners, endedAt: fc.option(moment), bytes }).map(asSession), {
    maxLength: 4,
  });
  const states = fc.record({ worktrees, trash: trashes, logs: logFolders, sessions }).map(asFacts);

  /** Written without the plan: what has to be true of anything that goes. */
  function expectSafe({ found }: SweepItem): void {
    const isOver = (owner: OwnerStatus) => ['done', 'cancelled', 'deleted'].includes(owner);
    switch (found.kind) {
      case 'worktree': {
        const facts = found.is.removal ?? expect.fail('The gate was not asked');
        const gate = decideRemoval(facts, sweepRequest(found.is, pruning), pruning);
        expect(['allowed', 'end_first']).toContain(gate.kind);
        expect(facts.inside).not.toContainEqual(shell);
        expect(facts.inside).not.toBeNull();
        expect(facts.isManaged).toBe(true);
        expect(facts.disposition?.is).not.toBe('kept');
        expect(facts.uncommitted).not.toBeNull();
        expectOver(found.is, facts);
        return;
      }
      case 'trash':
        expect(found.is.repositories).toEqual([]);
        expect(found.is.isOccupied).toBe(false);
        // Content that only the trash has stays for its 7 days.
        if (!found.is.isEmpty && !found.is.isLeftover)
          expect(now - found.is.at).toBeGreaterThan(maintenance.trashAgeMs);
        return;
      case 'logs':
      case 'artifacts':
        expect(isOver(found.is.owner)).toBe(true);
        expect(found.is.isDerived || found.is.owner === 'deleted').toBe(true);
        return;
      case 'session':
        expect(isOver(found.is.owner)).toBe(true);
        expect(found.is.endedAt).not.toBeNull();
        return;
      case 'branch':
      case 'snapshot':
      case 'record':
        expect.fail(`${found.kind} takes no disk space`);
    }
  }

  function expectOver({ owner, cleanupOnFailure, isRecovered }: FoundWorktree, facts: RemovalFacts): void {
    const { lease, hasRunner, isByHand, uncommitted, unmerged } = facts;
    if (owner === 'in_progress')
      expect([lease.kind, hasRunner, isByHand, isRecovered]).toEqual(['expired', false, false, false]);
    else if (owner === 'failed') expect([cleanupOnFailure, hasRunner]).toEqual([true, false]);
    else if (owner === 'unknown' || owner === 'deleted') expect([uncommitted, unmerged]).toEqual([0, 0]);
    else expect(['done', 'cancelled']).toContain(owner);
  }

  // promise: disk-budget-safe
  it('never removes what is not safe, in any state and however little it allows', () => {
    fc.assert(
      fc.property(states, fc.integer({ min: 0, max: 6_000 }), (facts, max) => {
        for (const item of planSweep(facts, withBudget(max)).items)
          if (item.verdict.kind === 'goes') expectSafe(item);
      }),
      { numRuns: 500 },
    );
  });

  it('takes the oldest first, only as many as it has to, and nothing of the last hour', () => {
    const ages = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(ages, fc.integer({ min: 0, max: 12 }), (found, max) => {
        // One byte each, so many quarters of an hour old.
        const aged = found.map((quarters) => asLogs({ at: before(quarters * 900_000), bytes: 1 }));
        const { items } = planSweep({ ...none, logs: aged }, withBudget(max));
        const taken = found.filter((_, at) => items[at]?.verdict.kind === 'goes');
        const oldest = found.toSorted((one, other) => other - one).filter((quarters) => quarters >= 4);
        const needed = Math.max(0, found.length - max);
        expect(taken.toSorted((one, other) => other - one)).toEqual(oldest.slice(0, needed));
      }),
      { numRuns: 300 },
    );
  });

  it('takes nothing while everything fits, and says how much is used', () => {
    const facts = { ...none, logs: [{ ...logs, at: before(7_200_000) }] };
    expect(planSweep(facts, withBudget(10)).budget).toEqual({
      maxBytes: 10,
      usedBytes: 10,
      leftBytes: 10,
      trashedBytes: 0,
    });
    expect(planSweep(facts, withBudget(10)).items[0]?.verdict.kind).toBe('stays');
    expect(planSweep(facts, withBudget(9)).items[0]?.verdict).toMatchObject({
      kind: 'goes',
      why: expect.stringContaining('max_disk'),
    });
  });
});

describe('a worktree that moves to the trash', () => {
  const budgeted = (maxDiskBytes: number) => ({
    ...pruning,
    maintenance: { ...maintenance, maxDiskBytes },
  });
  const youngLogs: FoundLogs = { ...logs, at: before(7_200_000) };

  it('frees nothing yet, so the disk budget takes what does', () => {
    const facts = { ...none, worktrees: [worktree], logs: [youngLogs] };
    const { items, budget } = planSweep(facts, budgeted(10));
    expect(items.map(({ verdict }) => verdict.kind)).toEqual(['goes', 'goes']);
    expect(budget).toEqual({ maxBytes: 10, usedBytes: 20, leftBytes: 10, trashedBytes: 10 });
  });

  it('is taken before its time only if nothing else is enough', () => {
    const young = { ...worktree, since: before(7_200_000) };
    const facts = { ...none, worktrees: [young], logs: [youngLogs] };
    const kinds = (max: number) => planSweep(facts, budgeted(max)).items.map(({ verdict }) => verdict.kind);
    expect(kinds(10)).toEqual(['stays', 'goes']);
    expect(kinds(9)).toEqual(['goes', 'goes']);
  });
});
