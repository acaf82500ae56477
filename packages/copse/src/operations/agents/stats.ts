import type { FlowDay } from '../../queue/rules/view/flow.ts';
import type { Stats, StatsRow } from '../../explain/rules/stats.ts';
import { loadStats } from '../../explain/stats.ts';
import { timestamp } from '../../kernel/ids.ts';
import type { Access } from '../access.ts';
import { statsView } from '../views/stats-views.ts';
import { dayOf, startOfWeek } from './local-days.ts';

interface Input {
  /** With the current one. */
  readonly weeks?: number | undefined;
}

const USUAL_WEEKS = 8;
export const MOST_WEEKS = 520;

interface ShownStats {
  readonly weeks: number;
  /** The first day that is counted. */
  readonly since: string;
  readonly rows: readonly StatsRow[];
  readonly total: Stats;
  /** Days on which something landed. */
  readonly days: readonly FlowDay[];
}

export async function act(access: Access, { weeks = USUAL_WEEKS }: Input): Promise<ShownStats> {
  return access.board(async (context) => {
    const since = startOfWeek(context.clock.now(), weeks - 1);
    const weekOf = (at: number) => dayOf(startOfWeek(at));
    const counted = await loadStats(context, {
      since: timestamp(since.getTime()),
      weekOf,
      dayOf: (at) => dayOf(new Date(at)),
    });
    return { weeks, since: dayOf(since), ...counted };
  });
}

export function view(stats: ShownStats) {
  return statsView(stats);
}
