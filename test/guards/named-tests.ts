/** Tests that a page of documents names as `file › name`. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { testNames } from '../../scripts/generate-evidence.ts';
import { projectRoot } from './working-copy.ts';

export interface NamedTest {
  readonly file: string;
  readonly name: string;
}

export function testsNamedIn(text: string): readonly NamedTest[] {
  return Array.from(text.matchAll(/`(\S+) › ([^`]+)`/g), ([, file = '', name = '']) => ({ file, name }));
}

export function isThere({ file, name }: NamedTest): boolean {
  return namesIn(file).has(name);
}

const namesByFile = new Map<string, ReadonlySet<string>>();

function namesIn(file: string): ReadonlySet<string> {
  const known = namesByFile.get(file);
  if (known !== undefined) return known;
  const place = join(projectRoot, file);
  const names = existsSync(place) ? testNames(readFileSync(place, 'utf8')) : [];
  const found = new Set(names.map((name) => (name.split(' > ').at(-1) ?? '').replaceAll('`', "'")));
  namesByFile.set(file, found);
  return found;
}
