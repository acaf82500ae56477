/** Every document that a test reads with `answer` has the shape that its operation promises. */

import { expect } from 'vitest';

import type { OperationShape } from '../../../packages/copse/src/operations/operation.ts';
import { operations } from '../../../packages/copse/src/operations/registry.ts';

const aliases: Readonly<Record<string, string>> = { ls: 'list', rm: 'delete', prd: 'plan' };

/** Loaded once for each process, because zod takes a while. */
const shapes = new Map<string, Promise<OperationShape>>();

export async function expectInShape(argv: readonly string[], document: unknown): Promise<void> {
  const [first = '', second = ''] = argv;
  const command = aliases[first] ?? first;
  const meant = operations.filter((one) => one.command === command || one.command === `${command} ${second}`);
  if (meant.length === 0) return;
  const problems: unknown[] = [];
  for (const { name, shape } of meant) {
    const loaded = shapes.get(name) ?? shape();
    shapes.set(name, loaded);
    const parsed = (await loaded).output.safeParse(document);
    if (parsed.success) return;
    problems.push({ operation: name, issues: parsed.error.issues });
  }
  expect({ argv, problems }).toEqual({ argv, problems: [] });
}
