import { sessionFrom } from '../../board/rules/author.ts';
import type { Access, TriedChannel } from '../access.ts';
import { fail } from '../failure.ts';

export async function act({ env, here }: Access): Promise<readonly TriedChannel[]> {
  if (sessionFrom(env) !== undefined)
    fail('not_this_session', 'An agent cannot test notifications.', 'copse notify idle');
  return here.testNotices();
}

export function view(channels: readonly TriedChannel[]) {
  return { channels };
}
