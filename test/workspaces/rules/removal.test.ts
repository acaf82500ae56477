import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { removal } from '../../support/workspaces/sweep-facts.ts';
import {
  type RemovalDecision,
  type RemovalFacts,
  type RemovalRequest,
  decideRemoval,
} from '../../../packages/copse/src/workspaces/rules/removal.ts';
import type { InsideProcess } from '../../../packages/copse/src/kernel/process.ts';
import { taskStatuses } from '../../../packages/copse/src/tasks/rules/task.ts';
import { type Disposition, keepReasons } from '../../../packages/copse/src/workspaces/rules/workspace.ts';

const shell: InsideProcess = {
  pid: 4242,
  startTime: 7,
  name: 'bash',
  at: '/work/cp-0001/src',
  isOurs: false,
};
const agent: InsideProcess = { ...shell, pid: 99, name: 'claude', isOurs: true };
const kept: Disposition = { is: 'kept', why: 'conflict', detail: 'src/a.ts', since: timestamp(1) };
const released: Disposition = { is: 'released', at: timestamp(2), rescue: null };
const { staleLockAgeMs } = defaultPolicy.removal;
const { abandonedWorktreeAgeMs } = defaultPolicy.maintenance;

/** The worktree of a task that landed, with nothing left in it. */
const empty: RemovalFacts = { ...removal, status: 'done' };

const terminal = { name: 'copse-cp-0001', panes: [99], launchers: [], attached: 0 };
const lock = { file: '/r/.git/worktrees/cp-0001/index.lock', ageMs: staleLockAgeMs, isHeld: false };

const requests = {
  person: { by: 'person', isNamed: true, isForced: false, deleteBranch: false },
  force: { by: 'person', isNamed: true, isForced: true, deleteBranch: false },
  sweep: { by: 'sweep', pruneUnmergedBranches: false },
  landing: { by: 'landing' },
} as const satisfies Record<string, RemovalRequest>;

type Who = keyof typeof requests;

const decide = (facts: Partial<RemovalFacts>, request: RemovalRequest = requests.person) =>
  decideRemoval({ ...empty, ...facts }, request, defaultPolicy);

/** `delete` and `keep` mean that it may go, and what becomes of the branch. */
function inShort(decision: RemovalDecision): string {
  if (decision.kind === 'allowed') return decision.branch;
  return decision.kind === 'refused' ? decision.because : decision.kind;
}

describe('the removal table', () => {
  const rows: readonly (readonly [string, Partial<RemovalFacts>, Readonly<Record<Who, string>>])[] = [
    ['nothing left', {}, all('delete')],
    ['a checkout that Copse did not make', { isManaged: false }, all('not_managed')],
    ['a worktree that is gone already', { disposition: released }, all('already_released')],
    ['processes that cannot be listed', { inside: null }, all('processes_unknown')],
    ['a tmux that does not answer', { tmux: null }, all('processes_unknown')],
    [
      'a process whose folder cannot be read',
      { unreadable: [{ ...shell, at: '' }] },
      { person: 'question', force: 'delete', sweep: 'processes_unknown', landing: 'processes_unknown' },
    ],
    ["somebody's shell", { inside: [shell] }, all('foreign_process')],
    ["somebody's shell beside the agent", { inside: [agent, shell] }, all('foreign_process')],
    [
      "somebody's shell in an abandoned one",
      { inside: [shell], status: 'in_progress', lease: { kind: 'expired', forMs: abandonedWorktreeAgeMs } },
      all('foreign_process'),
    ],
    [
      'a session on another machine',
      { status: 'in_progress', lease: { kind: 'live', holder: 'elsewhere' } },
      all('leased_elsewhere'),
    ],
    [
      'a session at work here',
      { status: 'in_progress', lease: { kind: 'live', holder: 'here' }, inside: [agent], tmux: [terminal] },
      { person: 'agent_alive', force: 'end_first', sweep: 'task_open', landing: 'task_open' },
    ],
    [
      'a session here that has no process inside',
      { status: 'in_progress', lease: { kind: 'live', holder: 'here' } },
      { person: 'agent_alive', force: 'end_first', sweep: 'task_open', landing: 'task_open' },
    ],
    [
      'a server that a finished agent left running',
      { inside: [agent] },
      { person: 'agent_alive', force: 'end_first', sweep: 'end_first', landing: 'end_first' },
    ],
    [
      'a terminal that a finished agent left open',
      { tmux: [terminal] },
      { person: 'agent_alive', force: 'end_first', sweep: 'end_first', landing: 'end_first' },
    ],
    [
      'an expired lease whose agent still lives',
      {
        status: 'in_progress',
        lease: { kind: 'expired', forMs: abandonedWorktreeAgeMs },
        inside: [agent],
        branch: 'unmerged',
      },
      { person: 'agent_alive', force: 'end_first', sweep: 'agent_alive', landing: 'task_open' },
    ],
    [
      'a lease that expired long ago',
      {
        status: 'in_progress',
        lease: { kind: 'expired', forMs: abandonedWorktreeAgeMs },
        uncommitted: 2,
        branch: 'unmerged',
      },
      { person: 'question', force: 'keep', sweep: 'keep', landing: 'task_open' },
    ],
    [
      'a lease that expired just now',
      {
        status: 'in_progress',
        lease: { kind: 'expired', forMs: abandonedWorktreeAgeMs - 1 },
        branch: 'unmerged',
      },
      { person: 'keep', force: 'keep', sweep: 'task_open', landing: 'task_open' },
    ],
    ['a lock that nobody holds', { locks: [lock] }, all('delete')],
    ['a lock that git holds', { locks: [{ ...lock, isHeld: true }] }, all('git_lock')],
    [
      'a lock that is young',
      { locks: [lock, { ...lock, ageMs: staleLockAgeMs - 1 }] },
      { person: 'git_lock', force: 'delete', sweep: 'git_lock', landing: 'git_lock' },
    ],
    [
      'a lock of a clock that went back',
      { locks: [{ ...lock, ageMs: -5 }] },
      { ...all('git_lock'), force: 'delete' },
    ],
    [
      'a lock of unknown age',
      { locks: [{ ...lock, ageMs: Number.NaN }] },
      { ...all('git_lock'), force: 'delete' },
    ],
    [
      'an agent that holds a git lock',
      { inside: [agent], locks: [{ ...lock, isHeld: true }] },
      {
        person: 'agent_alive',
        force: 'end_first',
        sweep: 'end_first',
        landing: 'end_first',
      },
    ],
    [
      'an unfinished rebase',
      { operation: 'rebase' },
      { person: 'question', force: 'delete', sweep: 'delete', landing: 'work_left' },
    ],
    [
      'a workspace that is kept',
      { disposition: kept },
      { person: 'question', force: 'delete', sweep: 'kept', landing: 'kept' },
    ],
    [
      'uncommitted changes',
      { uncommitted: 3 },
      { person: 'question', force: 'delete', sweep: 'delete', landing: 'work_left' },
    ],
    [
      'changes that git cannot count',
      { uncommitted: null },
      { person: 'question', force: 'delete', sweep: 'work_left', landing: 'work_left' },
    ],
    [
      'commits that git cannot count',
      { unmerged: null },
      { person: 'question', force: 'delete', sweep: 'work_left', landing: 'work_left' },
    ],
    [
      'unmerged commits',
      { unmerged: 1, branch: 'unmerged' },
      { person: 'question', force: 'keep', sweep: 'keep', landing: 'work_left' },
    ],
    [
      'a branch that is not merged though nothing is counted',
      { branch: 'unmerged' },
      { person: 'keep', force: 'keep', sweep: 'keep', landing: 'work_left' },
    ],
    ['a branch that is gone', { branch: 'gone' }, all('keep')],
    [
      'a task in the merge queue',
      { status: 'landing', branch: 'unmerged' },
      { person: 'question', force: 'keep', sweep: 'task_open', landing: 'task_open' },
    ],
    ['an orphan', { status: null, disposition: null }, all('delete')],
    [
      'a folder without a record that has changes',
      { status: null, disposition: null, uncommitted: 1 },
      { person: 'question', force: 'delete', sweep: 'work_left', landing: 'work_left' },
    ],
    [
      'a folder without a record that has commits of its own',
      { status: null, disposition: null, unmerged: 1, branch: 'unmerged' },
      { person: 'question', force: 'keep', sweep: 'work_left', landing: 'work_left' },
    ],
    [
      'a folder without a record that an agent is in',
      { status: null, disposition: null, inside: [agent] },
      { person: 'agent_alive', force: 'end_first', sweep: 'work_left', landing: 'work_left' },
    ],
  ];

  const cells = rows.flatMap(([what, facts, answers]) =>
    (Object.keys(answers) as Who[]).map((who) => ({ what, facts, who, answer: answers[who] })),
  );

  it.each(cells)('$what, asked by $who: $answer', ({ facts, who, answer }) => {
    expect(inShort(decide(facts, requests[who]))).toBe(answer);
  });

  it.each(taskStatuses.filter((status) => status !== 'done' && status !== 'cancelled'))(
    'keeps the worktree of a task that is %s until a person asks',
    (status) => {
      const facts = { status, branch: 'unmerged' } as const;
      expect(inShort(decide(facts, requests.sweep))).toBe('task_open');
      expect(inShort(decide(facts, requests.landing))).toBe('task_open');
      expect(inShort(decide(facts, requests.force))).toBe('keep');
    },
  );
});

describe('a removal', () => {
  it('without a name neither removes a kept worktree nor ends an agent, even by force', () => {
    const everything = { ...requests.force, isNamed: false };
    expect(inShort(decide({ disposition: kept }, everything))).toBe('kept');
    expect(inShort(decide({ inside: [agent] }, everything))).toBe('agent_alive');
  });

  it('says that an agent may be starting while a session holds the task without a process', () => {
    const lease = { kind: 'live', holder: 'here' } as const;
    expect(decide({ status: 'in_progress', lease })).toMatchObject({
      reason: expect.stringMatching(/^An agent of cp-\w+ is starting or running\.$/) as string,
    });
  });

  it('deletes an unmerged branch only when it was asked for by name or pruning is configured', () => {
    const facts = { unmerged: 2, branch: 'unmerged' } as const;
    const asked = { ...requests.force, deleteBranch: true };
    expect(decide(facts, asked)).toEqual({ kind: 'allowed', branch: 'delete' });
    expect(decide(facts, { ...asked, isNamed: false })).toEqual({ kind: 'allowed', branch: 'keep' });
    expect(decide(facts, { by: 'sweep', pruneUnmergedBranches: true })).toEqual({
      kind: 'allowed',
      branch: 'delete',
    });
  });

  it('names the processes inside, their folder, and the next command', () => {
    expect(decide({ inside: [shell, { ...shell, pid: 5 }] }, requests.force)).toEqual({
      kind: 'refused',
      because: 'foreign_process',
      reason: 'Kept the worktree /work/cp-0001: bash (pid 4242) and 1 more process are in it.',
      next: ['copse cleanup cp-0001 # after you leave the folder or end the process'],
    });
  });

  it('names what would be rescued before it asks', () => {
    expect(decide({ uncommitted: 1, unmerged: 2, operation: 'merge', branch: 'unmerged' })).toEqual({
      kind: 'question',
      question:
        'Remove the worktree of cp-0001? It has 1 uncommitted change, 2 unmerged commits and an unfinished merge. A removal keeps commits on the branch, and uncommitted files as a rescue.',
    });
  });

  it('says in a whole sentence why a worktree was kept', () => {
    const of = (why: 'conflict' | 'debugging', detail: string) =>
      decide({ disposition: { is: 'kept', why, detail, since: timestamp(1) } }, requests.sweep);
    expect(of('conflict', 'The branch of cp-0001 conflicts with main:\n  a.txt')).toMatchObject({
      reason: 'The worktree of cp-0001 is kept. The branch of cp-0001 conflicts with main.',
    });
    expect(of('debugging', '')).toMatchObject({
      reason: 'The worktree of cp-0001 is kept. Its agent did not finish.',
    });
  });

  it('names what has to end first: processes, terminals and the claim', () => {
    const facts = {
      status: 'in_progress',
      lease: { kind: 'live', holder: 'here' },
      inside: [agent],
      tmux: [terminal],
    } as const;
    expect(decide(facts, requests.force)).toEqual({
      kind: 'end_first',
      ends: { processes: [agent], tmux: ['copse-cp-0001'], lease: true },
    });
  });

  // promise: terminal-safe
  it('does not let the name of a process write to a terminal', () => {
    const decision = decide({ inside: [{ ...shell, name: '\u001b[2Jbash', at: '/work/\u0007' }] });
    expect(JSON.stringify(decision)).not.toMatch(/\\u001b|\\u0007/);
    expect(decision).toMatchObject({ reason: expect.stringContaining(String.raw`\x1b[2Jbash`) });
  });
});

describe('whatever the facts are', () => {
  const anyProcess = fc.record({
    pid: fc.nat(),
    startTime: fc.nat(),
    name: fc.string(),
    at: fc.string(),
    isOurs: fc.boolean(),
  });
  const anyCount = fc.option(fc.nat(3));
  const anyFacts: fc.Arbitrary<RemovalFacts> = fc.record({
    task: fc.constant(empty.task),
    path: fc.string(),
    isManaged: fc.boolean(),
    inside: fc.option(fc.array(anyProcess, { maxLength: 3 })),
    unreadable: fc.array(anyProcess, { maxLength: 1 }),
    tmux: fc.option(fc.array(fc.constant(terminal), { maxLength: 1 })),
    lease: fc.oneof(
      fc.constant({ kind: 'none' } as const),
      fc.record({
        kind: fc.constant('live' as const),
        holder: fc.constantFrom('here' as const, 'elsewhere' as const),
      }),
      fc.record({ kind: fc.constant('expired' as const), forMs: fc.nat(2 * abandonedWorktreeAgeMs) }),
    ),
    locks: fc.array(
      fc.record({ file: fc.string(), ageMs: fc.integer({ max: 2 * staleLockAgeMs }), isHeld: fc.boolean() }),
      { maxLength: 2 },
    ),
    operation: fc.option(fc.string()),
    disposition: fc.option(
      fc.oneof(
        fc.constant<Disposition>({ is: 'in_use' }),
        fc.record({
          is: fc.constant('kept' as const),
          why: fc.constantFrom(...keepReasons),
          detail: fc.string(),
          since: fc.constant(timestamp(1)),
        }),
        fc.constant(released),
      ),
    ),
    status: fc.option(fc.constantFrom(...taskStatuses)),
    uncommitted: anyCount,
    unmerged: anyCount,
    branch: fc.constantFrom('merged' as const, 'unmerged' as const, 'gone' as const),
  });
  const anyRequest: fc.Arbitrary<RemovalRequest> = fc.oneof(
    fc.record({
      by: fc.constant('person' as const),
      isNamed: fc.boolean(),
      isForced: fc.boolean(),
      deleteBranch: fc.boolean(),
    }),
    fc.record({ by: fc.constant('sweep' as const), pruneUnmergedBranches: fc.boolean() }),
    fc.constant(requests.landing),
  );
  /** Mostly facts that are close to harmless, so that every rule is met alone as well. */
  const nearlyEmpty = fc
    .tuple(anyFacts, fc.subarray(Object.keys(empty) as (keyof RemovalFacts)[], { maxLength: 4 }))
    .map(([facts, some]): RemovalFacts =>
      Object.assign({}, empty, Object.fromEntries(some.map((key) => [key, facts[key]]))),
    );

  function forAll(check: (facts: RemovalFacts, request: RemovalRequest, decision: RemovalDecision) => void) {
    fc.assert(
      fc.property(
        fc.oneof({ weight: 1, arbitrary: anyFacts }, { weight: 4, arbitrary: nearlyEmpty }),
        anyRequest,
        (facts, request) => check(facts, request, decideRemoval(facts, request, defaultPolicy)),
      ),
      { numRuns: 5_000 },
    );
  }

  // promise: in-use-kept
  it('a worktree with a live process, an open terminal or an unexpired lease is not removed', () => {
    let removed = 0;
    forAll((facts, _, decision) => {
      if (decision.kind !== 'allowed') return;
      removed += 1;
      expect(facts).toMatchObject({ isManaged: true, inside: [], tmux: [] });
      expect(facts.lease.kind).not.toBe('live');
    });
    expect(removed).toBeGreaterThan(10);
  });

  // promise: in-use-kept
  it('only the agent’s own processes are ended, and no lease held elsewhere', () => {
    let ended = 0;
    forAll((facts, _, decision) => {
      if (decision.kind !== 'end_first') return;
      ended += 1;
      expect(facts.inside?.every(({ isOurs }) => isOurs)).toBe(true);
      expect(decision.ends.processes).toEqual(facts.inside);
      expect(facts.lease).not.toMatchObject({ holder: 'elsewhere' });
    });
    expect(ended).toBeGreaterThan(10);
  });

  // promise: unknown-kept
  it('unknown facts keep the worktree unless a person asks', () => {
    forAll((facts, request, decision) => {
      if (request.by === 'person' || decision.kind !== 'allowed') return;
      expect([facts.inside, facts.tmux, facts.uncommitted, facts.unmerged]).not.toContain(null);
      expect(facts.unreadable).toEqual([]);
      expect(facts.disposition?.is).not.toBe('kept');
    });
  });

  it('only a person who does not force is asked', () => {
    let asked = 0;
    forAll((_, request, decision) => {
      if (decision.kind !== 'question') return;
      asked += 1;
      expect(request).toMatchObject({ by: 'person', isForced: false });
    });
    expect(asked).toBeGreaterThan(10);
  });

  it('a refusal has a sentence and something to do next', () => {
    forAll((_, __, decision) => {
      if (decision.kind !== 'refused') return;
      expect(decision.reason).toMatch(/\.$/);
      expect(decision.next[0]).not.toBe('');
    });
  });
});

function all(answer: string): Readonly<Record<Who, string>> {
  return { person: answer, force: answer, sweep: answer, landing: answer };
}
