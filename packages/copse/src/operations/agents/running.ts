import { openQuestionOf } from '../../agents/act/answer.ts';
import { LeaseAges, observeRunning } from '../../agents/act/observe.ts';
import { questionView } from '../../explain/question.ts';
import { type Lack, lackOfAgents } from '../../explain/rules/waiting.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { time } from '../../kernel/time.ts';
import { isNothing } from '../../kernel/usage.ts';
import type { LookContext } from '../../queue/context.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';
import type { Access } from '../access.ts';

export interface AgentsNow {
  readonly running: readonly RunningAgent[];
  readonly limited: readonly LimitedTask[];
  /** Those that this machine can start. */
  readonly agents: readonly ConfiguredAgent[];
  readonly unusable: readonly { readonly name: string; readonly reason: string }[];
  /** Why there is none; null when there is one. */
  readonly lack: Lack | null;
  /** Names of the agents that the running orchestrator was started with, if this machine has none of its own. */
  readonly started: readonly string[];
  readonly at: Timestamp;
}

export type RunningAgent = Awaited<ReturnType<typeof loadRunning>>[number];
export type LimitedTask = ReturnType<typeof limitedAt>[number];
export type ConfiguredAgent = ReturnType<typeof agentsOf>[number];

export async function act(access: Access): Promise<AgentsNow> {
  return access.look(async (context) => {
    const at = context.clock.now();
    const running = await loadRunning(context);
    const delayed = await context.board.tasks({ statuses: ['ready'], delayedAt: at, order: 'urgent' });
    const { unusable = [] } = context;
    const lack = lackOfAgents(context);
    const started = lack !== null && (await access.here.isOrchestrated()) ? await startedHere(context) : [];
    const agents = agentsOf(context);
    return { running, limited: limitedAt(delayed, at), agents, unusable, lack, started, at };
  });
}

export function view({ running, limited, agents, unusable }: AgentsNow) {
  return {
    running: running.map((one) => ({
      ...one,
      since: time(one.since),
      question: one.question ? questionView(one.question) : null,
    })),
    limited: limited.map(({ task, until }) => ({ task: task.id, until: time(until) })),
    agents,
    unusable,
  };
}

/** Such as the agent of its `--command`. */
async function startedHere({ board, node }: LookContext): Promise<readonly string[]> {
  return ((await board.get('node', node))?.facts?.capabilities.agents ?? []).map(({ name }) => name);
}

async function loadRunning(context: LookContext) {
  const { board, node } = context;
  const rows = [];
  for (const { task, attempt, held } of await observeRunning(context, new LeaseAges())) {
    if (task.state.status !== 'in_progress') continue;
    const { claim, since } = task.state;
    const session = await board.get('session', claim.session);
    const live = session?.state.life === 'live' ? session.state : null;
    rows.push({
      task: task.id,
      title: task.title,
      agent: claim.agent,
      node: claim.node,
      isHere: claim.node === node,
      since,
      phase: live?.phase ?? null,
      attention: live?.attention ?? null,
      question: await openQuestionOf(board, task),
      usage: session === undefined || isNothing(session.usage) ? null : session.usage,
      runner: attempt === undefined ? ('by hand' as const) : held.runner,
      pid: attempt?.process?.pid ?? null,
      crashes: task.retries,
    });
  }
  return rows;
}

/** Tasks whose agent hit a rate limit that has not expired. */
function limitedAt(ready: readonly TaskSummary[], now: Timestamp) {
  return ready.flatMap((task) => {
    const delay = task.state.status === 'ready' ? task.state.delay : null;
    return delay?.because === 'rate_limit' && delay.until > now ? [{ task, until: delay.until }] : [];
  });
}

function agentsOf({ agents }: LookContext) {
  return agents.map(({ name, runtime, command, max, capabilities, sandbox, terminal }) => ({
    name,
    runtime,
    command: typeof command === 'string' ? command : (command ?? []).join(' '),
    max: max ?? null,
    capabilities,
    sandbox,
    terminal,
  }));
}
