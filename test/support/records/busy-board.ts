/**
 * A repository in the middle of a working day, of any size: agents at work on two machines, a queue that is paused, a plan with
 * dependencies, schedules, and branches in git of which some conflict. Without a process: all of it is on the board and in git.
 */

import path from 'node:path';

import { nodeHere, requireRepository } from '../../../packages/copse/src/compose/open.ts';
import { openBoard } from '../../../packages/copse/src/board/open.ts';
import type { BoardEvent } from '../../../packages/copse/src/board/rules/event.ts';
import {
  type ArtifactId,
  type BranchName,
  type LedgerEntryId,
  type NodeId,
  type PlanId,
  type SessionId,
  type TaskId,
  type Timestamp,
  brand,
  timestamp,
} from '../../../packages/copse/src/kernel/ids.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import type { NodeFacts } from '../../../packages/copse/src/machines/rules/node.ts';
import { commitAsAgent, git, newRepository, plainEnv } from '../cli.ts';
import { runGit } from '../git/git-shell.ts';
import { manyStories } from './many-stories.ts';
import { type Story, ends, eventsOf, oneOfEach } from './stories.ts';

export interface BusyBoard {
  readonly tasks: number;
  /** Besides the one of `oneOfEach`. */
  readonly running?: number;
  /** Replaces every text of people and agents; `key` says what it is. */
  readonly reworded?: (key: string, text: string) => string;
  /** What branches change. */
  readonly file?: string;
  readonly line?: string;
}

const MINUTE = 60_000;
const plan = brand<PlanId>('pl-login');

const TITLES = [
  'Cache the list of repositories between requests',
  'Retry uploads that fail with a timeout',
  'Move the settings page to the new form components and remove the old ones',
  'Explain rate limits in the error message',
  'Sort search results by relevance',
  'Stop the worker when the last tab is closed',
  'Check signatures of webhooks in constant time',
  'Measure the time to first byte',
  'Upgrade the parser',
  'Delete sessions after thirty days',
  'Show the diff of a renamed file',
  'Let people choose their time zone',
  'Warn before a migration that locks a large table',
  'Make the export resumable',
];

/** Queued ones, running ones, then as many others as asked for. */
function storiesOf({ tasks, running = 2 }: BusyBoard): readonly Story[] {
  const inPlan = (...after: readonly string[]) => ({
    plan,
    dependsOn: after.map((id) => brand<TaskId>(`cp-${id}`)),
  });
  const planned: Readonly<Record<string, Partial<Story>>> = {
    aaaa: { definition: inPlan() },
    eeee: {
      definition: {
        ...inPlan(),
        priority: 4,
        body: 'See RFC 6750.',
        accept: ['npm test'],
        areas: ['src/**'],
      },
    },
    hhhh: { definition: inPlan('aaaa') },
    jjjj: { definition: inPlan('hhhh', 'gggg') },
    kkkk: { definition: inPlan() },
  };
  const named = (index: number): string => TITLES[index % TITLES.length] ?? '';
  const queued = ['qaaa', 'qbbb', 'qccc', 'qddd'].map((id, index): Story => ({
    id,
    title: named(index),
    minutes: 12 - index,
    end: ends.queued,
  }));
  const agents = ['claude', 'codex', 'gemini'];
  const atWork = Array.from({ length: running }, (_, index): Story => ({
    id: `r${index.toString(36).padStart(3, 'a')}`,
    title: named(index + 4),
    minutes: 3 * index + 1,
    agent: agents[index % 3] ?? '',
    end: ends.running,
  }));
  const first = [...oneOfEach.map((one) => ({ ...one, ...planned[one.id] })), ...queued, ...atWork];
  const landed = (index: number): Story => ({
    id: `d${index.toString(36).padStart(3, 'a')}`,
    title: named(index + 7),
    minutes: 200 + 700 * index,
    agent: agents[index % 3] ?? '',
    end: ends.landed,
  });
  const others = manyStories(tasks).slice(oneOfEach.length);
  return [...first, ...[0, 1, 2].map(landed), ...others].slice(0, tasks);
}

export async function busyRepository(area: string, board: BusyBoard): Promise<string> {
  const repository = newRepository(area);
  const heads = board.tasks === 0 ? new Map<string, string>() : branches(repository, board);
  const here = nodeHere(requireRepository({ cwd: repository, env: plainEnv }));
  const address = { engine: 'sqlite', file: path.join(repository, '.copse', 'board.db') } as const;
  const opened = await openBoard(address, defaultPolicy, { id: 'unused', at: 0 });
  const now = Date.now();
  const stories = storiesOf(board);
  if (stories.length > 0) {
    const events = [
      ...surroundings(timestamp(now - 60 * MINUTE), here),
      ...stories.flatMap((story) => eventsOf(story, now, here)),
      ...notes(timestamp(now - MINUTE), here),
    ];
    const told = events.map((event) => reworded(withHead(event, heads), board));
    await opened.transact((change) => change.record({ kind: 'person', name: null }, told));
    await opened.seeNode(here);
  }
  await opened.close();
  return repository;
}

/** Two that conflict, one that changes another line of the same file, one apart, and one in review. */
function branches(
  repository: string,
  { file = 'src/load.ts', line = 'export const limit' }: BusyBoard,
): ReadonlyMap<string, string> {
  const lines = Array.from({ length: 20 }, (_, index) => `// ${index}`);
  const content = (changed: number, text: string) => lines.with(changed, text).join('\n');
  const config = {
    agents: {
      claude: {
        command: ['true'],
        schedules: { nightly: { type: 'cron', cron: '0 6 * * *', prompt: 'Tidy' } },
      },
    },
    landing: { checks: { test: { command: 'true' } } },
  };
  const written = [
    commitOf('main', 'HEAD', { 'copse.yml': JSON.stringify(config, null, 2), [file]: lines.join('\n') }),
    commitOf('copse/cp-qaaa', 'main', { [file]: content(3, `${line} = 1;`) }),
    commitOf('copse/cp-qbbb', 'main', { [file]: content(3, `${line} = 2;`) }),
    commitOf('copse/cp-qccc', 'main', { [file]: content(16, `${line} = 3;`) }),
    commitOf('copse/cp-qddd', 'main', { 'docs/limits.md': '# Limits\n' }),
    commitOf('copse/cp-eeee', 'main', { [file]: content(3, `${line} = 4;`), 'docs/b.md': `${line}\n` }),
  ];
  const input = written.join('');
  const { status, stderr } = runGit({ cwd: repository, argv: ['fast-import', '--quiet'], input });
  if (status !== 0) throw new Error(stderr);
  git(repository, 'reset', '--quiet', '--hard', 'main');
  commitAsAgent(repository);
  const listed = git(
    repository,
    'for-each-ref',
    '--format=%(refname:lstrip=3) %(objectname)',
    'refs/heads/copse',
  );
  return new Map(listed.split('\n').map((one) => one.split(' ') as [string, string]));
}

function commitOf(branch: string, from: string, files: Readonly<Record<string, string>>): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const start = from === 'HEAD' ? 'refs/heads/main^0' : `refs/heads/${from}`;
  const changes = Object.entries(files).map(
    ([name, text]) => `M 100644 inline ${JSON.stringify(name)}\n${data(text)}`,
  );
  return `commit refs/heads/${branch}\ncommitter A <a@example.invalid> 1700000000 +0000\n${data('feat: a change')}from ${start}\n${changes.join('')}\n`;
}

const facts: NodeFacts = {
  version: '0.9.0',
  protocol: { oldest: 1, newest: 1 },
  labels: ['gpu'],
  capabilities: {
    programs: ['claude', 'codex'],
    agents: [
      { name: 'claude', capabilities: ['web'] },
      { name: 'codex', capabilities: [] },
    ],
    platform: ['linux', 'x64'],
    cpus: 16,
    memoryBytes: 64 * 2 ** 30,
    isContainer: false,
  },
  slots: 24,
};

function surroundings(at: Timestamp, here: NodeId): readonly BoardEvent[] {
  const away = brand<NodeId>('n-elsewhere');
  return [
    { type: 'node.joined', id: here, at, name: 'laptop', facts },
    { type: 'node.joined', id: away, at, name: 'build-box', facts, clockOffsetMs: 1_300 },
    { type: 'node.drained', id: away, at, withinMs: MINUTE, by: 'person' },
    { type: 'plan.added', id: plan, at, title: 'Log in with a key', body: PLAN },
    { type: 'queue.paused', id: brand<BranchName>('main'), at, what: 'land', reason: 'release day' },
  ];
}

const PLAN = `# Why

People forget passwords. **A key is on their machine already.**

- [x] choose the library
- [ ] migrate \`users\`

\`\`\`sh
npm test -- login
\`\`\`
`;

function notes(at: Timestamp, node: NodeId): readonly BoardEvent[] {
  const task = brand<TaskId>('cp-eeee');
  const session = brand<SessionId>('se-eeee');
  return [
    {
      type: 'ledger.added',
      id: brand<LedgerEntryId>('le-1'),
      at,
      task,
      session,
      kind: 'decision',
      text: 'Tokens without an owner are refused, not repaired.',
    },
    {
      type: 'artifact.added',
      id: brand<ArtifactId>('ar-1'),
      at,
      task,
      kind: 'file',
      address: 'sha256:00',
      title: 'Coverage',
      content: { name: 'coverage.txt', bytes: 120, sha256: '00', node },
      session,
    },
  ];
}

/** A review and a landing are of a commit that there is. */
function withHead(event: BoardEvent, heads: ReadonlyMap<string, string>): BoardEvent {
  if (!('head' in event)) return event;
  const head = heads.get('task' in event && event.task ? event.task : event.id);
  return head === undefined ? event : ({ ...event, head } as BoardEvent);
}

/** Texts of people and agents, wherever they are in an event. */
const TEXTS = new Set([
  'title',
  'body',
  'agent',
  'name',
  'reason',
  'message',
  'what',
  'summary',
  'text',
  'accept',
  'areas',
]);

/** What of a queue is paused and how an attempt ended are words of ours. */
function isText(key: string, event: BoardEvent): boolean {
  const isOurs = event.type === 'attempt.ended' || (event.type === 'queue.paused' && key === 'what');
  return TEXTS.has(key) && !isOurs;
}

function reworded(event: BoardEvent, { reworded: reword }: BusyBoard): BoardEvent {
  if (reword === undefined) return event;
  const within = (key: string, value: unknown): unknown => {
    if (typeof value === 'string') return value !== '' && isText(key, event) ? reword(key, value) : value;
    if (Array.isArray(value)) return value.map((one) => within(key, one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, within(name, one)]));
  };
  return within('', event) as BoardEvent;
}
