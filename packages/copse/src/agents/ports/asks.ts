/**
 * How a program inside a worktree asks its runner something and waits for the answer: by files in the worktree, so that it
 * needs neither the board nor a network, and works from within a sandbox. Hooks of agent programs ask this way
 * (`copse hook`).
 */

export interface Ask {
  /** `stop`: may the agent stop? `permission`: may it use this? `notice`: nothing is asked, only told. */
  readonly kind: 'stop' | 'permission' | 'notice';
  /** What the program's hook was given, as it is. */
  readonly input: unknown;
}

export interface Asks {
  /** Answers each ask once. What it throws or cannot understand is answered with null. */
  answer(worktree: string, answer: (ask: Ask) => Promise<unknown>): { stop(): void };
  /** Asks, and waits; undefined when nobody answers in time. */
  ask(worktree: string, ask: Ask, options: { readonly timeoutMs: number }): Promise<unknown>;
}
