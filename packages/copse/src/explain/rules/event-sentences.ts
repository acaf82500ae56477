/**
 * What an event says about its task, for `copse events`: "codex started", "landed as 1f2e3d4c5b". Every event has a clause;
 * the lines of `copse orchestrate` (events.ts) leave out those that only programs use.
 */

import { personName } from '../../agents/rules/session/take-over.ts';
import type { BoardEvent, EventType } from '../../board/rules/event.ts';
import { named } from '../../kernel/text.ts';
import { spanText } from '../../kernel/time.ts';
import { summarise } from '../../review/rules/pull-request.ts';
import { usageText } from './amounts.ts';
import { stalledText, verdictWord, waitText } from './queue.ts';
import { oneLine, waitingClause } from './reason.ts';
import {
  attentionText,
  delayText,
  doneText,
  failedText,
  firstLine,
  resolvedByText,
  stuckClause,
} from './status.ts';
import { passCauses } from '../../intake/rules/schedule.ts';

type EventOf<T extends EventType> = Extract<BoardEvent, { readonly type: T }>;

/** `command`: of the check that an event is about. */
export function eventClause(event: BoardEvent, command?: string): string {
  if (event.type === 'check.ended' && command !== undefined) return endedCheckText(event, checkName(command));
  return (clauses[event.type] as (event: BoardEvent) => string)(event);
}

/** Events that tell a person nothing: `copse events --raw` and `--json` have them. */
export function isForPrograms({ type }: BoardEvent): boolean {
  return type === 'queue.decided';
}

const words = (text: string) => text.replaceAll('_', ' ');
const because = (reason: string | null) => (reason === null || reason === '' ? '' : `: ${oneLine(reason)}`);

const clauses: { readonly [T in EventType]: (event: EventOf<T>) => string } = {
  'task.created': ({ status, definition }) =>
    `added, ${status === 'ready' ? 'ready to start' : `waiting for ${named([...definition.dependsOn])}`}`,
  'task.edited': ({ changes }) => `changed: ${Object.keys(changes).map(plainName).join(', ')}`,
  'task.dependencies_changed': ({ dependsOn }) =>
    dependsOn.length === 0 ? 'waits for no other task' : `waits for ${named([...dependsOn])}`,
  'task.promoted': () => 'ready: its dependencies are done',
  'task.claimed': ({ claim }) =>
    claim.isByHand ? `${claim.agent} took it by hand` : `${claim.agent} started`,
  'task.resumed': ({ claim }) => `${claim.agent} continues`,
  'task.restarted': ({ grant, automatic }) => {
    if (automatic !== undefined) return `restarted automatically, ${automatic.number} of ${automatic.of}`;
    return grant === null ? 'ready to start again' : `${grant.claim.agent} starts again`;
  },
  'task.handed_back': (event) => `handed back to its agent: ${attentionText(event)}`,
  'task.sent_to_review': ({ pullRequest }) =>
    pullRequest === null ? 'finished, waiting for your review' : oneLine(summarise(pullRequest)),
  'task.pull_request_changed': ({ pullRequest }) => oneLine(summarise(pullRequest)),
  'task.queued': () => 'finished, queued to land',
  'task.done': doneText,
  'task.stuck': (event) => `${stuckClause(event)}: ${oneLine(event.reason)}`,
  'task.crashed': ({ reason, delay, retries, at }) =>
    delay === null
      ? `failed ${failedText(retries, firstLine(reason))}`
      : `crashed: ${firstLine(reason)}; retry in ${spanText(delay.until - at)}`,
  'task.failed': ({ reason }) => `failed: ${firstLine(reason)}`,
  'task.parked': (event) => `postponed, because ${delayText(event)}`,
  'task.needs_attention': (event) =>
    event.resolver === undefined ? `needs you: ${attentionText(event)}` : resolvedByText(event.resolver),
  'task.paused': () => 'paused',
  'task.moved': ({ to }) =>
    to === null ? 'any node may take it again' : `moved: node ${to.name} takes it next`,
  'task.reset': () => 'a person begins it anew: its earlier work is put aside on every machine',
  'task.cancelled': ({ reason }) => `cancelled${because(reason)}`,
  'task.token_raised': () => 'its next claim skips tokens: the board has another server',
  'task.deleted': () => 'deleted',
  'plan.added': ({ title }) => `plan added: ${title}`,
  'plan.edited': ({ changes }) => `plan changed: ${Object.keys(changes).join(', ')}`,
  'session.opened': ({ agent, follows }) =>
    `${agent} begins ${follows === null ? 'a conversation' : 'a new conversation'}`,
  'session.advanced': ({ phase }) => `its agent is in phase ${words(phase)}`,
  'session.attention': ({ attention, message }) =>
    attention === null ? 'its agent no longer waits' : `its agent ${waitingClause(attention, message)}`,
  'session.conversation_known': () => 'its agent named its conversation',
  'session.used': ({ usage }) => `its agent used ${usageText(usage)}`,
  'session.asked': ({ question }) =>
    `its agent asks to use ${oneLine(question.tool)}: ${oneLine(question.what)}`,
  'session.answered': ({ answer }) => `${answer.isAllowed ? 'allowed' : 'denied'}${because(answer.message)}`,
  'session.taken_over': ({ person }) => `${personName(person)} took over its terminal`,
  'session.given_back': ({ because: cause }) =>
    cause === 'asked'
      ? 'its terminal was given back to its agent'
      : 'its terminal was given back to its agent: the page was closed',
  'session.misreported': ({ problem }) => `its agent's report cannot be read: ${oneLine(problem)}`,
  'session.completed': ({ summary }) => `its agent finished${because(summary ?? null)}`,
  'session.stuck': ({ reason }) => `its agent stopped: ${oneLine(reason)}`,
  'session.interrupted': ({ because: cause }) =>
    cause === 'crashed' ? 'its agent crashed' : `its agent was interrupted: ${words(cause)}`,
  'session.cancelled': () => "its agent's conversation was cancelled",
  'session.reopened': ({ phase }) => `its agent continues, in phase ${words(phase)}`,
  'attempt.started': () => 'an attempt began',
  'attempt.process_known': ({ pid }) => `its runner is process ${pid}`,
  'attempt.snapshotted': ({ commit }) => `its work is on the remote as ${commit.slice(0, 10)}`,
  'attempt.travel_problem': ({ problem }) =>
    problem === null ? 'its work reaches the remote again' : oneLine(problem),
  'attempt.hook_started': ({ hook }) => `hook ${hook} began`,
  'attempt.hook_ended': ({ hook, problem }) => (problem === null ? `hook ${hook} ended` : oneLine(problem)),
  // An agent that stopped with an exit code may have finished nothing.
  'attempt.ended': ({ reason, exitCode }) =>
    `the attempt ended${reason === 'completed' && exitCode ? '' : `: ${words(reason)}`}${exitCode ? `, exit code ${exitCode}` : ''}`,
  'workspace.prepared': ({ worktree }) =>
    worktree === null ? 'it needs no worktree' : `worktree made on ${worktree.branch}`,
  'workspace.kept': ({ detail }) => `worktree kept: ${firstLine(detail)}`,
  'workspace.used_again': () => 'worktree in use again',
  'workspace.hooks_wrote': ({ paths }) => `your hooks wrote ${filesText(paths)}`,
  'workspace.escaped': ({ paths, more }) => `the main checkout changed: ${filesText(paths, more)}`,
  'workspace.escape_moved': ({ paths }) => `${filesText(paths)} moved into its worktree`,
  'workspace.released': ({ rescue }) => `worktree removed${rescue === null ? '' : `, rescued as ${rescue}`}`,
  'landing.queued': ({ target }) => `in the queue of ${target}`,
  'landing.merging': () => 'the queue merges it',
  'landing.checking': () => 'its checks run',
  'landing.journalled': () => 'landing begins',
  'landing.landed': () => 'left the queue: it landed',
  'landing.hurried': () => 'goes to the front of the queue',
  'landing.checks_skipped': () => 'lands without checks, as a person asked',
  'landing.noted': ({ note }) => (note === null ? 'merges cleanly now' : oneLine(note)),
  'landing.requeued': ({ reason }) => `back in the queue: ${oneLine(reason)}`,
  'landing.waiting': ({ reason }) => `waits to land: ${oneLine(waitText(reason))}`,
  'landing.conflicted': ({ files }) => `conflicts in ${filesText(files)}`,
  'landing.rejected': ({ reason }) => `cannot land: ${firstLine(reason)}`,
  'landing.withdrawn': ({ reason }) => `left the queue: ${oneLine(reason)}`,
  'check.started': ({ command, target }) => `${checkName(command)} began, in the queue of ${target}`,
  'check.ended': (event) => endedCheckText(event, 'the check'),
  'queue.paused': ({ id, what, reason }) =>
    `the queue of ${id} ${what === 'accept' ? 'accepts no more tasks' : 'lands nothing'}${because(reason)}`,
  'queue.resumed': ({ id, what }) =>
    `the queue of ${id} ${what === 'accept' ? 'accepts tasks' : 'lands'} again`,
  'queue.retried': ({ id }) => `the queue of ${id} runs its checks again`,
  'queue.decided': ({ id }) => `the queue of ${id} decided which checks run next`,
  'queue.stalled': ({ id, reason }) => stalledText({ id, reason }, ' stalled'),
  'queue.moving': ({ id }) => `the queue of ${id} moves again`,
  'ledger.added': ({ kind, text }) => `${kind} noted: ${firstLine(text)}`,
  'artifact.added': ({ kind, address, content }) =>
    `result: ${kind} ${kind === 'file' ? (content?.name ?? '') : address}`,
  'node.joined': ({ id, name }) => `node ${name} (${id}) joined`,
  'node.changed': ({ id }) => `node ${id} told what it can do`,
  'node.renamed': ({ id, name }) => `node ${id} is called ${name} now`,
  'node.drained': ({ id, withinMs }) => `node ${id} is draining, within ${spanText(withinMs)}`,
  'node.resumed': ({ id }) => `node ${id} takes work again`,
  'node.left': ({ id }) => `node ${id} left`,
  'resource.taken': ({ id, holder }) => `${holder} holds ${resourceName(id)}`,
  'resource.released': ({ id }) => `${resourceName(id)} is free`,
  'resource.token_raised': ({ id }) => `${resourceName(id)} is taken again: the board has another server`,
  'schedule.set': ({ name, agent }) => `schedule ${name} of ${agent} set`,
  'schedule.fired': ({ id, task }) => `schedule ${id} fired${task === undefined ? '' : `: ${task}`}`,
  'schedule.passed': ({ id, because }) => `schedule ${id} started nothing: ${passCauses[because]}`,
  'schedule.paused': ({ id }) => `schedule ${id} paused`,
  'schedule.resumed': ({ id }) => `schedule ${id} resumed`,
  'schedule.removed': ({ id }) => `schedule ${id} removed`,
  'delivery.received': ({ trigger, task, source }) =>
    `trigger ${trigger} got a request: ${task ?? `source ${source} is read`}`,
  'item.taken': ({ source, item }) => `comes from ${source}#${oneLine(item)}`,
  'item.changed': ({ isGiven }) =>
    isGiven ? 'its work item changed, and the task with it' : 'its work item changed upstream',
  'item.linked': ({ dependsOn }) =>
    dependsOn.length === 0
      ? 'its work item waits for no other'
      : `its work item waits for ${named([...dependsOn])}`,
  'item.closed': () => 'its work item was closed',
  'item.reopened': () => 'its work item was opened again',
  'item.reported': ({ phase }) => `its work item was told: ${phase}`,
};

const plainNames: Readonly<Record<string, string>> = { dependsOn: 'dependencies', workItem: 'work item' };

function plainName(key: string): string {
  return plainNames[key] ?? key;
}

function endedCheckText({ verdict, exitCode }: EventOf<'check.ended'>, name: string): string {
  return `${name} ${verdictWord(verdict)}${exitCode ? ` (exit code ${exitCode})` : ''}`;
}

/** Boards keep a check as JSON: its name and its command. */
function checkName(command: string): string {
  const name = /^\["((?:[^"\\]|\\.)*)"/.exec(command)?.[1];
  return name === undefined ? `a check (${oneLine(command)})` : `the check "${name}"`;
}

/** `port 4100 of machine n-a1b2`, `the queue of main`. */
function resourceName(id: string): string {
  const [, node, port] = /^port:([^:]+):(\d+)$/.exec(id) ?? [];
  if (port !== undefined) return `port ${port} of machine ${node}`;
  return id.startsWith('queue:') ? `the queue of ${id.slice('queue:'.length)}` : id;
}

function filesText(paths: readonly string[], more = 0): string {
  const [first = 'no file', ...others] = paths;
  const rest = others.length + more;
  return rest === 0 ? first : `${first} and ${rest} more`;
}
