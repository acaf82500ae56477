/** What a person reads before an operation that destroys. */

import described from 'virtual:destroying';

import type { OperationName } from './operations.ts';

export interface Confirmation {
  readonly title: string;
  readonly text: string;
}

const questions = new Map(described as readonly (readonly [OperationName, Confirmation])[]);

export function questionBefore(name: OperationName): Confirmation | undefined {
  return questions.get(name);
}
