/** What `--json` prints about nodes. Times are ISO 8601. */

import type { KnownNode } from '../../machines/act/nodes.ts';
import { time } from '../../kernel/time.ts';

export function nodeView({ node, silentMs, held }: KnownNode) {
  const { id, name, joinedAt, leftAt, facts, clockOffsetMs, drain } = node;
  return {
    id,
    name,
    joinedAt: time(joinedAt),
    leftAt: leftAt && time(leftAt),
    silentMs,
    drain: drain && {
      since: time(drain.since),
      until: time((drain.since + drain.withinMs) as typeof drain.since),
      by: drain.by,
    },
    version: facts?.version ?? null,
    protocol: facts?.protocol ?? null,
    labels: facts?.labels ?? [],
    capabilities: facts?.capabilities ?? null,
    slots: facts?.slots ?? null,
    clockOffsetMs,
    tasks: held.map((task) => task.id),
  };
}
