/** How colliding branches look on a terminal. */

import { stripVTControlCharacters } from 'node:util';

import type { Finding, PairVerdict } from '../../radar/rules/radar.ts';
import { shown } from '../../kernel/text.ts';
import type { Output } from '../output.ts';

/** The line of a task with its collisions at the end: in words, or only by their ids, or as a mark, as there is room. */
export function withCollisions(line: string, findings: readonly Finding[], output: Output): string {
  if (findings.length === 0) return line;
  const conflicts = idsOf(findings, ({ kind }) => kind === 'conflict');
  // What conflicted before and moved since: whether it still does is not known.
  const unknown = idsOf(
    findings,
    (verdict) => verdict.kind === 'pending' && verdict.was?.kind === 'conflict',
  );
  const overlaps = idsOf(findings, ({ kind }) => kind === 'overlap');
  const forms = [
    [
      worded(conflicts, '≠ conflicts with'),
      worded(unknown, '≠? not looked at yet:'),
      worded(overlaps, '~ same files as'),
    ],
    [worded(conflicts, '≠'), worded(unknown, '≠?'), worded(overlaps, '~')],
    [conflicts.length > 0 ? '≠' : ''],
  ].map((words) => words.filter((word) => word !== '').join('  '));
  const [first = '', ...below] = line.split('\n');
  const room = output.columns() - stripVTControlCharacters(first).length - 2;
  const mark = forms.find((form) => form.length <= room) ?? forms.at(-1) ?? '';
  if (mark === '') return line;
  const style = conflicts.length > 0 ? 'yellow' : 'dim';
  return [`${first}  ${output.style(style, mark)}`, ...below].join('\n');
}

function idsOf(findings: readonly Finding[], fits: (verdict: PairVerdict) => boolean): readonly string[] {
  return findings.filter(({ verdict }) => fits(verdict)).map(({ other }) => other);
}

const NAMED = 3;

function worded(ids: readonly string[], words: string): string {
  if (ids.length === 0) return '';
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : '';
  return `${words} ${ids.slice(0, NAMED).join(', ')}${more}`;
}

const LISTED = 5;

export function verdictText(verdict: PairVerdict): string {
  if (verdict.kind === 'pending') return 'not looked at yet';
  if (verdict.kind === 'apart') return 'nothing in common';
  const rest = verdict.files.length + verdict.omitted - LISTED;
  const more = rest > 0 ? ` and ${rest} more` : '';
  return `${verdict.files.slice(0, LISTED).map(inLine).join(', ')}${more}`;
}

/** A name of a file may have more than one line. */
function inLine(file: string): string {
  return shown(file).replaceAll('\n', String.raw`\n`);
}
