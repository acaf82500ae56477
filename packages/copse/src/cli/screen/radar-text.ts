/** The line of a task with its collisions at the end, as far as the terminal has room. */

import { stripVTControlCharacters } from 'node:util';

import { collisionForms } from '../../explain/rules/collisions.ts';
import type { Finding } from '../../radar/rules/radar.ts';
import type { Output } from '../output.ts';

export function withCollisions(line: string, findings: readonly Finding[], output: Output): string {
  if (findings.length === 0) return line;
  const forms = collisionForms(findings);
  const [first = '', ...below] = line.split('\n');
  const room = output.columns() - stripVTControlCharacters(first).length - 2;
  const mark = forms.find((form) => form.length <= room) ?? forms[2];
  if (mark === '') return line;
  const style = forms[2] === '' ? 'dim' : 'yellow';
  return [`${first}  ${output.style(style, mark)}`, ...below].join('\n');
}
