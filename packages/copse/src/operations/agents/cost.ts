import { type Cost, type CostGroup, type Costs, loadCosts } from '../../agents/act/cost.ts';
import { type Timestamp, timestamp } from '../../kernel/ids.ts';
import { DAY, HOUR, MINUTE } from '../../kernel/limits.ts';
import { time } from '../../kernel/time.ts';
import { tokensOf } from '../../kernel/usage.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';
import { requirePlanId } from '../find.ts';
import { dayOf } from './local-days.ts';

interface Input {
  readonly by?: CostGroup | undefined;
  /** `7d`, a day or a time. */
  readonly since?: string | undefined;
  readonly plan?: string | undefined;
}

interface ShownCosts extends Costs {
  readonly by: CostGroup;
  readonly since: Timestamp | null;
}

export async function act(
  access: Access,
  { by = 'task', since: from, plan: of }: Input,
): Promise<ShownCosts> {
  return access.board(async (context) => {
    const since = from === undefined ? null : requireSince(from, context.clock.now());
    const plan = of === undefined ? null : await requirePlanId(context.board, of);
    return {
      by,
      since,
      ...(await loadCosts(context, { by, since, plan, dayOf: (at) => dayOf(new Date(at)) })),
    };
  });
}

export function view({ by, since, rows, total }: ShownCosts) {
  return {
    by,
    since: since && time(since),
    rows: rows.map((row) => ({ ...keyView(by, row.key, row.title), ...costView(row) })),
    total: costView(total),
  };
}

interface KeyView {
  readonly task?: string;
  readonly title?: string | null;
  readonly agent?: string;
  readonly day?: string;
}

function keyView(by: CostGroup, key: string, title: string | null): KeyView {
  if (by === 'task') return { task: key, title };
  if (by !== 'agent_day') return { [by]: key };
  const [day = '', ...agent] = key.split(' ');
  return { day, agent: agent.join(' ') };
}

function costView({ usage, isUnknownInPart, sessions }: Cost) {
  const { input, cached, output, dollars } = usage;
  return { tokens: tokensOf(usage), input, cached, output, dollars, isUnknownInPart, sessions };
}

const MS_PER_UNIT: Readonly<Record<string, number>> = { m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY };

/** A span, a day, or a time; days and times without a zone are local. */
function requireSince(text: string, now: Timestamp): Timestamp {
  const [, amount, unit = ''] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  if (amount !== undefined) return timestamp(now - Number(amount) * (MS_PER_UNIT[unit] ?? 0));
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?$/.test(text);
  const parsed = isDay ? Date.parse(`${text}T00:00`) : isTime ? Date.parse(text) : Number.NaN;
  // `Date.parse` takes 30 February for a day in March.
  const isReal = !Number.isNaN(parsed) && (!isDay || dayOf(new Date(parsed)) === text);
  if (isReal) return timestamp(parsed);
  return fail(
    'invalid',
    `since must be a time like 7d, 2026-11-30 or 2026-11-30T14:00, not "${text}".`,
    'copse cost --help',
  );
}
