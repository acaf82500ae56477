/** What an agent or a person reads about a conflict, from the finish gate and from the queue. */

import type { TaskId } from '../../../kernel/ids.ts';
import { listed, shown } from '../../../kernel/text.ts';

/** The other side of a conflict: what landed meanwhile, and why. */
export interface OtherSide {
  readonly task: TaskId;
  readonly title: string;
  /** What it was about, in the words of whoever asked for it and of whoever did it. */
  readonly intent: readonly string[];
}

/** What whoever resolves a conflict needs to know besides its files. */
export interface ConflictDetails {
  readonly with: readonly OtherSide[];
  readonly hunks: readonly { readonly file: string; readonly kind: string; readonly hunks: string | null }[];
  /** What was tried in vain before anybody was asked. */
  readonly tried: readonly string[];
}

/**
 * What whoever has to resolve it reads, from the gate as from the queue. What others wrote is marked line by line, so that it
 * cannot be taken for Copse's words; what matters most comes first, because the end may be cut off.
 */
export function describeConflict(
  conflict: ConflictDetails & {
    readonly task: TaskId;
    readonly target: string;
    readonly files: readonly string[];
    /** Its agent is still at work, and has not heard that the target moved. */
    readonly isNews?: boolean;
  },
): string {
  const { task, target, files, with: others, isNews } = conflict;
  const both = others.length > 0 ? ' Keep what both sides meant.' : '';
  return [
    `The branch of ${task} conflicts with ${shown(target)}${isNews ? ', which moved meanwhile' : ''}:`,
    listed(files),
    `Bring it in with \`copse sync --conflict\`, resolve, commit, and finish again.${both}`,
    ...describeSides(conflict),
  ].join('\n');
}

/** Both sides, and what was tried. */
function describeSides({
  target,
  with: others,
  hunks,
  tried,
}: ConflictDetails & { readonly target: string }): readonly string[] {
  const marked = (mark: string, text: string) =>
    shown(text.replace(/\n$/, ''))
      .split('\n')
      .map((line) => `    ${mark} ${line}`);
  const sides = others.flatMap(({ task, title, intent }) => [
    `  ${task}: ${shown(title)}`,
    ...intent.flatMap((text) => marked('>', text)),
  ]);
  const places = hunks.flatMap(({ file, kind, hunks: text }) => [
    `  ${shown(file)} (${kind})`,
    ...(text === null ? [] : marked('|', text)),
  ]);
  return [
    ...(sides.length > 0 ? ['What landed there:', ...sides] : []),
    ...(places.length > 0
      ? [`What conflicts, first as it is in ${shown(target)}, then as the branch has it:`, ...places]
      : []),
    ...(tried.length > 0 ? ['Tried before:', ...tried.flatMap((text) => marked('|', text))] : []),
  ];
}
