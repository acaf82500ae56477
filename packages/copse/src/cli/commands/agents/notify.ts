import { withAccess } from '../../../compose/operations/access.ts';
import type { Attention } from '../../../agents/rules/session/session.ts';
import { waitingClause } from '../../../explain/rules/reason.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/agents/notify.ts';
import { fail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import { noticesTo } from './report-here.ts';

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
  const { message } = options;
  await withAccess(
    cli,
    async (access) => {
      const notified = await act(access, { task: id, attention, message });
      const { task, isNew } = notified;
      if (options.json) cli.output.json(view(notified));
      else if (!isNew) cli.output.line(knownText(task, attention, message));
      else if (attention === null) cli.output.line(`${task} no longer waits for you.`);
      else cli.output.line(`${task} ${shown(waitingClause(attention, message))}`);
    },
    noticesTo(cli),
  );
}

/** Hooks report the same again. */
function knownText(task: TaskId, attention: Attention | null, message: string | undefined): string {
  const clause = attention === null ? 'does not wait for you' : shown(waitingClause(attention, message));
  return `Nothing new: ${task} ${clause}`;
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
    word === ''
      ? 'No kind given: permission, idle or none.'
      : `The kind must be permission, idle or none, not "${word}".`,
    instead ?? 'copse notify --help',
  );
}
