/** How a check or its set-up ended without success, as data: the sentence is made where it is shown. */

import { unreachable } from '../../kernel/unreachable.ts';

export type CheckFault =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'timeout'; readonly afterMs: number }
  /** It raised the signal: no other process sent it. */
  | { readonly kind: 'crash'; readonly signal: string }
  /** The tree lacks the program. */
  | { readonly kind: 'missing'; readonly program: string }
  | { readonly kind: 'not_executable'; readonly program: string }
  /** The tree lacks the folder that it runs in. */
  | { readonly kind: 'no_folder'; readonly folder: string }
  /** Words that follow its name: faults of the machine or of copse.yml. */
  | { readonly kind: 'other'; readonly text: string };

export interface FaultyCheck {
  readonly name: string;
  /** The command of the set-up, if that failed and no check ran. */
  readonly setup?: string;
  readonly fault: CheckFault;
}

export interface LoggedFault extends FaultyCheck {
  /** The file with its output. */
  readonly log: string | null;
}

interface FaultOptions {
  /** A second run ended in the same way. */
  readonly isRetried?: boolean;
  /** Follows what happened. */
  readonly where?: string;
}

/** Follows the name of the check. */
export function faultClause(fault: CheckFault, { isRetried = false }: FaultOptions = {}): string {
  const retried = isRetried ? ' (retried once)' : '';
  switch (fault.kind) {
    case 'exit':
      return `failed (${exitText(fault.code)}${isRetried ? '; retried once' : ''})`;
    case 'timeout':
      return `timed out after ${seconds(fault.afterMs)}${retried}`;
    case 'crash':
      return `crashed with ${fault.signal}${retried}`;
    case 'missing':
      return `needs ${fault.program}, which this commit does not have`;
    case 'not_executable':
      return `needs ${fault.program}, which is not executable in this commit`;
    case 'no_folder':
      return `runs in ${fault.folder}, which is not a folder in this commit`;
    case 'other':
      return fault.text;
    default:
      return unreachable(fault);
  }
}

/** In a sentence. */
export function faultText({ name, setup, fault }: FaultyCheck, options: FaultOptions = {}): string {
  const happened = `${faultClause(fault, options)}${options.where ?? ''}`;
  return setup === undefined ? `Check "${name}" ${happened}.` : `The set-up ${happened}: ${setup}`;
}

/** 126 and 127 are what a shell says of a command that it cannot start. */
export function exitText(code: number): string {
  if (code === 127) return 'exit code 127: command not found';
  return code === 126 ? 'exit code 126: command cannot be executed' : `exit code ${code}`;
}

function seconds(ms: number): string {
  return ms < 120_000 ? `${ms / 1_000} s` : `${Math.round(ms / 60_000)} minutes`;
}
