import { withAccess } from '../../../compose/operations/access.ts';
import { passCauses } from '../../../intake/rules/schedule.ts';
import { shown } from '../../../kernel/text.ts';
import { age } from '../../../explain/rules/amounts.ts';
import { act, view } from '../../../operations/intake/schedule-show.ts';
import type { Invocation } from '../../invocation.ts';
import { printSteps } from '../../after/next-steps.ts';
import { printFields } from '../../screen/screen.ts';
import { nextText } from './schedule-list.ts';
import { timingOf, timingText } from './schedule-text.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const result = await act(access, { schedule: words[0] ?? '' });
    if (options.json) return cli.output.json(view(result));
    const { known, at: now } = result;
    const { id, definition, schedule } = known;
    const { lastRun = null, lastPassed = null, lastFiredAt = null, owed = 0 } = schedule ?? {};
    const rows: readonly (readonly [string, string | null])[] = [
      ['times', timingText(timingOf(known))],
      // One time in a line.
      [
        'next',
        nextText(known, now)
          .replace(/^next: /, '')
          .replaceAll(/, (?=\d{4}-)/g, '\n'),
      ],
      ['agent', id.slice(0, id.indexOf('/'))],
      ['source', definition?.workSource ?? null],
      ['missed', definition && missedText[definition.missed]],
      ['overlap', definition && overlapText[definition.overlap]],
      [
        'last run',
        lastRun && lastFiredAt && `${lastRun.job} (${lastRun.task}), ${age(lastFiredAt, now)} ago`,
      ],
      [
        'waiting',
        owed > 0
          ? `${owed} until ${lastPassed?.because === 'unread' ? 'its source can be read' : 'the last run has ended'}`
          : null,
      ],
      ['nothing', lastPassed && `${age(lastPassed.at, now)} ago: ${passCauses[lastPassed.because]}`],
      ['prompt', definition?.prompt == null ? null : shown(definition.prompt.split('\n')[0] ?? '')],
    ];
    cli.output.line(id);
    printFields(cli.output, rows, { margin: 4, width: 9 });
    const start = 'copse up # no orchestrator has seen it yet; to start one';
    printSteps(cli.output, [schedule === null ? start : `copse schedule run ${id}`]);
  });
}

const missedText = {
  skip: 'times without an orchestrator are skipped',
  once: 'times without an orchestrator start one run',
  all: 'times without an orchestrator each start a run',
} as const;

const overlapText = {
  skip: 'a time during a run is skipped',
  queue: 'a time during a run starts one when it has ended',
} as const;
