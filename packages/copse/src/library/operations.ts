/**
 * The methods of the library, as types of the registry: `task.add_item` is `copse.task.addItem`. The published package has
 * scripts/library/types.ts write these types out, because it has no zod.
 */

import type { z } from 'zod';

import type { OperationShape } from '../operations/operation.ts';
import type { RegisteredOperation } from '../operations/registry.ts';

/** Every operation of the registry. */
export type Operations = {
  readonly [Group in GroupOf<RegisteredOperation['name']>]: {
    readonly [O in RegisteredOperation as MethodOf<O['name'], Group>]: Called<ShapeOf<O>>;
  };
};

type GroupOf<Name extends string> = Name extends `${infer Group}.${string}` ? Group : never;
type MethodOf<Name extends string, Group extends string> = Name extends `${Group}.${infer Method}`
  ? Joined<Method>
  : never;
type Joined<Words extends string> = Words extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Joined<Rest>>}`
  : Words;

type ShapeOf<O> = O extends { readonly shape: () => Promise<infer S extends OperationShape> } ? S : never;

type Called<S extends OperationShape> =
  MayBeAbsent<z.input<S['input']>> extends true
    ? (input?: z.input<S['input']>) => Promise<z.output<S['output']>>
    : (input: z.input<S['input']>) => Promise<z.output<S['output']>>;

/** An input whose fields are all optional, or that has none. */
type MayBeAbsent<Input> =
  Input extends Record<string, never> ? true : Partial<Input> extends Input ? true : false;
