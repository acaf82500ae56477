/** Every operation of the registry, as the page calls it: names, inputs and outputs are types of the registry itself. */

import described from 'virtual:operations';
import type { z } from 'zod';

import type { OperationShape } from '../../../copse/src/operations/operation.ts';
import type { RegisteredOperation } from '../../../copse/src/operations/registry.ts';

export interface DescribedOperation {
  readonly name: OperationName;
  readonly destroys?: true;
  readonly creates?: true;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
}

export type OperationName = RegisteredOperation['name'];

type Named<N extends OperationName> = Extract<RegisteredOperation, { readonly name: N }>;
type ShapeOf<N extends OperationName> =
  Named<N> extends { readonly shape: () => Promise<infer S extends OperationShape> } ? S : never;

export type InputOf<N extends OperationName> = z.input<ShapeOf<N>['input']>;
export type OutputOf<N extends OperationName> = z.output<ShapeOf<N>['output']>;

const operations: ReadonlyMap<OperationName, DescribedOperation> = new Map(
  (described as readonly DescribedOperation[]).map((operation) => [operation.name, operation]),
);

export function operationOf(name: OperationName): DescribedOperation {
  const operation = operations.get(name);
  if (operation === undefined) throw new Error(`The registry has no ${name} for people`);
  return operation;
}
