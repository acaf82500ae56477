import { readFileSync } from 'node:fs';
import path from 'node:path';

import { writeAtomically } from './write-atomically.ts';

/** One JSON file in `.copse`. `load` is undefined if it is missing or damaged. */
export function openMemory<T>(home: string, name: string): { load(): T | undefined; save(value: T): void } {
  const file = path.join(home, '.copse', `${name}.json`);
  return {
    load() {
      try {
        return JSON.parse(readFileSync(file, 'utf8')) as T;
      } catch {
        return undefined;
      }
    },
    save(value) {
      writeAtomically(file, JSON.stringify(value));
    },
  };
}
