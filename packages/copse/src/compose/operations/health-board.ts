/** What `copse doctor` says about the board, its server, its nodes and its queues. */

import type { Context } from '../../board/context.ts';
import type { Board, ConnectionFacts } from '../../board/port.ts';
import { stalledText } from '../../explain/rules/queue.ts';
import { capitalised } from '../../explain/rules/status.ts';
import { counted } from '../../kernel/text.ts';
import { time } from '../../kernel/time.ts';
import { Unavailable } from '../../kernel/unavailable.ts';
import { isHeard, offsetText, silenceText } from '../../machines/rules/node.ts';
import type { HealthCheck } from '../../operations/access.ts';
import type { MergeQueue } from '../../queue/rules/merge-queue.ts';
import type { WaitReason } from '../../queue/rules/wait-reason.ts';
import { delayCauses } from '../../tasks/rules/task.ts';
import { stoppedAttempts } from '../board/who-runs.ts';
import { type Surroundings, nodeHere, openContext, requireRepository } from '../open.ts';
import { fine, missing, problem } from './health-check.ts';

/** Opening the board also reads copse.yml; an empty transaction shows that the board is writable. */
export async function checkBoard(from: Surroundings): Promise<readonly HealthCheck[]> {
  try {
    const context = await openContext(from);
    try {
      await context.board.transact(() => Promise.resolve());
      const damage = await context.board.findDamage();
      if (damage.length > 0) {
        const found = `${context.board.location} is damaged: ${damage.join('; ')}`;
        return [problem('board', found, 'copse board restore # keeps the damaged file')];
      }
      const events = await context.board.lastEvent();
      const found = `${context.board.engine} at ${context.board.location}, ${counted(events, 'event')}`;
      const queues = await context.board.list('queue');
      return [
        fine('board', found),
        ...(await nodes(from, context)),
        ...connection(await context.board.connection()),
        ...(await server(context.board)),
        ...queues.flatMap(queue),
        ...(await stopped(from, context.board)),
        ...(await unopened(context.board)),
      ];
    } finally {
      await context.board.close();
    }
  } catch (error) {
    if (error instanceof Unavailable) return [problem('board', error.message, error.remedy)];
    throw error;
  }
}

function connection(facts: ConnectionFacts | null): readonly HealthCheck[] {
  if (facts === null) return [];
  const { version, latencyMs, tls, connections } = facts;
  const answers = `answers in ${latencyMs < 10 ? latencyMs.toFixed(1) : Math.round(latencyMs)} ms`;
  const used = `${connections.used} of ${connections.most} connections used`;
  return [fine('connection', [version, answers, tls ?? 'no TLS', used].join(', '))];
}

/** Said only when several machines share the board. */
async function nodes(from: Surroundings, context: Context): Promise<readonly HealthCheck[]> {
  const { loadNodes } = await import('../../machines/act/nodes.ts');
  const known = await loadNodes(context);
  if (known.length < 2) return [];
  const here = nodeHere(requireRepository(from));
  const { silentMs: most } = context.policy.nodes;
  const names = known.map(({ node, silentMs }) => {
    const state = [
      ...(node.id === here ? ['this machine'] : []),
      ...(node.drain === null ? [] : ['draining']),
      ...(isHeard(silentMs, most) ? [] : [silenceText(silentMs)]),
      ...(Math.abs(node.clockOffsetMs ?? 0) < CLOCK_MS ? [] : [offsetText(node.clockOffsetMs ?? 0)]),
    ];
    return state.length === 0 ? node.name : `${node.name} (${state.join(', ')})`;
  });
  return [fine('nodes', names.join(', '))];
}

/** A clock that is further off makes times on the board hard to read. */
const CLOCK_MS = 5_000;

/** Whether a failover can lose what was confirmed. That it may is a choice, no fault. */
async function server(board: Board): Promise<readonly HealthCheck[]> {
  const facts = await board.server();
  if (facts === null) return [];
  const { isSynchronous, standbys, identity, term } = facts;
  const terms = term.term > 1 ? `; term ${term.term} since ${time(term.at)}` : '';
  if (isSynchronous)
    return [
      fine('server', `waits for a synchronous standby: a failover loses nothing that was confirmed${terms}`),
    ];
  const has = standbys === 0 ? 'no standby' : `${counted(standbys, 'standby')}, none synchronous`;
  const noticed = identity === null ? ', and Copse cannot notice it' : '; Copse then notices it';
  const found = `${has}: a failover or a restored backup may lose the last changes${noticed}${terms}`;
  return [missing('server', found, 'To wait for a standby, set synchronous_standby_names on the server.')];
}

async function stopped(from: Surroundings, board: Board): Promise<readonly HealthCheck[]> {
  const { home } = requireRepository(from);
  const found = stoppedAttempts(home).map(async ({ attempt, because }) => {
    const task = (await board.get('attempt', attempt))?.task ?? attempt;
    return problem('agents', `${task}: ${delayCauses[because]}`, 'copse orchestrate # to go on with it');
  });
  return Promise.all(found);
}

/** Finished tasks that could not be pushed, or whose pull request could not be opened. */
async function unopened(board: Board): Promise<readonly HealthCheck[]> {
  const tasks = await board.tasks({ statuses: ['in_review'], order: 'urgent' });
  return tasks.flatMap(({ id, state }) => {
    const pullRequest = state.status === 'in_review' ? state.pullRequest : null;
    const isUnopened = pullRequest?.is === 'wanted' || pullRequest?.is === 'given_up';
    if (!isUnopened || pullRequest.note === null) return [];
    return [problem('review', `${id}: ${pullRequest.note}`, `copse review ${id}`)];
  });
}

/** What a person's own act explains is no fault. */
function queue({ id, stalled }: MergeQueue): readonly HealthCheck[] {
  if (stalled === null || BY_PEOPLE.has(stalled.reason.kind)) return [];
  const found = capitalised(stalledText({ id, reason: stalled.reason }, ' stalled'));
  return [problem('queue', found, 'copse queue # to see why')];
}

const BY_PEOPLE: ReadonlySet<WaitReason['kind']> = new Set(['paused', 'not_accepted', 'checkout_changed']);
