/**
 * What every `decide…` function returns: the events that are now true, or a refusal that a person can act on.
 *
 * A decision never holds a new state of its own. State is always `evolve(state, event)`, so what is stored, what
 * is told and what a replay computes cannot drift apart.
 */

export type RefusalCode =
  | 'not_found'
  | 'wrong_status'
  | 'fenced'
  | 'too_early'
  | 'already_landing'
  | 'has_dependants'
  | 'already_a_task'
  | 'not_this_session'
  | 'backward'
  | 'invalid'
  | 'cycle'
  | 'unauthorized';

/** The exit code of a command that was refused. */
export const refusedExitCode = 4;

export interface Refusal {
  readonly code: RefusalCode;
  /** One sentence: what was refused, to what, in which state. */
  readonly reason: string;
  /** What would work instead, most likely first: commands, or an instruction where no command exists. */
  readonly next: readonly [string, ...string[]];
  /** The task whose status refused it. What works instead also depends on agents and worktrees: `copse why` knows. */
  readonly task?: string;
}

export interface Decided<E> {
  readonly kind: 'decided';
  readonly events: readonly [E, ...E[]];
}

export interface Refused {
  readonly kind: 'refused';
  readonly refusal: Refusal;
}

export type Decision<E> = Decided<E> | Refused;

export function decided<E>(...events: readonly [E, ...E[]]): Decided<E> {
  return { kind: 'decided', events };
}

export function refused(code: RefusalCode, reason: string, ...next: readonly [string, ...string[]]): Refused {
  return { kind: 'refused', refusal: { code, reason, next } };
}
