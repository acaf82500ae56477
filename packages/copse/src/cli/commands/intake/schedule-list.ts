import { withAccess } from '../../../compose/operations/access.ts';
import type { KnownSchedule } from '../../../intake/act/schedules.ts';
import type { Timestamp } from '../../../kernel/ids.ts';
import { spanText } from '../../../kernel/time.ts';
import { act, view } from '../../../operations/intake/schedule-list.ts';
import type { Invocation } from '../../invocation.ts';
import { printProse } from '../../screen/screen.ts';
import { momentText, timingOf, timingText } from './schedule-text.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const listed = await act(access);
    if (options.json) return cli.output.json(view(listed));
    const { schedules, at } = listed;
    if (schedules.length === 0) {
      printProse(
        cli.output,
        'No agent has a schedule. Schedules are set in copse.yml, under agents.<name>.schedules.',
      );
      cli.output.line('  → copse help schedules');
      return;
    }
    const width = Math.max(...schedules.map(({ id }) => id.length));
    for (const one of schedules) {
      printProse(cli.output, `${one.id.padEnd(width)}  ${timingText(timingOf(one))}`, width + 2);
      printProse(cli.output, cli.output.style('dim', `    ${nextText(one, at)}`), 4);
    }
  });
}

export function nextText(one: KnownSchedule, now: Timestamp): string {
  const { schedule, definition, isElsewhere, next } = one;
  if (schedule?.pausedAt != null) return `paused: copse schedule resume ${one.id}`;
  const [first] = next;
  const [soonest = '', ...later] = next.map((at) => momentText(at, timingOf(one)));
  const inTime = first === undefined || first <= now ? 'due now' : `in ${spanText(first - now)}`;
  const when =
    first === undefined ? 'never again' : `next: ${[`${soonest} (${inTime})`, ...later].join(', ')}`;
  if (definition === null) return `${when}; not in the copse.yml here`;
  return isElsewhere ? `${when}; the copse.yml here has other times, which count after: copse up` : when;
}
