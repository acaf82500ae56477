import { withAccess } from '../../../compose/operations/access.ts';
import { fail } from '../../../operations/failure.ts';
import { act, view } from '../../../operations/plans/artifact-add.ts';
import { isUri } from '../../../tasks/rules/ledger.ts';
import type { Invocation } from '../../invocation.ts';
import { artifactText } from './artifact-text.ts';

interface Options {
  readonly title?: string;
  readonly task?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word = ''] = words;
  if (word.trim() === '') fail('invalid', 'The name of the file is empty.', 'copse artifact add report.pdf');
  const { title, task } = options;
  await withAccess(cli, async (access) => {
    const artifact = await act(access, { task, title, ...(isUri(word) ? { uri: word } : { file: word }) });
    if (options.json) return cli.output.json(view(artifact));
    cli.output.line(`Added ${artifact.id} to ${artifact.task}: ${artifactText(artifact)}`);
  });
}
