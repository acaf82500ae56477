import { withAccess } from '../../../compose/operations/access.ts';
import type { SourceSettings } from '../../../intake/rules/source.ts';
import { spanText } from '../../../kernel/time.ts';
import { shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/intake/source-show.ts';
import type { Invocation } from '../../invocation.ts';
import { printProse } from '../../screen/screen.ts';
import { lastLookText } from './source-text.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const result = await act(access, { source: words[0] ?? '' });
    if (options.json) return cli.output.json(view(result));
    const { source, memory, items, statuses, at } = result;
    const { type, place, intervalMs, onClosed, onlyFrom } = source;
    const rows = [
      ['source', `${source.name} (${type})`],
      ['place', place],
      ['interval', spanText(intervalMs)],
      ['if closed', onClosed === 'cancel' ? 'the task is cancelled' : 'the task stays'],
      ['asked by', onlyFrom?.join(', ') ?? ANYONE[type]],
      ['state', lastLookText(memory, at)],
    ] as const;
    for (const [name, text] of rows)
      printProse(cli.output, `${cli.output.style('dim', name.padEnd(10))} ${shown(text)}`, 11);
    for (const item of items) {
      const status = (statuses.get(item.task) ?? 'deleted').replaceAll('_', ' ');
      const marks = [
        item.isClosed ? 'closed' : null,
        item.changedAt === null ? null : 'changed upstream',
        item.by === null ? null : `asked for by ${item.by}`,
      ].filter((mark) => mark !== null);
      const more = marks.length === 0 ? '' : ` (${marks.join(', ')})`;
      cli.output.line(`${item.task}  ${status}  ${shown(`${item.item} ${item.title}`)}${shown(more)}`);
    }
  });
}

/** Who can ask for work without `only_from`. */
const ANYONE: Readonly<Record<SourceSettings['type'], string>> = {
  markdown: 'everyone who can change the files on the target branch',
  github: 'everyone who can set the label',
  gitlab: 'everyone who can set the label',
  linear: 'everyone who can set the label',
  command: 'everyone whose items the command prints',
};
