import { withAccess } from '../../../compose/operations/access.ts';
import type { Job } from '../../../intake/act/jobs.ts';
import type { JobResult } from '../../../intake/rules/job.ts';
import { shown } from '../../../kernel/text.ts';
import { spanText } from '../../../kernel/time.ts';
import { age, usageText } from '../../../explain/rules/amounts.ts';
import { act, view } from '../../../operations/intake/job-list.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { requireLimit } from '../limit.ts';
import { cutAtWords, printProse } from '../../screen/screen.ts';

interface Options {
  readonly all?: boolean;
  readonly limit?: string;
  readonly cursor?: string;
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const { all, cursor } = options;
    const listed = await act(access, {
      all,
      cursor,
      limit: requireLimit(options.limit, 'copse jobs --help'),
    });
    if (options.json) return cli.output.json(view(listed));
    const { jobs, limit, at: now } = listed;
    if (jobs.length === 0) {
      cli.output.line('No schedule or trigger has started anything yet.');
      cli.output.line('  → copse schedule list');
      return;
    }
    for (const job of jobs) {
      const { id, task, result } = job;
      const head = `${id}  ${cli.output.style(styles[result], resultText[result])} (${age(task.createdAt, now)}) `;
      printProse(cli.output, `${head}${shown(originText(job))}: ${task.id} ${shown(task.title)}`, 4);
      const detail = detailText(job);
      if (detail !== '') cli.output.line(cli.output.style('dim', cut(cli, `    ${detail}`)));
    }
    if (listed.cursor !== null)
      cli.output.line(cli.output.style('dim', `The next page: copse jobs --cursor ${listed.cursor}`));
    else if (!all && cursor === undefined && jobs.length === limit)
      cli.output.line(cli.output.style('dim', `The last ${limit}. All: copse jobs --all`));
  });
}

function cut(cli: Cli, line: string): string {
  return cli.output.isTerminal ? cutAtWords(line, cli.output.columns()) : line;
}

function detailText({ workedMs, attempts, usage, error, summary }: Job): string {
  return [attempts > 0 ? spanText(workedMs) : null, usage && usageText(usage), error ?? summary]
    .filter((one) => one !== null)
    .map((one) => shown(one.split('\n')[0] ?? ''))
    .join(' · ');
}

export function originText({ origin }: Pick<Job, 'origin'>): string {
  return origin.kind === 'schedule' ? `schedule ${origin.schedule}` : `trigger ${origin.trigger}`;
}

export const resultText: Readonly<Record<JobResult, string>> = {
  waiting: 'waiting',
  running: 'running',
  landing: 'landing',
  done: 'done',
  needs_person: 'needs you',
  failed: 'failed',
  cancelled: 'cancelled',
};

const styles: Readonly<Record<JobResult, 'dim' | 'cyan' | 'green' | 'yellow' | 'red'>> = {
  waiting: 'dim',
  running: 'cyan',
  landing: 'cyan',
  done: 'green',
  needs_person: 'yellow',
  failed: 'red',
  cancelled: 'dim',
};
