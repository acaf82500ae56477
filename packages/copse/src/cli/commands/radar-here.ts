/** What the conflict radar last found here, read and not looked for. */

import { lastSighting } from '../../radar/radar.ts';
import { requireRepository } from '../../compose/open.ts';
import { openSight } from '../../compose/radar-sight.ts';
import type { TaskId } from '../../kernel/ids.ts';
import { type Finding, findingsOf } from '../../radar/rules/radar.ts';
import type { Cli } from '../invocation.ts';

export function loadFindings(cli: Cli): (task: TaskId) => readonly Finding[] {
  const pairs = lastSighting(openSight(requireRepository(cli)))?.pairs ?? [];
  const involved = new Set(pairs.flatMap(({ tasks }) => tasks));
  return (task) => (involved.has(task) ? findingsOf(pairs, task) : []);
}
