import { withAccess } from '../../../compose/operations/access.ts';
import { oneLine } from '../../../explain/rules/reason.ts';
import { capitalised, statusTexts } from '../../../explain/rules/status.ts';
import type { NeedsYou } from '../../../explain/rules/overview.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/overview/inbox.ts';
import { canAsk } from '../../ask.ts';
import { commandsFor } from '../../../explain/rules/inbox/answers.ts';
import { headline } from '../../inbox/look.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { withRun } from '../../with-run.ts';

interface Options {
  readonly json?: boolean;
}

/** Asks at a terminal; elsewhere, prints what needs a person with the commands that answer it. */
export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  if (canAsk(cli, options)) {
    const { Inbox } = await import('../../inbox/inbox.ts');
    await withRun(cli, {}, (context, unusable) => new Inbox(cli, context, unusable).run());
    return;
  }
  await withAccess(cli, async (access) => {
    const overview = await act(access);
    if (options.json) cli.output.json(view(overview));
    else print(cli, overview.needsYou, overview.at);
  });
}

function print({ output }: Cli, needs: readonly NeedsYou[], now: Timestamp): void {
  for (const need of needs) {
    output.line(headline(need, now));
    // The headline says that already.
    const text = need.kind === 'question' ? need.details : need.reason;
    if (text !== capitalised(statusTexts.in_review)) output.line(`      ${shown(oneLine(text))}`);
    for (const command of commandsFor(need)) output.line(output.style('dim', `  → ${command}`));
  }
  if (needs.length > 0) return;
  output.line('Nothing needs you now.');
  output.line(output.style('dim', '  → copse status'));
}
