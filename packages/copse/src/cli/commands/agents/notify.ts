import { raiseAttention } from '../../../agents/act/answer.ts';
import type { Attention } from '../../../agents/rules/session/session.ts';
import { waitingClause } from '../../../explain/rules/reason.ts';
import { shown } from '../../../kernel/text.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { tellPeople, withReporting } from './report-here.ts';

interface Options {
  readonly test?: boolean;
  readonly message?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  if (options.test) {
    const { testChannels } = await import('../setup/notify-test.ts');
    return testChannels(cli, options);
  }
  const [kind = '', id] = words;
  const attention = requireAttention(kind);
  await withReporting(cli, id, async (context, { task }) => {
    const after = await context.board.lastEvent();
    const raised = orFail(
      await raiseAttention(context, task, { attention, message: options.message ?? null }),
    );
    if (options.json) cli.output.json({ task, attention, isNew: raised === 'raised' });
    else if (raised === 'unchanged') cli.output.line(`Nothing changed: this is known of ${task}.`);
    else if (attention === null) cli.output.line(`${task} no longer needs attention.`);
    else cli.output.line(`${task} ${shown(waitingClause(attention, options.message))}`);
    if (raised === 'raised') await tellPeople(cli, context, after);
  });
}

const attentions: Readonly<Record<string, Attention | null>> = {
  permission: 'permission',
  idle: 'idle',
  none: null,
};

function requireAttention(word: string): Attention | null {
  const attention = Object.hasOwn(attentions, word) ? attentions[word] : undefined;
  if (attention !== undefined) return attention;
  const instead = { stuck: 'copse stuck --reason "…"', finished: 'copse finish' }[word];
  return fail(
    'invalid',
    `The kind must be one of permission, idle, none, not "${word}".`,
    instead ?? 'copse notify --help',
  );
}
