/**
 * An operation: one thing that a person, an agent or another program can do or read. The command line, HTTP, MCP and the
 * library derive from it.
 *
 * Its description is text only, because every command loads all of them. Its code is loaded by `load`, and its shapes, which
 * need zod, by `shape`: the command line never asks for those.
 */

import type { ZodType, z } from 'zod';

import type { Access } from './access.ts';

type Caller = 'person' | 'session' | 'trigger';

export interface Operation<Input = never, Result = unknown, View = unknown> {
  /** A noun and what is done with it: `task.pause`. */
  readonly name: string;
  /** `Pause a task`. */
  readonly title: string;
  /** One sentence; help, man pages and the API print it. */
  readonly description: string;
  /** Its path in the command line, `queue front`. */
  readonly command: string;
  readonly effect: 'reads' | 'changes' | 'destroys';
  /** Of one that destroys: how a person brings it back, or what stays. */
  readonly undo?: string;
  readonly callers: readonly Caller[];
  /** A second call with the same input changes nothing more. */
  readonly isRepeatable: boolean;
  /** It adds something new each time, so a caller may give an idempotency key. */
  readonly creates?: true;
  /** It takes more than the usual size of a request. */
  readonly hasLargeInput?: true;
  /** Below the root of the API. `{task}` is a field of the input. */
  readonly http: { readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; readonly path: `/${string}` };
  readonly load: () => Promise<Performed<Input, Result, View>>;
  readonly shape: () => Promise<OperationShape>;
}

/** It prints nothing. What was done is a result, from which each surface makes its own text. */
interface Performed<Input, Result, View> {
  act(this: void, access: Access, input: Input): Promise<Result>;
  /** What `--json`, HTTP, MCP and the library return. */
  view(this: void, result: Result): View;
}

/** Both refuse fields that they do not know. */
export interface OperationShape {
  readonly input: ZodType;
  readonly output: ZodType;
}

type Loaded<T> = T extends { readonly load: () => Promise<infer L> } ? L : never;
type Shaped<T> = T extends { readonly shape: () => Promise<infer S extends OperationShape> } ? S : never;

type InputFits<T> =
  Loaded<T> extends { act(access: never, input: infer I): unknown }
    ? z.output<Shaped<T>['input']> extends I
      ? true
      : 'act does not take what the shape accepts'
    : never;

type OutputFits<T> =
  Loaded<T> extends { view(result: never): infer V }
    ? V extends Frozen<z.input<Shaped<T>['output']>>
      ? true
      : 'view returns what the shape refuses'
    : never;

type Frozen<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends readonly (infer E)[]
      ? readonly Frozen<E>[]
      : { readonly [K in keyof T]: Frozen<T[K]> };

/** What it takes and returns is what its shape says: the compiler refuses any other. */
export type Fitting<T> =
  InputFits<T> extends true ? (OutputFits<T> extends true ? Operation : OutputFits<T>) : InputFits<T>;
