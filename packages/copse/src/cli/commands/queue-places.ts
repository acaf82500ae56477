/** Where tasks stand in their queues, in short, for lists. */

import type { Context } from '../../board/context.ts';
import { loadQueues } from '../../queue/act/view.ts';
import { configOf, requireRepository } from '../../compose/open.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { standingText } from '../../explain/rules/queue.ts';
import type { EntryState } from '../../queue/rules/view/view.ts';
import type { Cli } from '../invocation.ts';

export interface Place {
  readonly position: number;
  readonly of: number;
  readonly state: EntryState;
  readonly why: string;
}

export async function loadPlaces(cli: Cli, context: Context): Promise<ReadonlyMap<TaskId, Place>> {
  const { landing } = await configOf(requireRepository(cli));
  const queues = await loadQueues(context, landing);
  return new Map(
    queues.flatMap(({ entries }) =>
      entries.map(({ task, position, state, standing }) => [
        task,
        { position, of: entries.length, state, why: standingText(standing) },
      ]),
    ),
  );
}

export function placeText(place: Place | undefined): string | null {
  return place === undefined ? null : `${place.position} of ${place.of} in the queue: ${place.why}`;
}
