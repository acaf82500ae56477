import { age } from '../../explain/rules/amounts.ts';
import { holdSource } from '../../intake/act/hold.ts';
import { busy } from '../../intake/act/one-item.ts';
import { remember } from '../../intake/act/remember.ts';
import { dueReports, reportDue } from '../../intake/act/report.ts';
import { type SourceSynced, syncSource } from '../../intake/act/sync.ts';
import type { Source, SourceProblem } from '../../intake/port.ts';
import { limitedUntil } from '../../intake/rules/limit.ts';
import type { DueItem } from '../../intake/rules/report.ts';
import type { RunContext } from '../../queue/context.ts';
import { LeadSilence } from '../../queue/lead/leadership.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';
import { stepView } from '../views/source-views.ts';
import { requireSource } from './find.ts';

interface Input {
  /** All without it. */
  readonly sources?: readonly string[] | undefined;
  /** Only says what it would do. */
  readonly dryRun?: boolean | undefined;
}

/** A source that could not be read has a reason; the others are synced all the same. */
export interface SyncedOne {
  readonly source: Source;
  readonly looked: LookedSource | { readonly reason: string };
}

interface LookedSource {
  readonly synced: SourceSynced;
  /** What the source was told, or would be. */
  readonly told: readonly Pick<DueItem, 'item'>[];
  readonly notes: readonly string[];
}

export async function act(
  access: Access,
  { sources: names = [], dryRun = false }: Input,
  /** Called when each is done. */
  onSynced: (one: SyncedOne) => void = () => {},
): Promise<readonly SyncedOne[]> {
  return access.run(async (context) => {
    const chosen = names.length === 0 ? context.sources : names.map((name) => requireSource(context, name));
    if (chosen.length === 0) fail('not_found', 'copse.yml has no sources.', 'copse help sources list');
    const synced: SyncedOne[] = [];
    for (const source of chosen) {
      const one = { source, looked: await look(context, source, dryRun) };
      synced.push(one);
      onSynced(one);
    }
    return synced;
  });
}

export function view(synced: readonly SyncedOne[]) {
  return { sources: synced.map(viewOf) };
}

async function look(context: RunContext, source: Source, isTrial: boolean): Promise<SyncedOne['looked']> {
  const { clock, policy, sourceMemories } = context;
  const until = limitedUntil(sourceMemories.load(source.name).limit, clock.now());
  if (until !== null) return { reason: `its rate limit ends in ${age(clock.now(), until)}.` };
  const held = await holdSource(
    context,
    source.name,
    async (hold): Promise<LookedSource | SourceProblem> => {
      const synced = await syncSource(context, source, { isTrial });
      if (synced.kind === 'failed') return synced;
      if (isTrial && synced.problem !== null) return synced.problem;
      if (isTrial) return { synced, told: await dueReports(context, source), notes: synced.notes };
      const reported = await reportDue(context, source, hold);
      if (reported.kind === 'failed') return reported;
      // The other items were dealt with all the same.
      const problem = synced.problem ?? reported.problem;
      if (problem !== null) return problem;
      const notes = [...synced.notes, ...reported.notes];
      return { synced, told: reported.items.map((item) => ({ item })), notes };
    },
    { silence: new LeadSilence(), patienceMs: policy.sources.patienceMs },
  );
  if (held.kind === 'busy') return busy(source.name).refusal;
  const { value } = held;
  remember(context, source.name, 'kind' in value ? value : null, !isTrial);
  return value;
}

function viewOf({ source: { name }, looked }: SyncedOne) {
  if ('reason' in looked) return { source: name, problem: looked.reason };
  const { synced, told, notes } = looked;
  return {
    source: name,
    seen: synced.seen,
    steps: synced.steps.map(stepView),
    waiting: synced.waiting.map(({ id }) => id),
    told: told.map(({ item }) => item.item),
    notes,
  };
}
