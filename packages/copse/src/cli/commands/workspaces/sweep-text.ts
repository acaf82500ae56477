/** The plan of a sweep, or what became of it: one line for each thing, in groups. */

import { sizeText } from '../../../explain/rules/amounts.ts';
import { shown } from '../../../kernel/text.ts';
import { amountOf, bytesOf } from '../../../workspaces/rules/sweep/amount.ts';
import type { SweepPlan } from '../../../workspaces/rules/sweep/plan.ts';
import { type SweepItem, type SweptKind, sweptKinds } from '../../../workspaces/rules/sweep/things.ts';
import type { SweptFate, SweptItem } from '../../../workspaces/sweep/carry-out.ts';
import type { Output } from '../../output.ts';

const titles: Readonly<Record<SweptKind, string>> = {
  worktree: 'Worktrees',
  branch: 'Branches',
  trash: 'Trash',
  session: 'Transcripts of sessions',
  logs: 'Logs',
  artifacts: 'Artifacts',
  snapshot: 'Snapshots on the remote',
  record: 'Records of worktrees',
};

export interface SweepText {
  readonly swept: readonly SweptItem[];
  /** The main checkout: paths inside it are shown relative to it. */
  readonly root: string;
  readonly isDry: boolean;
  /** Also what stays. */
  readonly isVerbose: boolean;
}

export function sweepLines(plan: SweepPlan, text: SweepText, output: Output): readonly string[] {
  const { isVerbose, isDry, swept } = text;
  const fates = new Map<SweepItem, SweptFate>(swept.map(({ item, fate }) => [item, fate]));
  const going = plan.items.filter(({ verdict }) => verdict.kind === 'goes');
  const shownItems = isVerbose ? plan.items : going;
  const width = Math.max(0, ...shownItems.map((item) => nameOf(item, text).length));
  const groups: string[] = [];
  for (const kind of sweptKinds) {
    const items = shownItems.filter(({ found }) => found.kind === kind);
    if (items.length === 0) continue;
    groups.push(output.style('bold', titles[kind]));
    for (const item of items) groups.push(...itemLines(item, fates.get(item), { ...text, width }, output));
    groups.push('');
  }
  const staying = plan.items.filter(({ verdict }) => verdict.kind !== 'goes');
  return [
    ...groups,
    headline(going, fates, isDry),
    ...budgetLines(plan, isDry),
    ...(staying.length > 0 && !isVerbose
      ? [
          output.style(
            'dim',
            `${amountOf(staying)} ${staying.length === 1 ? 'stays' : 'stay'}. To see why: copse sweep --dry-run --verbose`,
          ),
        ]
      : []),
  ];
}

function headline(
  going: readonly SweepItem[],
  fates: ReadonlyMap<SweepItem, SweptFate>,
  isDry: boolean,
): string {
  if (going.length === 0) return 'Nothing to remove.';
  if (isDry)
    return `${amountOf(going)} would go (${sizeText(bytesOf(going))}). To remove ${going.length === 1 ? 'it' : 'them'}: copse sweep`;
  const gone = going.filter((item) => fates.get(item)?.kind === 'removed');
  const left = going.filter((item) => !gone.includes(item));
  const rest = left.length === 0 ? '' : ` ${amountOf(left)} could not be removed.`;
  return `Removed ${amountOf(gone)} (${sizeText(bytesOf(gone))}).${rest}`;
}

function itemLines(
  item: SweepItem,
  fate: SweptFate | undefined,
  text: SweepText & { readonly width: number },
  output: Output,
): readonly string[] {
  const { verdict, bytes } = item;
  const size = (bytes === null ? '' : sizeText(bytes)).padStart(7);
  const isGoing = verdict.kind === 'goes';
  const mark = !isGoing
    ? output.style('dim', '·')
    : isRefused(fate)
      ? output.style('red', '!')
      : output.style('yellow', '-');
  const why = isGoing ? verdict.why : output.style('dim', `stays: ${shown(verdict.why)}`);
  const line = `  ${mark} ${nameOf(item, text).padEnd(text.width)} ${size}  ${isGoing ? shown(why) : why}`;
  return [line, ...details(item, fate).map((one) => output.style('dim', `      ${shown(one)}`))];
}

function isRefused(fate: SweptFate | undefined): fate is Extract<SweptFate, { readonly reason: string }> {
  return fate !== undefined && fate.kind !== 'removed';
}

function details({ verdict }: SweepItem, fate: SweptFate | undefined): readonly string[] {
  if (verdict.kind !== 'goes') return [];
  if (isRefused(fate)) return [`${fate.kind}: ${fate.reason}`];
  const refs = fate?.kind === 'removed' ? fate.keptUnder : verdict.keptUnder.map((ref) => `${ref}…`);
  const notes = fate?.kind === 'removed' ? fate.notes : verdict.notes;
  return [...(refs.length === 0 ? [] : [`kept under ${refs.join(', ')}`]), ...notes];
}

function budgetLines({ budget }: SweepPlan, isDry: boolean): readonly string[] {
  if (budget === null) return [];
  const { usedBytes, maxBytes, leftBytes, trashedBytes } = budget;
  const over = leftBytes - maxBytes;
  return [
    `Disk: ${sizeText(isDry ? usedBytes : leftBytes)} used, ${sizeText(maxBytes)} allowed (maintenance.max_disk).`,
    ...(trashedBytes > 0
      ? [
          `  ${sizeText(trashedBytes)} ${isDry ? 'would move' : 'moved'} to the trash, which frees them later.`,
        ]
      : []),
    ...(over > trashedBytes
      ? [`  ${sizeText(over - trashedBytes)} stay above it: nothing else is safe to remove.`]
      : []),
  ];
}

function nameOf({ name, found }: SweepItem, { root }: SweepText): string {
  const isFile = found.kind !== 'branch' && found.kind !== 'session' && found.kind !== 'snapshot';
  return shown(isFile && name.startsWith(`${root}/`) ? name.slice(root.length + 1) : name);
}
