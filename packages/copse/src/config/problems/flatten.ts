/** The effective configuration, one row per key, for `copse config`. Secrets are hidden. */
import { alternativesFor, child, configJsonSchema, valueOf, type SchemaNode } from './describe.ts';
import { formatPath, redact } from './problems.ts';
import type { Path } from './read.ts';

export interface ConfigRow {
  readonly key: string;
  /** As one would write it in the file: `30s`, not 30000. */
  readonly value: unknown;
  readonly from: 'default' | 'copse.yml';
}

/** Keys without a value and without a default are left out. */
export function flattenConfig(written: Readonly<Record<string, unknown>>): readonly ConfigRow[] {
  return rowsOf(configJsonSchema(), written, []);
}

function rowsOf(node: SchemaNode, written: unknown, path: Path): readonly ConfigRow[] {
  const value = written ?? node.default;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const mapping = alternativesFor(node, value).find(
      (option) => option.properties ?? option.additionalProperties,
    );
    const known = Object.keys(mapping?.properties ?? {});
    const keys = new Set([...known, ...Object.keys(value)]);
    return [...keys].flatMap((key) => {
      const below = mapping === undefined ? undefined : child(mapping, key);
      return below === undefined ? [] : rowsOf(below, valueOf(value, key), [...path, key]);
    });
  }
  if (value === undefined) return [];
  return [
    {
      key: formatPath(path),
      value: shown(node, value),
      from: written === undefined ? 'default' : 'copse.yml',
    },
  ];
}

function shown(node: SchemaNode, value: unknown): unknown {
  if (node.writeOnly === true) return '(hidden)';
  return typeof value === 'string' ? redact(value) : value;
}
