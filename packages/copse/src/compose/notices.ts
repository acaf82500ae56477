/** Opens the notification channels that copse.yml asks for and this machine has, and sends notices without an orchestrator. */

import { openChannels } from '../explain/channels/open.ts';
import { type AnnounceContext, type NoticeMemory, announce } from '../explain/notices/announce.ts';
import type { EventNumber } from '../kernel/ids.ts';
import { openMemory } from '../kernel/system/json-file.ts';
import { systemTimer } from './parts.ts';
import { type Surroundings, configOf, requireRepository } from './open.ts';
import type { Notice, NoticeKind } from '../explain/rules/notice.ts';
import { type Policy, defaultPolicy } from '../kernel/policy.ts';
import type { TriedChannel } from '../operations/access.ts';
import type { NoticeChannel } from '../explain/notices/port.ts';

export interface OpenNotices {
  readonly kinds: readonly NoticeKind[];
  readonly channels: readonly NoticeChannel[];
  readonly memory: NoticeMemory;
}

export async function openNotices(
  surroundings: Surroundings,
  { notifications: { sendMs, sendAgainMs } }: Policy,
  ring: (() => void) | undefined,
): Promise<OpenNotices> {
  const repository = requireRepository(surroundings);
  const { notifications } = await configOf(repository);
  const { desktop, bell, webhook, events } = notifications;
  const { env: environment } = surroundings;
  return {
    kinds: events,
    memory: openMemory(repository.home, 'notices'),
    channels: openChannels({ desktop, bell, webhook, environment, ring, sendMs, sendAgainMs }),
  };
}

type TellContext = Omit<AnnounceContext, 'clock'>;

/** What a runner does beside its attempt, until the signal. A copse.yml that cannot be read costs the notices, not the attempt. */
export async function announceBeside(
  surroundings: Surroundings,
  context: TellContext,
  { signal, onProblem }: { readonly signal: AbortSignal; readonly onProblem: (reason: string) => void },
): Promise<void> {
  try {
    const after = await context.board.lastEvent();
    const open = await openNotices(surroundings, context.policy, undefined);
    await announce({ ...context, clock: systemTimer }, { ...open, after, signal, onProblem });
  } catch (error) {
    onProblem(error instanceof Error ? error.message : String(error));
  }
}

/** Sends what was recorded after the event, unless another process of this machine does that. */
export async function announceNow(
  surroundings: Surroundings,
  context: TellContext,
  options: {
    readonly after: EventNumber;
    readonly ring: (() => void) | undefined;
    readonly onProblem: (reason: string) => void;
  },
): Promise<void> {
  const open = await openNotices(surroundings, context.policy, options.ring);
  const { after, onProblem } = options;
  const signal = AbortSignal.abort();
  await announce({ ...context, clock: systemTimer }, { ...open, after, signal, onProblem });
}

const testNotice: Notice = {
  headline: 'this is a test',
  text: 'Copse tells you here when a task needs you.',
  command: 'copse inbox',
  isUrgent: false,
  about: [],
};

/** Sends one notice through every channel. */
export async function testChannels(
  surroundings: Surroundings,
  ring: (() => void) | undefined,
): Promise<readonly TriedChannel[]> {
  const { notifications } = await configOf(requireRepository(surroundings));
  const { channels } = await openNotices(surroundings, defaultPolicy, ring);
  const tried: TriedChannel[] = [];
  for (const channel of channels) {
    const sent = await channel.send(testNotice, AbortSignal.timeout(defaultPolicy.notifications.sendMs));
    const why = sent.kind === 'failed' ? sent.reason : null;
    tried.push({ channel: channel.name, result: sent.kind, why });
  }
  const isOpen = (name: string) => channels.some((channel) => channel.name === name);
  const absent = (channel: string, why: string) => void tried.push({ channel, result: 'absent', why });
  if (notifications.desktop && !isOpen('desktop'))
    absent('desktop', 'this machine has no display, or no notify-send');
  if (notifications.bell && !isOpen('bell')) absent('bell', 'the output is not a terminal');
  return tried;
}
