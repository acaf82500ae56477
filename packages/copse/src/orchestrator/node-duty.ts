/** What this node may do now: whether it drains, and whether it leads queues. */

import { loadOtherNodes } from '../machines/act/nodes.ts';
import type { Node } from '../machines/rules/node.ts';
import type { RunContext } from '../queue/context.ts';
import { DrainClock, type Draining } from './drain-clock.ts';

export interface NodeNow {
  readonly node: Pick<Node, 'id' | 'name'>;
  readonly draining: Draining;
  /** A person removed it from the board. */
  readonly hasLeft: boolean;
  /** A node that drains leaves queues to other nodes; if there are none, it lands what is finished. */
  readonly leads: boolean;
}

export class NodeDuty {
  readonly #context: RunContext;
  readonly #clock = new DrainClock();
  #leading = new AbortController();

  constructor(context: RunContext) {
    this.#context = context;
  }

  /** A signal drains this node; see `DrainClock`. */
  drain(withinMs: number): void {
    this.#clock.ask(withinMs, this.#context.clock.elapsedMs());
  }

  /** Aborts when the node leaves its queues to others. */
  get leading(): AbortSignal {
    return this.#leading.signal;
  }

  async look(): Promise<NodeNow> {
    const { board, clock, node: id, policy } = this.#context;
    const node = await board.get('node', id);
    const draining = this.#clock.look(node?.drain ?? null, clock.elapsedMs());
    const hasLeft = node !== undefined && node.leftAt !== null;
    const leads = draining.kind === 'no' || (await loadOtherNodes(board, id, policy.nodes)).length === 0;
    if (!leads) this.#leading.abort();
    else if (this.#leading.signal.aborted) this.#leading = new AbortController();
    return { node: { id, name: node?.name ?? id }, draining, hasLeft, leads };
  }
}
