/** Opens the notification channels that copse.yml asks for and this machine has. */

import { openChannels } from '../explain/channels/open.ts';
import { type Surroundings, configOf, requireRepository } from './open.ts';
import type { NoticeKind } from '../explain/rules/notice.ts';
import type { Policy } from '../kernel/policy.ts';
import type { NoticeChannel } from '../explain/notices/port.ts';

export interface OpenNotices {
  readonly kinds: readonly NoticeKind[];
  readonly channels: readonly NoticeChannel[];
}

export async function openNotices(
  surroundings: Surroundings,
  { notifications: { sendMs, sendAgainMs } }: Policy,
  ring: (() => void) | undefined,
): Promise<OpenNotices> {
  const { notifications } = await configOf(requireRepository(surroundings));
  const { desktop, bell, webhook, events } = notifications;
  const { env: environment } = surroundings;
  return {
    kinds: events,
    channels: openChannels({ desktop, bell, webhook, environment, ring, sendMs, sendAgainMs }),
  };
}
