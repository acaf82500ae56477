import path from 'node:path';

import { defaultPolicy } from '../policy.ts';
import { readIfThere } from './plain-file.ts';
import { writeAtomically } from './write-atomically.ts';

/** One JSON file in `.copse`. `load` is undefined if it is missing or damaged. */
export function openMemory<T>(home: string, name: string): { load(): T | undefined; save(value: T): void } {
  const file = path.join(home, '.copse', `${name}.json`);
  return {
    load() {
      try {
        return JSON.parse(readIfThere(file, { mostBytes: defaultPolicy.files.packedRefsBytes }) ?? '') as T;
      } catch {
        return undefined;
      }
    },
    save(value) {
      writeAtomically(file, JSON.stringify(value));
    },
  };
}
