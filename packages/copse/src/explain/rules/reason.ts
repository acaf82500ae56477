/** Why a task waits, in one line for lists. A line that ends with … has more to it: `copse why` shows all. */

import type { Attention, Question, Session } from '../../agents/rules/session/session.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { splitFirstStep } from '../../kernel/shell.ts';
import { summarise } from '../../review/rules/pull-request.ts';
import type { TaskSummary } from '../../tasks/rules/task.ts';
import { age } from './amounts.ts';
import {
  attentionText,
  beginsWithClause,
  capitalised,
  failureText,
  firstLine,
  resolvedByText,
  statusTexts,
  stuckClauseNow,
} from './status.ts';

/** What the board knows beside the task itself. */
export interface ReasonFacts {
  readonly session?: Pick<Session, 'agent' | 'state' | 'finish'> | undefined;
  /** Its open question. */
  readonly question?: (Pick<Question, 'tool' | 'what'> & { readonly since: Timestamp }) | undefined;
  /** What its agent said when it began to wait. */
  readonly message?: string | null;
  /** Where it stands in the queue. */
  readonly place?: string | null;
  /** Why its work does not reach the remote. */
  readonly travelProblem?: string | null;
  /** Where its agent runs, if there are several nodes. */
  readonly node?: string | undefined;
}

/** Null when its status says enough. */
export function reasonLine(task: TaskSummary, facts: ReasonFacts, now: Timestamp): string | null {
  const { state } = task;
  switch (state.status) {
    case 'in_progress':
      return waitsLine(facts, now);
    case 'landing':
      return facts.place ? oneLine(facts.place) : null;
    case 'cancelled':
      return state.reason === null ? null : oneLine(state.reason);
    case 'failed':
      return capitalised(`${failureText(task.retries)}: ${firstLine(state.reason)}`);
    case 'needs_attention': {
      const reason = stopReason(task)?.reason ?? '';
      const isClause = state.resolver !== undefined || beginsWithClause(state);
      return isClause ? capitalised(reason) : reason;
    }
    default:
      return stopReason(task, facts.session?.finish?.summary)?.reason ?? null;
  }
}

interface StopReason {
  /** What its status means. Lines that show the status leave it out. */
  readonly clause: string | null;
  readonly reason: string;
}

/** Why a task stopped before it landed; null when it did not. `summary`: the last words of its agent. */
export function stopReason({ id, state, retries }: TaskSummary, summary = ''): StopReason | null {
  switch (state.status) {
    case 'in_review':
      return {
        clause: null,
        reason:
          oneLine(state.pullRequest === null ? summary : summarise(state.pullRequest)) ||
          statusTexts.in_review,
      };
    case 'needs_attention':
      return {
        clause: null,
        reason: oneLine(state.resolver === undefined ? attentionText(state) : resolvedByText(state.resolver)),
      };
    case 'stuck':
      return { clause: stuckClauseNow({ id, state }), reason: oneLine(withoutFirstStep(state)) };
    case 'failed':
      return { clause: failureText(retries), reason: firstLine(state.reason) };
    default:
      return null;
  }
}

/** The command that comes first is among the next steps. */
export function withoutFirstStep({
  isByCopse,
  reason,
}: Extract<TaskSummary['state'], { status: 'stuck' }>): string {
  return isByCopse ? splitFirstStep(reason).reason : reason;
}

const attentions: Readonly<Record<Attention, string>> = {
  permission: 'waits for permission',
  idle: 'waits for you',
};

function waitsLine(
  { question, session, message, travelProblem }: ReasonFacts,
  now: Timestamp,
): string | null {
  if (question !== undefined) return questionClause(question, ` (waiting ${age(question.since, now)})`);
  const attention = session?.state.life === 'live' ? session.state.attention : null;
  if (attention === null) return travelProblem ? oneLine(travelProblem) : null;
  return waitingClause(attention, message);
}

/** An agent that waits for a person and asks no question that Copse could answer. */
export function waitingClause(attention: Attention, message?: string | null): string {
  return message ? `${attentions[attention]}: ${oneLine(message)}` : attentions[attention];
}

/** In one line; `waited` comes after the tool. */
export function questionClause({ tool, what }: Pick<Question, 'tool' | 'what'>, waited = ''): string {
  return `asks to use ${oneLine(tool)}${waited}: ${oneLine(what)}`.trimEnd();
}

/** The first line that says something; … stands for the others. */
export function oneLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const first = lines.findIndex((line) => line !== '');
  if (first === -1) return '';
  const line = (lines[first] ?? '').replace(/[:;]$/, '');
  const hasMore = lines.slice(first + 1).some((other) => other !== '');
  return hasMore ? `${line.replace(/\.$/, '')} …` : line;
}

/** Why an agent or a sandbox cannot be used, and the command at the end of it that installs the missing program. */
export function splitInstall(reason: string): { readonly found: string; readonly install: string | null } {
  const [, found, install] =
    /^(.*?)(?:\. Install it)?: ((?:npm|apt|brew) install [^:]+?)\.?$/.exec(reason) ?? [];
  return found === undefined || install === undefined
    ? { found: reason, install: null }
    : { found: `${found}.`, install };
}
