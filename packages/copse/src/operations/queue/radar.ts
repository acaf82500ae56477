import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import type { RunContext } from '../../queue/context.ts';
import { lastSighting, refreshRadar } from '../../radar/radar.ts';
import type { Sighting } from '../../radar/rules/radar.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';
import { requireTaskId } from '../find.ts';
import { radarView } from '../views/radar-views.ts';

interface Input {
  /** Only the pairs of this task. */
  readonly task?: string | undefined;
  /** Told what could not be compared. */
  readonly onNote?: (note: string) => void;
}

interface SeenBranches {
  /** Undefined: all pairs. */
  readonly only: TaskId | undefined;
  readonly sighting: Sighting;
  /** Of the tasks of its pairs. */
  readonly titles: ReadonlyMap<TaskId, string>;
  readonly at: Timestamp;
}

export async function act(access: Access, { task, onNote = () => {} }: Input): Promise<SeenBranches> {
  return access.run(async (context) => {
    const only = task === undefined ? undefined : await requireTaskId(context.board, task);
    const all = await compare(context, onNote);
    const sighting = only === undefined ? all : pairsOf(only, all);
    const titles = new Map<TaskId, string>();
    for (const one of new Set(sighting.pairs.flatMap(({ tasks }) => tasks)))
      titles.set(one, (await context.board.get('task', one))?.title ?? '');
    return { only, sighting, titles, at: context.clock.now() };
  });
}

export function view({ sighting }: SeenBranches) {
  return radarView(sighting);
}

async function compare(context: RunContext, onNote: (note: string) => void): Promise<Sighting> {
  const look = await refreshRadar(context, { patienceMs: context.policy.radar.patienceMs });
  for (const problem of look?.problems ?? []) onNote(problem);
  if (look !== undefined) return look.sighting;
  onNote('Another process is comparing the branches now; this is its previous result.');
  return lastSighting(context.radar) ?? { at: context.clock.now(), branches: [], pairs: [], omitted: 0 };
}

function pairsOf(task: TaskId, sighting: Sighting): Sighting {
  if (!sighting.branches.some((one) => one.task === task))
    fail('wrong_status', `${task} is finished, or has no branch in this repository.`, 'copse radar');
  return { ...sighting, pairs: sighting.pairs.filter(({ tasks }) => tasks.includes(task)) };
}
