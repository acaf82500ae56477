import path from 'node:path';

import { addArtifact } from '../../../agents/act/artifacts.ts';
import { FOR_SESSION, sessionFrom } from '../../../board/rules/author.ts';
import { artifactView } from '../../../operations/views/views.ts';
import { isUri } from '../../../tasks/rules/ledger.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { withReporting } from '../agents/report-here.ts';
import { artifactText } from './artifact-text.ts';

interface Options {
  readonly title?: string;
  readonly task?: string;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [word = ''] = words;
  if (word.trim() === '') fail('invalid', 'The name of the file is empty.', 'copse artifact add report.pdf');
  const title = options.title ?? null;
  await withReporting(cli, options.task, async (context, { task }) => {
    const input = isUri(word) ? { uri: word, title } : { ...fileOf(cli, word), title };
    const artifact = orFail(await addArtifact(context, task, input));
    if (options.json) return cli.output.json(artifactView(artifact));
    cli.output.line(`Added ${artifact.id} to ${task}: ${artifactText(artifact)}`);
  });
}

/** A runner runs the command of its agent in another folder, and gets whole paths (through-runner.ts). */
function fileOf({ cwd, env }: Cli, word: string) {
  if (sessionFrom(env) === undefined) return { file: path.resolve(cwd, word) };
  return { file: word, from: env[FOR_SESSION] === undefined ? cwd : null };
}
