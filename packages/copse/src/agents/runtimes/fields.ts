/** Reads fields of a program's output without trusting its shape: a field of another type counts as missing. */

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function fields(of: unknown, name: string): Fields | undefined {
  const value = isFields(of) ? of[name] : undefined;
  return isFields(value) ? value : undefined;
}

export function text(of: unknown, name: string): string | undefined {
  const value = isFields(of) ? of[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}

export function number(of: unknown, name: string): number | undefined {
  const value = isFields(of) ? of[name] : undefined;
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** Never negative; 0 when missing. */
export function count(of: unknown, name: string): number {
  return Math.max(0, number(of, name) ?? 0);
}

export function list(of: unknown, name: string): readonly unknown[] {
  const value = isFields(of) ? of[name] : undefined;
  return Array.isArray(value) ? value : [];
}
