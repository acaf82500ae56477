import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { spanText } from '../../../kernel/time.ts';
import { age, usageText } from '../../../explain/rules/amounts.ts';
import { act, view } from '../../../operations/intake/job-show.ts';
import type { Invocation } from '../../invocation.ts';
import { printFields } from '../../screen/screen.ts';
import { originText, resultText } from './jobs.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const result = await act(access, { job: words[0] ?? '' });
    if (options.json) return cli.output.json(view(result));
    const { job, at: now } = result;
    const { task, attempts, workedMs, usage, summary, error } = job;
    const { workItem } = task;
    const rows: readonly (readonly [string, string | null])[] = [
      ['started by', originText(job)],
      ['task', `${task.id} ${task.title}`],
      [
        'item',
        workItem && `${workItem.source} ${workItem.id}${workItem.url === null ? '' : ` ${workItem.url}`}`,
      ],
      ['result', `${resultText[job.result]}, ${age(task.state.since, now)} ago`],
      [
        'worked',
        attempts === 0
          ? null
          : `${spanText(workedMs)} in ${attempts === 1 ? 'one attempt' : `${attempts} attempts`}`,
      ],
      ['used', usage && usageText(usage)],
      ['summary', summary],
      ['error', error],
    ];
    cli.output.line(job.id);
    const safe = rows.map(([name, text]) => [name, text === null ? null : shown(text)] as const);
    printFields(cli.output, safe, { margin: 4, width: 10 });
    const next = attempts === 0 ? `copse why ${task.id}` : `copse logs ${job.id}`;
    cli.output.line(cli.output.style('dim', `  → ${next}`));
  });
}
