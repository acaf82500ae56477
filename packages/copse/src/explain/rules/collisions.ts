/** Branches that conflict or change the same files, in words: for `why`, `list` and `radar`. */

import { shown } from '../../kernel/text.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import type { Finding, Pair, PairVerdict } from '../../radar/rules/radar.ts';

/** For `why`. `other` is an id, or an id with its title. */
export function describeCollision(other: string, verdict: PairVerdict): string {
  switch (verdict.kind) {
    case 'conflict':
      return `It conflicts with ${other} in ${filesText(verdict, 10)}: the one that lands second must resolve the conflict.`;
    case 'overlap':
      return `${other} changes the same files, so far without a conflict: ${filesText(verdict, 10)}.`;
    case 'pending':
      return `It and ${other} change the same files. They are not compared yet.`;
    case 'apart':
      return `It and ${other} have nothing in common.`;
    default:
      return unreachable(verdict);
  }
}

/** For `radar`, beside both ids. */
export function verdictText(verdict: PairVerdict): string {
  if (verdict.kind === 'pending') return 'not compared yet';
  if (verdict.kind === 'apart') return 'nothing in common';
  return filesText(verdict, 5);
}

/** For `list`, after the line of a task: the longest form first, for the caller to take one that fits. */
export function collisionForms(findings: readonly Finding[]): readonly [string, string, string] {
  const conflicts = idsOf(findings, ({ kind }) => kind === 'conflict');
  // A branch of the pair moved after the conflict was found.
  const unknown = idsOf(
    findings,
    (verdict) => verdict.kind === 'pending' && verdict.was?.kind === 'conflict',
  );
  const overlaps = idsOf(findings, ({ kind }) => kind === 'overlap');
  const joined = (words: readonly string[]) => words.filter((word) => word !== '').join('  ');
  return [
    joined([
      worded(conflicts, '≠ conflicts with'),
      worded(unknown, '≠? not compared yet:'),
      worded(overlaps, '~ same files as'),
    ]),
    joined([worded(conflicts, '≠'), worded(unknown, '≠?'), worded(overlaps, '~')]),
    conflicts.length > 0 ? '≠' : '',
  ];
}

export function radarSummary(branches: number, pairs: readonly Pair[], only: string | undefined): string {
  if (branches === 0) return 'No unfinished task has a branch: nothing to compare.';
  if (branches === 1) return 'Only one unfinished task has a branch: nothing to compare.';
  const compared = `Compared ${branches} branches of unfinished tasks`;
  if (pairs.length === 0)
    return only === undefined
      ? `${compared}: no two of them change the same files.`
      : `${compared}: none changes the files that ${only} changes.`;
  const conflicts = pairs.filter(({ verdict }) => verdict.kind === 'conflict').length;
  const overlaps = pairs.filter(({ verdict }) => verdict.kind === 'overlap').length;
  const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`;
  const more = conflicts === 0 ? '' : 'more ';
  return `${compared}: ${count(conflicts, 'pair conflicts', 'pairs conflict')}, ${count(overlaps, `${more}changes`, `${more}change`)} the same files.`;
}

function filesText(
  { files, omitted }: { readonly files: readonly string[]; readonly omitted: number },
  listed: number,
): string {
  const rest = files.length + omitted - listed;
  const names = files.slice(0, listed).map(inOneLine);
  return `${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function inOneLine(file: string): string {
  return shown(file).replaceAll('\n', String.raw`\n`);
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
