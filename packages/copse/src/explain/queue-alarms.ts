/** What holds up a whole queue, and the commands that end it. */

import type { Timestamp } from '../kernel/ids.ts';
import { shellWord } from '../kernel/shell.ts';
import type { EntryView, QueueView } from '../queue/rules/view/view.ts';
import { pauseText, waitText } from './rules/queue.ts';
import { waitSteps } from './rules/wait-steps.ts';

/** `closed`: it accepts no new tasks. `no_checks`: its checks cannot run. `red`: its target fails its checks. */
interface QueueAlarm {
  readonly kind: 'paused' | 'closed' | 'stalled' | 'no_checks' | 'red' | 'no_leader';
  readonly text: string;
  readonly since: Timestamp | null;
  readonly next: readonly string[];
}

export function alarmsOf(queue: QueueView): readonly QueueAlarm[] {
  const { paused, stalled, trouble, isTargetRed, isLed, lost, entries, target } = queue;
  const { accept, land } = paused;
  const [first] = entries;
  const unled = isLed ? undefined : entries.find((entry) => needsLeader(entry, queue));
  const resume = `copse queue resume --target ${shellWord(target)} #`;
  // One command ends both pauses.
  const again = accept === null ? 'to land again' : 'to accept and land tasks again';
  const retry = first === undefined ? [] : [`copse queue retry ${first.task}`];
  return [
    ...(land
      ? [
          {
            kind: 'paused',
            text: pauseText('land', land),
            since: land.since,
            next: [`${resume} ${again}`],
          } as const,
        ]
      : []),
    ...(accept
      ? [
          {
            kind: 'closed',
            text: pauseText('accept', accept),
            since: accept.since,
            next: [`${resume} ${land === null ? 'to accept tasks again' : again}`],
          } as const,
        ]
      : []),
    ...(stalled && stalled.reason.kind !== 'paused'
      ? [
          {
            kind: 'stalled',
            text: waitText(stalled.reason, target),
            since: stalled.since,
            next: first === undefined ? [] : waitSteps(stalled.reason, { task: first.task, target, isLed }),
          } as const,
        ]
      : []),
    ...(trouble && stalled === null
      ? [
          {
            kind: 'no_checks',
            text: `its checks cannot run: ${trouble.reason}`,
            since: null,
            next: retry,
          } as const,
        ]
      : []),
    ...(isTargetRed && stalled === null
      ? [
          {
            kind: 'red',
            text: `${target} itself fails its checks: each task is checked alone`,
            since: null,
            next: retry,
          } as const,
        ]
      : []),
    ...(unled !== undefined
      ? [
          {
            kind: 'no_leader',
            text: unledText(lost.length),
            since: null,
            next: ['copse orchestrate', `copse merge ${unled.task}`],
          } as const,
        ]
      : []),
  ];
}

/** Whether a leader would go on with it. It does not end a pause, nor a wait that has steps for a person. */
function needsLeader({ standing, task }: EntryView, { stalled, target, isLed }: QueueView): boolean {
  if (standing.kind === 'dependent') return false;
  if (standing.kind !== 'held' && standing.kind !== 'stalled') return true;
  const reason = standing.kind === 'held' ? standing.reason : stalled?.reason;
  if (reason === undefined || reason.kind === 'paused' || reason.kind === 'not_accepted') return false;
  return waitSteps(reason, { task, target, isLed }).length === 0;
}

function unledText(lost: number): string {
  if (lost === 0) return 'no orchestrator is running here';
  return `the orchestrator is gone, and ${lost === 1 ? '1 check' : `${lost} checks`} with it`;
}
