/**
 * What an agent says about its work, in `.copse/session.json` or through the command line. It is written by programs of
 * all kinds, so what can be understood is taken and the rest is named; nothing in it is believed to be complete.
 */

import { ledgerKinds } from '../../../tasks/rules/ledger.ts';
import { type OpenPhase, openPhases } from './session.ts';
import { defaultPolicy } from '../../../kernel/policy.ts';

const reportStatuses = ['finished', 'stuck'] as const;
type ReportStatus = (typeof reportStatuses)[number];

interface ReportedEntry {
  readonly kind: (typeof ledgerKinds)[number];
  readonly text: string;
}

export interface Report {
  readonly phase?: OpenPhase;
  readonly status?: ReportStatus;
  /** Finished because there was nothing to do. */
  readonly noChanges?: boolean;
  /** Why it is stuck. */
  readonly reason?: string;
  readonly summary?: string;
  /** It said that it is finished and was told what is missing; written by the command that refused. */
  readonly triedToFinish?: boolean;
  readonly ledger?: readonly ReportedEntry[];
  /** Whatever the agent writes to show that it is alive, as text. */
  readonly heartbeat?: string;
}

export type ReportSeen =
  | {
      readonly report: Report;
      /** Sentences about what was left out. */
      readonly ignored: readonly string[];
    }
  | { readonly problem: string };

/** Undefined when it says nothing at all, as a file does that is about to be written. */
export function parseReport(text: string): ReportSeen | undefined {
  const json = text.replace(/^\uFEFF/, '').trim();
  if (json === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { problem: `It is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (!isRecord(value)) return { problem: 'It has to be one JSON object, such as {"status": "finished"}.' };
  return reportFrom(value);
}

/**
 * What is there with the new report on top, as it is written: fields that Copse does not know stay. A new status takes
 * the place of the old one with all that was said about it, and ledger entries are added.
 */
export function mergeReport(before: string, report: Report): string {
  const old = recordIn(before);
  const {
    status: _,
    noChanges: _1,
    reason: _2,
    summary: _3,
    no_changes: _4,
    triedToFinish: _5,
    ...rest
  } = old;
  const kept = report.status === undefined ? old : rest;
  const earlier: readonly unknown[] = Array.isArray(old['ledger']) ? old['ledger'] : [];
  const ledger = report.ledger && [...earlier, ...report.ledger];
  return `${JSON.stringify({ ...kept, ...report, ...(ledger && { ledger }) }, null, 2)}\n`;
}

function recordIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function reportFrom(value: Readonly<Record<string, unknown>>): ReportSeen {
  const ignored: string[] = [];
  const phase = oneOf(value['phase'], openPhases, 'phase', ignored);
  const status = oneOf(value['status'], reportStatuses, 'status', ignored);
  const noChanges = flag(value['noChanges'] ?? value['no_changes'], 'noChanges', ignored);
  const triedToFinish = flag(value['triedToFinish'], 'triedToFinish', ignored);
  const reason = textOf(value['reason'], 'reason', ignored);
  const summary = textOf(value['summary'], 'summary', ignored);
  const ledger = entriesOf(value['ledger'], ignored);
  const heartbeat = heartbeatOf(value['heartbeat'], ignored);
  const report: Report = {
    ...(phase !== undefined && { phase }),
    ...(status !== undefined && { status }),
    ...(noChanges !== undefined && { noChanges }),
    ...(reason !== undefined && { reason }),
    ...(summary !== undefined && { summary }),
    ...(triedToFinish !== undefined && { triedToFinish }),
    ...(ledger !== undefined && { ledger }),
    ...(heartbeat !== undefined && { heartbeat }),
  };
  return { report, ignored };
}

/** Left out and null are the same: nothing is said. */
function oneOf<T extends string>(
  value: unknown,
  known: readonly T[],
  name: string,
  ignored: string[],
): T | undefined {
  if (value == null) return undefined;
  const found = known.find((one) => one === value);
  if (found === undefined)
    ignored.push(`${name} is ${brief(value)}, and has to be one of ${known.join(', ')}.`);
  return found;
}

function flag(value: unknown, name: string, ignored: string[]): boolean | undefined {
  if (value == null || typeof value === 'boolean') return value ?? undefined;
  ignored.push(`${name} is ${brief(value)}, and has to be true or false.`);
  return undefined;
}

function textOf(value: unknown, name: string, ignored: string[]): string | undefined {
  if (value == null || typeof value === 'string') return value ?? undefined;
  ignored.push(`${name} is ${brief(value)}, and has to be text.`);
  return undefined;
}

function heartbeatOf(value: unknown, ignored: string[]): string | undefined {
  return textOf(typeof value === 'number' ? String(value) : value, 'heartbeat', ignored);
}

function entriesOf(value: unknown, ignored: string[]): readonly ReportedEntry[] | undefined {
  if (value == null) return undefined;
  if (!Array.isArray(value)) {
    ignored.push('ledger has to be a list of {"kind": …, "text": …}.');
    return undefined;
  }
  const most = defaultPolicy.text.listLength;
  if (value.length > most)
    ignored.push(`ledger has ${value.length} entries, and the first ${most} were read.`);
  return value.slice(0, most).flatMap((entry: unknown, index) => entryOf(entry, `ledger[${index}]`, ignored));
}

function entryOf(value: unknown, name: string, ignored: string[]): readonly ReportedEntry[] {
  if (!isRecord(value)) {
    ignored.push(`${name} is ${brief(value)}, and has to be {"kind": …, "text": …}.`);
    return [];
  }
  const kind = oneOf(value['kind'] ?? 'learning', ledgerKinds, `${name}.kind`, ignored);
  const text = textOf(value['text'], `${name}.text`, ignored);
  if (kind === undefined || text === undefined || text.trim() === '') return [];
  return [{ kind, text }];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function brief(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isRecord(value)) return 'an object';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
