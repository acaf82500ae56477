/**
 * The overview as lines of a screen. It is never wider than `columns` and never longer than `rows`.
 *
 * What needs a person comes first and gets its lines first. The other sections share the rest: each keeps at least one line,
 * and agents at work count twice. A section that is shortened says how many are missing and which command lists them.
 */

import { age } from '../../explain/rules/amounts.ts';
import { capitalised } from '../../explain/rules/status.ts';
import type {
  LandingTask,
  NeedKind,
  NeedsYou,
  Overview,
  QueuePause,
  ReadyTask,
  WorkingTask,
} from '../../explain/rules/overview.ts';
import type { TaskId, Timestamp } from '../../kernel/ids.ts';
import { shellWord } from '../../kernel/shell.ts';
import { counted, shown } from '../../kernel/text.ts';
import { type TaskStatus, isFinished, statusesForPeople, taskStatuses } from '../../tasks/rules/task.ts';
import type { Output } from '../output.ts';
import { cut, widthOfText } from './screen.ts';

export interface PanelSize {
  readonly columns: number;
  readonly rows: number;
}

export interface PanelLine {
  readonly text: string;
  /** The task that the line is about. */
  readonly task: TaskId | null;
}

type StyleText = Output['style'];

export function panelLines(overview: Overview, size: PanelSize, style: StyleText): readonly string[] {
  const lines = panels(overview, size, style).map(({ text }) => text);
  return [...lines, ...notListed(overview, size.rows - lines.length).map((text) => cut(text, size.columns))];
}

/** Tasks that have no section: how to list them, if there is room. */
function notListed(overview: Overview, room: number): readonly string[] {
  const lines = (['pending', 'paused'] as const)
    .filter((status) => countOthers(overview, status) > 0)
    .map((status) => `${capitalised(status)} tasks: copse list --status ${status}`);
  return lines.length > 0 && lines.length < room ? ['', ...lines] : [];
}

/** The same, with the task of each line. A section that is shortened is scrolled to the selected task. */
export function panels(
  overview: Overview,
  size: PanelSize,
  style: StyleText,
  selected: TaskId | null = null,
): readonly PanelLine[] {
  const top = [...countsLines(overview), ...remarks(overview)].map((text) => ({ text, task: null }));
  const room = size.rows - top.length;
  const detail = details.find((one) => lengthOf(overview, one) <= room) ?? TERSE;
  const sections = sectionsOf(overview, { ...detail, columns: size.columns, style });
  const lines = [...top, ...shortened(sections, room, detail.isAiry, selected)];
  return lines
    .slice(0, Math.max(1, size.rows))
    .map(({ text, task }) => ({ text: cut(text, size.columns), task }));
}

/** In the order of display. Those that need a person are counted together, and only there: null. */
const countWords: Readonly<Record<TaskStatus, string | null>> = {
  in_progress: 'working',
  landing: 'landing',
  needs_attention: 'being resolved',
  in_review: 'in review',
  ready: 'ready',
  pending: 'pending',
  paused: 'paused',
  done: 'done',
  cancelled: 'cancelled',
  stuck: null,
  failed: null,
};

/** None for an empty board, of which the remark says all. */
function countsLines(overview: Overview): readonly string[] {
  const needing = needCount(overview);
  const others = (Object.keys(countWords) as TaskStatus[])
    .map((status) => [countOthers(overview, status), countWords[status]] as const)
    .filter(([count, word]) => word !== null && count > 0)
    .map(([count, word]) => `${count} ${word}`);
  const needs = needing === 0 ? [] : [`${needing} need${needing === 1 ? 's' : ''} you`];
  const counts = [...needs, ...others].join(' · ');
  return counts === '' ? [] : [counts];
}

/** Those that a filter hides need a person too. */
function needCount({ needsYou, hiddenNeeds = 0 }: Overview): number {
  return needsYou.length + hiddenNeeds;
}

/** Tasks with this status that go on without a person. */
function countOthers({ counts, needsYou }: Overview, status: TaskStatus): number {
  return counts[status] - needsYou.filter((need) => need.status === status).length;
}

function remarks(overview: Overview): readonly string[] {
  const { counts, landing, pauses = [], ready, isOrchestrated, otherNodes = [] } = overview;
  // Agents of other nodes do.
  const noAgents = otherNodes.length > 0 ? null : overview.noAgents;
  const total = taskStatuses.reduce((sum, status) => sum + counts[status], 0);
  if (total === 0) return ['The board is empty. Add a task: copse add "…"'];
  const isOver = taskStatuses.every((status) => counts[status] === 0 || isFinished(status));
  const isLandingUpToYou = !isOrchestrated && landing.some(({ isUnled }) => isUnled);
  const isIdle = !isOrchestrated && !isOver;
  // An agent that is missing does.
  const isUntakable = ready.some((task) => task.isUntakable);
  const isAsked = needCount(overview) > 0 || isLandingUpToYou || isUntakable || (isIdle && noAgents !== null);
  return [
    ...(isAsked ? [] : ['Nothing needs you.']),
    ...pauses.map(pauseText),
    ...(!isIdle
      ? []
      : [noAgents === null ? notRunning(otherNodes) : `${noAgents.text} Try: ${noAgents.command}`]),
  ];
}

function pauseText({ target, what }: QueuePause): string {
  const [state, end] =
    what === 'land' ? ['is paused', 'To land again'] : ['accepts no new tasks', 'To accept tasks again'];
  return `The queue of ${shown(target)} ${state}. ${end}: copse queue resume --target ${shellWord(target)}`;
}

function notRunning(otherNodes: readonly string[]): string {
  const next =
    otherNodes.length === 0
      ? 'Start one: copse orchestrate'
      : `Nodes that take tasks: ${otherNodes.join(', ')}`;
  return `No orchestrator is running here. ${next}`;
}

interface Detail {
  /** Two: reason and command share a line. */
  readonly needLines: 2 | 3;
  /** Two: the last output line, marked with a bar, is below its task. */
  readonly workLines: 1 | 2;
  /** Two: why a task waits is below it. */
  readonly waitLines: 1 | 2;
  readonly isAiry: boolean;
}

const TERSE: Detail = { needLines: 2, workLines: 1, waitLines: 1, isAiry: false };

/** The first one that fits is taken. */
const details: readonly Detail[] = [
  { needLines: 3, workLines: 2, waitLines: 2, isAiry: true },
  { needLines: 3, workLines: 2, waitLines: 1, isAiry: true },
  { needLines: 3, workLines: 1, waitLines: 1, isAiry: true },
  { needLines: 3, workLines: 1, waitLines: 1, isAiry: false },
  { needLines: 2, workLines: 1, waitLines: 1, isAiry: true },
];

/** With all that need a person or work, and some of the others. */
function lengthOf({ needsYou, working, landing, ready, counts }: Overview, detail: Detail): number {
  const sizes = [
    needsYou.length * detail.needLines,
    working.length * detail.workLines,
    Math.min(landing.length, OTHERS) * detail.waitLines,
    Math.min(counts.ready, ready.length > 0 ? OTHERS : 0) * detail.waitLines,
  ].filter((size) => size > 0);
  const heading = detail.isAiry ? 2 : 1;
  return sizes.reduce((sum, size) => sum + size + heading, 0);
}

const OTHERS = 5;

interface PanelItem {
  readonly task: TaskId;
  readonly lines: readonly string[];
}

interface Section {
  readonly heading: string;
  readonly items: readonly PanelItem[];
  /** Further ones that the overview does not hold. */
  readonly unseen: number;
  /** The command that lists all of them. */
  readonly all: string;
  /** Zero: it is served before the others. */
  readonly weight: 0 | 1 | 2;
}

interface PanelLook extends Detail {
  readonly columns: number;
  readonly style: StyleText;
}

function sectionsOf(overview: Overview, look: PanelLook): readonly Section[] {
  const { at, needsYou, working, landing, ready, counts } = overview;
  const heading = (text: string, count: number) => look.style('bold', `${text} (${count})`);
  const sections: readonly Section[] = [
    {
      heading: heading('NEEDS YOU', needsYou.length),
      items: needsYou.map((need) => needItem(need, at, look)),
      unseen: 0,
      all: `copse list --status ${statusesForPeople.join(',')}`,
      weight: 0,
    },
    {
      heading: heading('WORKING', working.length),
      items: workingItems(working, at, look),
      unseen: 0,
      all: 'copse list --status in_progress',
      weight: 2,
    },
    {
      heading: heading('LANDING', landing.length),
      items: landingItems(landing, at, look),
      unseen: 0,
      all: 'copse queue',
      weight: 1,
    },
    {
      heading: heading('READY', counts.ready),
      items: readyItems(withoutRepeated(overview), at, look),
      unseen: Math.max(0, counts.ready - ready.length),
      all: 'copse list --status ready',
      weight: 1,
    },
  ];
  return sections.filter(({ items }) => items.length > 0);
}

const ID_WIDTH = 7;
const AGE_WIDTH = 4;
const INDENT = '    ';

/** `! cp-a1b2   3m Title`, as long as it may be. */
function head(mark: string, { task, since }: { task: TaskId; since: Timestamp }, at: Timestamp): string {
  // An id is never cut: it is there to be copied.
  return `${mark} ${task.padEnd(ID_WIDTH)} ${age(since, at).padStart(AGE_WIDTH)}`;
}

const needMarks: Readonly<Record<NeedKind, readonly [mark: string, style: 'yellow' | 'red']>> = {
  permission: ['?', 'yellow'],
  question: ['?', 'yellow'],
  review: ['?', 'yellow'],
  waiting: ['?', 'yellow'],
  attention: ['!', 'red'],
  failed: ['!', 'red'],
  landing: ['!', 'red'],
  dependency: ['!', 'red'],
};

function needItem(need: NeedsYou, at: Timestamp, { columns, needLines, style }: PanelLook): PanelItem {
  const { task, title, kind, command, unblocks } = need;
  const reason = oneLine(need.reason);
  const [mark, colour] = needMarks[kind];
  const beginning = head(mark, need, at);
  const end = unblocks === 0 ? '' : ` (unblocks ${counted(unblocks, 'task')})`;
  const room = columns - widthOfText(beginning) - 1 - end.length;
  const first = `${style(colour, beginning)} ${cut(oneLine(title), room)}${style('dim', end)}`;
  // One that is cut would be refused: `copse why` has all of it.
  const reasonWidth = Math.min(LEAST_REASON, Math.floor(columns / 3));
  const least = needLines === 3 ? 0 : reasonWidth + 2;
  const isWhole = INDENT.length + least + 2 + widthOfText(command) <= columns;
  const next = `→ ${isWhole ? command : `copse why ${task}`}`;
  if (needLines === 3) return { task, lines: [first, INDENT + reason, INDENT + style('cyan', next)] };
  const left = Math.max(reasonWidth, columns - INDENT.length - widthOfText(next) - 2);
  return { task, lines: [first, `${INDENT}${cut(reason, left)}  ${style('cyan', next)}`] };
}

const LEAST_REASON = 30;

/** In columns: agents and phases have the width of the longest one. */
function workingItems(working: readonly WorkingTask[], at: Timestamp, look: PanelLook): readonly PanelItem[] {
  const who = working.map(({ agent, node }) => oneLine(`${agent}${node === null ? '' : ` on ${node}`}`));
  const phases = working.map(({ phase, isByHand }) =>
    isByHand ? 'by hand' : (phase ?? '').replaceAll('_', ' '),
  );
  const [whoWidth, phaseWidth] = [widest(who, MOST_AGENT), widest(phases, MOST_PHASE)];
  const rows = working.map((one, index) => {
    const phase = phaseWidth === 0 ? '' : ` ${padded(phases[index] ?? '', phaseWidth)}`;
    const beginning = `${look.style('cyan', head('*', one, at))} ${padded(who[index] ?? '', whoWidth)}${phase}`;
    const taken = one.takenOverBy === undefined ? '' : `taken over by ${oneLine(one.takenOverBy)} `;
    const mark = one.isLapsed ? '' : '│ ';
    const more = `${taken}${one.lastLine === null ? '' : mark + one.lastLine}`.trimEnd();
    return { task: one.task, beginning, title: one.title, more };
  });
  return rowItems(rows, look.workLines, look);
}

const MOST_AGENT = 14;
const MOST_PHASE = 11;

function landingItems(landing: readonly LandingTask[], at: Timestamp, look: PanelLook): readonly PanelItem[] {
  const rows = landing.map((one) => {
    const { task, title, position, of, why } = one;
    const beginning = `${look.style('green', head('>', one, at))} ${position}/${of}`;
    return { task, beginning, title, more: why };
  });
  return rowItems(rows, look.waitLines, look);
}

/** That there is no agent is said once, above all tasks. */
function withoutRepeated({
  ready,
  isOrchestrated,
  otherNodes = [],
  noAgents,
}: Overview): readonly ReadyTask[] {
  const isSaid = !isOrchestrated && otherNodes.length === 0 && noAgents !== null;
  return ready.map((task) => (isSaid && task.isUntakable ? { ...task, why: '' } : task));
}

function readyItems(ready: readonly ReadyTask[], at: Timestamp, look: PanelLook): readonly PanelItem[] {
  const rows = ready.map((one) => ({
    task: one.task,
    beginning: head(' ', one, at),
    title: one.title,
    more: one.why,
  }));
  return rowItems(rows, look.waitLines, look);
}

interface Row {
  readonly task: TaskId;
  readonly beginning: string;
  readonly title: string;
  /** Beside the title or below it. */
  readonly more: string;
}

function rowItems(
  rows: readonly Row[],
  linesEach: 1 | 2,
  { columns, style }: PanelLook,
): readonly PanelItem[] {
  const texts = rows.map(({ title, more }) => [oneLine(title), oneLine(more)] as const);
  const room = columns - Math.max(0, ...rows.map(({ beginning }) => widthOfText(beginning))) - 1;
  const left = widest(
    texts.map(([title]) => title),
    Math.min(
      MOST_TITLE,
      Math.max(Math.floor(room / 2), room - GAP.length - widest(texts.map(([, more]) => more))),
    ),
  );
  const right = room - left - GAP.length;
  return rows.map(({ task, beginning }, index) => {
    const [title, more] = texts[index] ?? ['', ''];
    const isAlone = more === '' || right < LEAST_COLUMN;
    const first = `${beginning} `;
    if (isAlone && linesEach === 1) return { task, lines: [first + title] };
    if (linesEach === 1)
      return { task, lines: [first + padded(title, left) + GAP + style('dim', cut(more, right))] };
    const below = more === '' ? [] : [INDENT + style('dim', cut(more, columns - INDENT.length))];
    return { task, lines: [first + title, ...below] };
  });
}

const LEAST_COLUMN = 12;
/** On a wide terminal, the eye finds the second column. */
const MOST_TITLE = 60;
const GAP = '  ';

/** Shares the room among the sections. */
function shortened(
  all: readonly Section[],
  room: number,
  isAiry: boolean,
  selected: TaskId | null,
): readonly PanelLine[] {
  const headingRows = isAiry ? 2 : 1;
  // A terminal of a few rows shows fewer sections, rather than headings without tasks.
  const affordable = Math.floor((room - LEAST_FIRST) / (headingRows + 1));
  const sections = all.slice(0, Math.max(1, affordable + 1));
  const wanted = sections.map(
    ({ items, unseen }) => items.reduce((sum, { lines }) => sum + lines.length, 0) + (unseen > 0 ? 1 : 0),
  );
  const given = shares(
    wanted,
    sections.map(({ weight }) => weight),
    room - sections.length * headingRows,
  );
  return sections.flatMap((section, index) => {
    const lines = itemLines(section, given[index] ?? 0, selected);
    const heading = { text: section.heading, task: null };
    const top: readonly PanelLine[] = isAiry ? [{ text: '', task: null }, heading] : [heading];
    return lines.length === 0 ? [] : top.concat(lines);
  });
}

/** A heading, one task with its reason, and a line about the others. */
const LEAST_FIRST = 4;

/** Fair: no section gets more than it wants, and none less than its share of the rest. One with weight 0 comes first. */
export function shares(
  wanted: readonly number[],
  weights: readonly number[],
  room: number,
): readonly number[] {
  const given = wanted.map(() => 0);
  const others = weights.filter((weight) => weight > 0).length;
  const firstRoom = Math.max(0, room - others);
  for (const [index, weight] of weights.entries())
    if (weight === 0) given[index] = Math.min(wanted[index] ?? 0, firstRoom);
  let left = room - given.reduce((sum, one) => sum + one, 0);
  // Line by line to the section with the least lines for its weight.
  while (left > 0) {
    const next = wanted
      .map((want, index) => ({ index, want, weight: weights[index] ?? 0, has: given[index] ?? 0 }))
      .filter(({ want, weight, has }) => weight > 0 && has < want)
      .toSorted((one, other) => one.has / one.weight - other.has / other.weight)[0];
    if (next === undefined) break;
    given[next.index] = next.has + 1;
    left -= 1;
  }
  return given;
}

/** As many whole items as fit, the selected one among them, and lines about the others. */
function itemLines(section: Section, room: number, selected: TaskId | null): readonly PanelLine[] {
  const { items } = section;
  const at = items.findIndex(({ task }) => task === selected);
  for (let skipped = 0; ; skipped += 1) {
    const lines = linesFrom(section, room, skipped);
    if (skipped >= at || lines.some(({ task }) => task === selected)) return lines;
  }
}

function linesFrom({ items, unseen, all }: Section, room: number, skipped: number): readonly PanelLine[] {
  const above = skipped === 0 ? [] : [{ text: `  … ${skipped} above`, task: null }];
  const lines: PanelLine[] = room > 1 ? above : [];
  let hidden = items.length - skipped + unseen;
  for (const { task, lines: own } of items.slice(skipped)) {
    const isLast = hidden === 1;
    if (lines.length + own.length + (isLast ? 0 : 1) > room) break;
    lines.push(...own.map((text) => ({ text, task })));
    hidden -= 1;
  }
  if (hidden === 0 || lines.length >= room) return lines;
  return [...lines, { text: `  … and ${hidden} more: ${all}`, task: null }];
}

function widest(texts: readonly string[], most = Infinity): number {
  return Math.min(most, Math.max(0, ...texts.map(widthOfText)));
}

/** Exactly as wide: cut, or filled with spaces. */
function padded(text: string, width: number): string {
  const short = cut(text, width);
  return short + ' '.repeat(Math.max(0, width - widthOfText(short)));
}

function oneLine(text: string): string {
  return shown(text).replaceAll(/[\n\t]+/g, ' ');
}
