/** `copse notify --test`: sends one notice through every channel, and says what became of it. */

import { sessionFrom } from '../../../board/rules/author.ts';
import { configOf, requireRepository } from '../../../compose/open.ts';
import { openNotices } from '../../../compose/notices.ts';
import type { Notice } from '../../../explain/rules/notice.ts';
import { defaultPolicy } from '../../../kernel/policy.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli } from '../../invocation.ts';
import { fields } from '../../screen/render.ts';

const notice: Notice = {
  headline: 'this is a test',
  text: 'Copse tells you here when a task needs you.',
  command: 'copse inbox',
  isUrgent: false,
  about: [],
};

/** `absent`: configured, and not on this machine. */
type Tried = readonly [channel: string, result: 'sent' | 'failed' | 'absent', why: string | null];

export async function testChannels(cli: Cli, { json }: { readonly json?: boolean }): Promise<void> {
  if (sessionFrom(cli.env) !== undefined)
    fail('not_this_session', 'An agent cannot test notifications.', 'copse notify idle');
  const tried = await tryAll(cli);
  if (json) {
    cli.output.json({ channels: tried.map(([channel, result, why]) => ({ channel, result, why })) });
  } else {
    const rows = tried.map(
      ([name, result, why]) => [name, why === null ? result : `${result}: ${shown(why)}`] as const,
    );
    for (const row of fields(rows)) cli.output.line(row);
  }
  const isTold = tried.some(([, result]) => result === 'sent');
  const hasFailed = tried.some(([, result]) => result === 'failed');
  if (hasFailed) fail('unhealthy', 'A notification could not be sent.', 'copse config show');
  if (!isTold)
    fail(
      'unhealthy',
      'No notification could be sent from here.',
      'set notifications.webhook in copse.yml, then: copse config accept',
    );
}

async function tryAll(cli: Cli): Promise<readonly Tried[]> {
  const { output } = cli;
  const { notifications } = await configOf(requireRepository(cli));
  const ring = output.isTerminal ? () => void output.raw('\u0007') : undefined;
  const { channels } = await openNotices(cli, defaultPolicy, ring);
  const tried: Tried[] = [];
  for (const channel of channels) {
    const sent = await channel.send(notice, AbortSignal.timeout(defaultPolicy.notifications.sendMs));
    tried.push([channel.name, sent.kind, sent.kind === 'failed' ? sent.reason : null]);
  }
  const isOpen = (name: string) => channels.some((channel) => channel.name === name);
  if (notifications.desktop && !isOpen('desktop'))
    tried.push(['desktop', 'absent', 'this machine has no display, or no notify-send']);
  if (notifications.bell && !isOpen('bell')) tried.push(['bell', 'absent', 'the output is not a terminal']);
  return tried;
}
