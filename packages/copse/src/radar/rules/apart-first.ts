/**
 * Of ready tasks that are equally urgent, those go first that collide with nobody's branch. That is a preference and no
 * more: it never goes past a more urgent task, whoever is passed over starts in the same pass if there is room left, and
 * a task that has been ready for long enough is not passed over any more.
 */

import { type Area, areaMatches, parseArea } from '../../tasks/rules/areas.ts';
import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import type { Policy } from '../../kernel/policy.ts';
import { type LiveBranch, type Pair, findingsOf } from './radar.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';

type Ready = Pick<TaskSummary, 'id' | 'areas' | 'priority' | 'state'>;

/** In the order in which they come, as they are taken: nothing is asked about tasks that nobody gets to. */
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

/** Whether a task would get in the way of a branch: by the paths of its area, or by what its own branch has already. */
export class Collisions {
  readonly #branches: readonly Pick<LiveBranch, 'task' | 'touched'>[];
  readonly #pairs: readonly Pair[];
  readonly #byArea = new Map<string, readonly TaskId[]>();

  constructor(branches: readonly Pick<LiveBranch, 'task' | 'touched'>[], pairs: readonly Pair[]) {
    this.#branches = branches;
    this.#pairs = pairs.filter(({ verdict: { kind } }) => kind === 'conflict' || kind === 'overlap');
  }

  /** The task whose branch it is. */
  with({ id, areas }: Pick<Ready, 'id' | 'areas'>): TaskId | undefined {
    const [found] = findingsOf(this.#pairs, id);
    return found?.other ?? areas.flatMap((area) => this.#tasksIn(area)).find((task) => task !== id);
  }

  /** Whose branches have changed something in the area. */
  #tasksIn(text: string): readonly TaskId[] {
    const known = this.#byArea.get(text);
    if (known !== undefined) return known;
    const check = parseArea(text);
    const tasks = check.ok
      ? this.#branches.filter(({ touched }) => touches(touched.paths, check.area)).map(({ task }) => task)
      : [];
    this.#byArea.set(text, tasks);
    return tasks;
  }
}

function touches(paths: readonly string[], area: Area): boolean {
  // What comes before the first sign with a meaning has to be there; comparing letters costs least.
  const [beginning = ''] = area.text.split(/[*?[{]/, 1);
  return paths.some((path) => isBelow(path.normalize('NFC'), beginning) && areaMatches(area, path));
}

function isBelow(path: string, beginning: string): boolean {
  return path.startsWith(beginning) || beginning === `${path}/`;
}
