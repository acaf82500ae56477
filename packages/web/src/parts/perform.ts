/** Calls an operation and shows what came of it. Apart from its buttons, which the first paint of the board does not need. */

import { useState } from 'react';

import type { Client } from '../api/client.ts';
import type { InputOf, OperationName, OutputOf } from '../api/operations.ts';
import { Problem } from '../api/problem.ts';
import { useDesk } from '../store/hooks.tsx';
import { type Toast, useToast } from './toasts.tsx';

interface PerformOptions {
  readonly onDone?: (() => void) | undefined;
  /** The command line with the text that was typed: a refusal shows it, so that the text is not lost. */
  readonly command?: string | undefined;
}

type Perform = <N extends OperationName>(
  name: N,
  input: InputOf<N>,
  done: (output: OutputOf<N>) => Toast,
  options?: PerformOptions,
) => void;

export function usePerform(): readonly [boolean, Perform] {
  const { client } = useDesk();
  const toast = useToast();
  const [isBusy, setBusy] = useState(false);
  const perform: Perform = (name, input, done, options) => {
    setBusy(true);
    void performWith({ client, toast }, name, input, done, options).then(() => setBusy(false));
  };
  return [isBusy, perform];
}

interface Performer {
  readonly client: Client;
  readonly toast: (toast: Toast) => void;
}

/** Where the hook would be too early, as for what is loaded when it is done. */
export async function performWith<N extends OperationName>(
  { client, toast }: Performer,
  name: N,
  input: InputOf<N>,
  done: (output: OutputOf<N>) => Toast,
  { onDone, command }: PerformOptions = {},
): Promise<void> {
  try {
    toast(done(await client.call(name, input)));
    onDone?.();
  } catch (error) {
    const next = [
      ...(error instanceof Problem ? error.next : []),
      ...(command === undefined ? [] : [command]),
    ];
    toast({ text: error instanceof Error ? error.message : String(error), isProblem: true, next });
  }
}
