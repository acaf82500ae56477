/**
 * Quantities in `copse.yml` carry their unit: `30s`, `2GB`, `85%`. A number without a unit is refused, with the
 * unit to write. Parsed values are milliseconds, bytes and shares.
 */
import * as z from 'zod';
import { BYTES_PER_UNIT, MS_PER_UNIT, rules } from './shape/rules.ts';

/** A length of time above zero, in milliseconds once parsed. */
export const duration = z
  .string({ error: (issue) => explainDuration(issue.input) })
  .regex(/^[1-9]\d{0,6}(ms|s|m|h|d)$/, { error: (issue) => explainDuration(issue.input) })
  .transform(rules.changes.milliseconds)
  .meta({ title: 'duration' });

/** Like `duration`, and `0` is allowed. */
export const durationOrZero = z
  .union([z.literal([0, '0']).transform(rules.changes.zero), duration], {
    error: (issue) => explainDuration(issue.input),
  })
  .meta({ title: 'duration' });

export const size = z
  .string({ error: (issue) => explainSize(issue.input) })
  .regex(/^\d{1,6}(KB|MB|GB)$/, { error: (issue) => explainSize(issue.input) })
  .transform(rules.changes.bytes)
  .meta({ title: 'size' });

/** A percentage from 1% to 100%, a share between 0 and 1 once parsed. */
export const share = z
  .string({ error: (issue) => explainShare(issue.input) })
  .regex(/^([1-9]\d?|100)%$/, { error: (issue) => explainShare(issue.input) })
  .transform(rules.changes.share)
  .meta({ title: 'percentage' });

/** The shortest exact form, which `duration` parses as the same number. */
export function formatDuration(ms: number): string {
  return ms === 0 ? '0' : inLargestUnit(ms, MS_PER_UNIT);
}

export function formatSize(bytes: number): string {
  return inLargestUnit(bytes, BYTES_PER_UNIT);
}

export function formatShare(value: number): string {
  return `${Math.round(value * 100)}%`;
}

function inLargestUnit(amount: number, units: Readonly<Record<string, number>>): string {
  for (const [unit, factor] of Object.entries(units)) {
    if (amount % factor === 0) return `${amount / factor}${unit}`;
  }
  throw new Error(`${amount} cannot be written in whole units`);
}

function explainDuration(input: unknown): string {
  if (typeof input === 'number' && Number.isInteger(input) && input > 0) {
    return `needs a unit: write ${input}s for seconds or ${input}m for minutes`;
  }
  if (input === 0 || input === '0') return 'must be longer than 0';
  return 'must be a duration such as 500ms, 30s, 5m, 6h or 7d';
}

function explainSize(input: unknown): string {
  if (typeof input === 'number' && Number.isInteger(input) && input > 0) {
    return `needs a unit: write ${input}MB or ${input}GB`;
  }
  return 'must be a size such as 512MB or 2GB';
}

function explainShare(input: unknown): string {
  if (typeof input === 'number' && input > 0 && input <= 100) {
    return `needs a unit: write ${formatShare(input <= 1 ? input : input / 100)}`;
  }
  return 'must be a percentage from 1% to 100%';
}
