/**
 * An agent's report about its work, in `.copse/session.json` or by a command. Any program may write it: known fields are
 * taken, the others are listed as ignored.
 *
 *   phase            how far the agent is; recorded at once
 *   status           `finished` or `stuck`; the runner acts on it when the agent's process has ended
 *   noChanges        with `finished`: nothing had to be done
 *   reason           with `stuck`: the question for a person
 *   summary          with `finished`: what was done, for the commit message and the pull request
 *   triedToFinish    the agent ran `copse finish` and was refused; written by that command
 *   ledger           entries for the next agent; each is recorded once
 *   artifacts        results: {"file": …} in the folder of the task, or {"uri": …}; each is recorded once, at the finish
 *   heartbeat        any text or number; read and not used
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

/** Either a file or a URI. */
export interface ReportedArtifact {
  readonly file?: string;
  readonly uri?: string;
  readonly title?: string;
}

export interface Report {
  readonly phase?: OpenPhase;
  readonly status?: ReportStatus;
  readonly noChanges?: boolean;
  readonly reason?: string;
  readonly summary?: string;
  readonly triedToFinish?: boolean;
  readonly ledger?: readonly ReportedEntry[];
  readonly artifacts?: readonly ReportedArtifact[];
  readonly heartbeat?: string;
}

export type ReportSeen =
  | {
      readonly kind: 'report';
      readonly report: Report;
      /** One sentence for each field that was not understood. */
      readonly ignored: readonly string[];
    }
  | { readonly kind: 'problem'; readonly problem: string };

/** Undefined for an empty file, which a program may be about to write. */
export function parseReport(text: string): ReportSeen | undefined {
  const json = text.replace(/^\uFEFF/, '').trim();
  if (json === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return {
      kind: 'problem',
      problem: `It is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  if (!isRecord(value))
    return { kind: 'problem', problem: 'It must be one JSON object, for example {"status": "finished"}.' };
  return reportFrom(value);
}

/**
 * The text of the file with the new report merged in. Unknown fields stay, ledger entries are added, and a new status removes
 * the old one together with its reason and summary.
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
  const artifacts = artifactsOf(value['artifacts'], ignored);
  const heartbeat = heartbeatOf(value['heartbeat'], ignored);
  const report: Report = {
    ...(phase !== undefined && { phase }),
    ...(status !== undefined && { status }),
    ...(noChanges !== undefined && { noChanges }),
    ...(reason !== undefined && { reason }),
    ...(summary !== undefined && { summary }),
    ...(triedToFinish !== undefined && { triedToFinish }),
    ...(ledger !== undefined && { ledger }),
    ...(artifacts !== undefined && { artifacts }),
    ...(heartbeat !== undefined && { heartbeat }),
  };
  return { kind: 'report', report, ignored };
}

/** Null counts as absent. */
function oneOf<T extends string>(
  value: unknown,
  known: readonly T[],
  name: string,
  ignored: string[],
): T | undefined {
  if (value == null) return undefined;
  const found = known.find((one) => one === value);
  if (found === undefined) ignored.push(`${name} is ${brief(value)}: it must be one of ${known.join(', ')}.`);
  return found;
}

function flag(value: unknown, name: string, ignored: string[]): boolean | undefined {
  if (value == null || typeof value === 'boolean') return value ?? undefined;
  ignored.push(`${name} is ${brief(value)}: it must be true or false.`);
  return undefined;
}

function textOf(value: unknown, name: string, ignored: string[]): string | undefined {
  if (value == null || typeof value === 'string') return value ?? undefined;
  ignored.push(`${name} is ${brief(value)}: it must be text.`);
  return undefined;
}

function heartbeatOf(value: unknown, ignored: string[]): string | undefined {
  return textOf(typeof value === 'number' ? String(value) : value, 'heartbeat', ignored);
}

function entriesOf(value: unknown, ignored: string[]): readonly ReportedEntry[] | undefined {
  if (value == null) return undefined;
  if (!Array.isArray(value)) {
    ignored.push('ledger must be a list of {"kind": …, "text": …}.');
    return undefined;
  }
  const most = defaultPolicy.text.listLength;
  if (value.length > most)
    ignored.push(`ledger has ${value.length} entries; only the first ${most} were read.`);
  return value.slice(0, most).flatMap((entry: unknown, index) => entryOf(entry, `ledger[${index}]`, ignored));
}

function entryOf(value: unknown, name: string, ignored: string[]): readonly ReportedEntry[] {
  if (!isRecord(value)) {
    ignored.push(`${name} is ${brief(value)}: it must be {"kind": …, "text": …}.`);
    return [];
  }
  const kind = oneOf(value['kind'] ?? 'learning', ledgerKinds, `${name}.kind`, ignored);
  const text = textOf(value['text'], `${name}.text`, ignored);
  if (kind === undefined || text === undefined || text.trim() === '') return [];
  return [{ kind, text }];
}

function artifactsOf(value: unknown, ignored: string[]): readonly ReportedArtifact[] | undefined {
  if (value == null) return undefined;
  if (!Array.isArray(value)) {
    ignored.push('artifacts must be a list of {"file": …} or {"uri": …}.');
    return undefined;
  }
  const most = defaultPolicy.artifacts.perTask;
  if (value.length > most)
    ignored.push(`artifacts has ${value.length} entries; only the first ${most} were read.`);
  return value
    .slice(0, most)
    .flatMap((entry: unknown, index) => artifactOf(entry, `artifacts[${index}]`, ignored));
}

function artifactOf(value: unknown, name: string, ignored: string[]): readonly ReportedArtifact[] {
  if (!isRecord(value)) {
    ignored.push(`${name} is ${brief(value)}: it must be {"file": …} or {"uri": …}.`);
    return [];
  }
  const file = textOf(value['file'], `${name}.file`, ignored);
  const uri = textOf(value['uri'], `${name}.uri`, ignored);
  const title = textOf(value['title'], `${name}.title`, ignored);
  if ((file === undefined) === (uri === undefined)) {
    ignored.push(`${name} must have either a file or a uri.`);
    return [];
  }
  return [
    {
      ...(file !== undefined && { file }),
      ...(uri !== undefined && { uri }),
      ...(title !== undefined && { title }),
    },
  ];
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
