/**
 * Of equally urgent ready tasks, those that collide with no branch go first. It is only a preference: a more urgent task
 * still goes first, a passed-over task starts in the same pass if there is room, and a task that has been ready for long is
 * no longer passed over.
 */

import { type Area, areaMatches, parseArea } from '../../tasks/rules/areas/areas.ts';
import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import { type LiveBranch, type Pair, findingsOf } from './radar.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';

type Ready = Pick<TaskSummary, 'id' | 'areas' | 'priority' | 'state'>;

/** Lazy: `collides` is asked only about tasks that are taken. */
export function* apartFirst<T extends Ready>(
  ready: Iterable<T>,
  collides: (task: T) => boolean,
  at: Timestamp,
  { preferMs }: Policy['radar'],
): Generator<T, void> {
  const passedOver: T[] = [];
  let urgency: Ready['priority'] | undefined;
  for (const task of ready) {
    if (task.priority !== urgency) yield* passedOver.splice(0);
    urgency = task.priority;
    const mayWait = at - task.state.since < preferMs;
    if (mayWait && collides(task)) passedOver.push(task);
    else yield task;
  }
  yield* passedOver;
}

/** Whether a task collides with a branch: by the paths of its areas, or by the commits of its own branch. */
export class Collisions {
  readonly #branches: readonly Pick<LiveBranch, 'task' | 'touched'>[];
  readonly #pairs: readonly Pair[];
  readonly #byArea = new Map<string, readonly TaskId[]>();

  constructor(branches: readonly Pick<LiveBranch, 'task' | 'touched'>[], pairs: readonly Pair[]) {
    this.#branches = branches;
    this.#pairs = pairs.filter(({ verdict: { kind } }) => kind === 'conflict' || kind === 'overlap');
  }

  /** The task whose branch it collides with. */
  with({ id, areas }: Pick<Ready, 'id' | 'areas'>): TaskId | undefined {
    const [found] = findingsOf(this.#pairs, id);
    return found?.other ?? areas.flatMap((area) => this.#tasksIn(area)).find((task) => task !== id);
  }

  /** Tasks whose branches changed a path in the area. */
  #tasksIn(text: string): readonly TaskId[] {
    const known = this.#byArea.get(text);
    if (known !== undefined) return known;
    const check = parseArea(text);
    const tasks =
      check.kind === 'accepted'
        ? this.#branches.filter(({ touched }) => touches(touched.paths, check.area)).map(({ task }) => task)
        : [];
    this.#byArea.set(text, tasks);
    return tasks;
  }
}

function touches(paths: readonly string[], area: Area): boolean {
  // The text before the first wildcard must match; comparing it first is cheap.
  const [beginning = ''] = area.text.split(/[*?[{]/, 1);
  return paths.some((path) => isBelow(path.normalize('NFC'), beginning) && areaMatches(area, path));
}

function isBelow(path: string, beginning: string): boolean {
  return path.startsWith(beginning) || beginning === `${path}/`;
}
