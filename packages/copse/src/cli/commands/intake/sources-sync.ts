import { withAccess } from '../../../compose/operations/access.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import { type SyncedOne, act, view } from '../../../operations/intake/source-sync.ts';
import type { Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { stepText } from './source-text.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const { dryRun = false, json = false } = options;
  await withAccess(cli, async (access) => {
    const synced = await act(access, { sources: words, dryRun }, (one) => {
      if (!json) print(cli.output, one, dryRun);
    });
    if (json) cli.output.json(view(synced));
    const [first] = synced.flatMap(({ source, looked }) =>
      'reason' in looked ? [`${source.name}: ${looked.reason}`] : [],
    );
    if (first !== undefined)
      fail('unavailable', `Not all sources could be read. ${first}`, 'copse sources list');
  });
}

function print(output: Output, { source: { name }, looked }: SyncedOne, isTrial: boolean): void {
  if ('reason' in looked) return;
  const { synced, told, notes } = looked;
  const changes = synced.steps.length === 0 ? ', nothing new' : '';
  output.line(`${name}: ${counted(synced.seen, 'item')}${changes}`);
  for (const step of synced.steps) output.line(`  ${stepText(name, step, isTrial)}`);
  for (const { item } of told)
    output.line(
      `  ${isTrial ? 'would tell' : 'told     '} ${shown(`${name}#${item.item}`)} about ${item.task}`,
    );
  for (const note of notes) output.line(`  ${output.style('dim', shown(note))}`);
}
