/** `copse notify --test`: sends one notice through every channel, and says what became of it. */

import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import { act, view } from '../../../operations/setup/notice-test.ts';
import type { Cli } from '../../invocation.ts';
import { fields } from '../../screen/render.ts';
import { noticesTo } from '../agents/report-here.ts';

export async function testChannels(cli: Cli, { json }: { readonly json?: boolean }): Promise<void> {
  const tried = await withAccess(cli, act, noticesTo(cli));
  if (json) cli.output.json(view(tried));
  else {
    const rows = tried.map(
      ({ channel, result, why }) => [channel, why === null ? result : `${result}: ${shown(why)}`] as const,
    );
    for (const row of fields(rows)) cli.output.line(row);
  }
  const isTold = tried.some(({ result }) => result === 'sent');
  const hasFailed = tried.some(({ result }) => result === 'failed');
  if (hasFailed) fail('unhealthy', 'A notification could not be sent.', 'copse config show');
  if (!isTold)
    fail(
      'unhealthy',
      'No notification could be sent from here. Set notifications.webhook in copse.yml.',
      'copse config accept # after you set it',
    );
}
