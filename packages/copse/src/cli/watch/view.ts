/** The state of `copse watch` as a frame: panels, below them what is asked or was answered, last the keys that can act. */

import { age } from '../../explain/rules/amounts.ts';
import type { NeedKind, NeedsYou, Overview } from '../../explain/rules/overview.ts';
import type { Timestamp } from '../../kernel/ids.ts';
import { shown } from '../../kernel/text.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import type { Output } from '../output.ts';
import { panels } from '../screen/panels.ts';
import { cut, widthOfText, wrapped } from '../screen/screen.ts';
import { possibleActions } from './actions.ts';
import { visibleLine } from './line-editor.ts';
import type { Message, Mode, LinePurpose, WatchState } from './model.ts';
import type { Frame, ScreenSize } from './renderer.ts';
import { filtered, matches, targetOf } from './rows.ts';
import { selectedRow } from './state.ts';

type Style = Output['style'];

export function frameOf(state: WatchState, size: ScreenSize, style: Style, now: Timestamp): Frame {
  const { mode } = state;
  if (mode.kind === 'page') return pageFrame(mode, size, style);
  const bottom = bottomOf(state, size, style);
  const room = size.rows - bottom.lines.length;
  const top = panelPart(state, { ...size, rows: Math.max(1, room) }, style, now);
  const filling = Array.from({ length: Math.max(0, room - top.length) }, () => '');
  const lines = [...top, ...filling, ...bottom.lines].slice(-size.rows);
  const { column } = bottom;
  return { lines, cursor: column === null ? null : { row: size.rows - 1, column } };
}

const MARK = '▸ ';
const MOST_PAUSED = 3;

function panelPart(state: WatchState, size: ScreenSize, style: Style, now: Timestamp): readonly string[] {
  const { overview, problem, filter, selected } = state;
  const remarks = [
    ...(problem === null
      ? []
      : wrapped(`The board cannot be read: ${oneLine(problem)}`, size.columns, 2)
          .slice(0, 3)
          .map((line) => style('red', line))),
    ...(problem === null || overview === undefined
      ? []
      : [`  What follows is from ${age(overview.at, now)} ago; watch tries again every second.`]),
    ...(filter === '' ? [] : [`Only tasks with "${oneLine(filter)}" (Esc shows all)`]),
  ];
  if (overview === undefined) return problem === null ? ['Reading the board …'] : remarks;
  const paused = pausedLines(state, size, style, now);
  const all = panels(
    { ...withKeys(filtered(overview, filter)), at: now },
    { columns: size.columns - MARK.length, rows: size.rows - remarks.length - paused.length },
    style,
    selected,
  );
  const [counts, ...others] = all;
  const marked = others.map(({ text, task }, index) => {
    const isFirst = task !== null && task === selected && others[index - 1]?.task !== task;
    return isFirst ? markedLine(text, size, style) : `  ${text}`;
  });
  return [style('bold', `copse watch  ${counts?.text ?? ''}`), ...remarks, ...marked, ...paused];
}

/** Here a key is shorter than the command that it runs. */
const needKeys: Readonly<Record<NeedKind, string | null>> = {
  permission: 'a: allow or deny',
  question: 'a: answer',
  review: 'A: approve, s: send back',
  attention: 's: resume, A: queue again',
  failed: 'r: restart',
  waiting: 'l: logs',
  landing: null,
  dependency: null,
};

function keysFor({ kind, hasNothingToLand, hasTerminal }: NeedsYou): string | null {
  if (kind === 'attention' && hasNothingToLand) return 's: resume, c: cancel';
  return kind === 'waiting' && hasTerminal ? 't: attach' : needKeys[kind];
}

function withKeys(overview: Overview): Overview {
  const needsYou = overview.needsYou.map((need) => ({
    ...need,
    command: keysFor(need) ?? need.command,
  }));
  return { ...overview, needsYou };
}

function markedLine(text: string, { columns }: ScreenSize, style: Style): string {
  const line = `${MARK}${text}`;
  return style('inverse', line + ' '.repeat(Math.max(0, columns - widthOfText(line))));
}

/** The overview has only their number. */
function pausedLines(
  { paused, filter, selected }: WatchState,
  size: ScreenSize,
  style: Style,
  now: Timestamp,
) {
  const all = paused.filter((task) => matches(task, filter));
  if (all.length === 0 || size.rows < 12) return [];
  const at = Math.max(0, all.findIndex(({ task }) => task === selected) - MOST_PAUSED + 1);
  const lines = all.slice(at, at + MOST_PAUSED).map(({ task, title, since }) => {
    const text = `- ${task.padEnd(7)} ${age(since, now).padStart(4)} ${oneLine(title)}`;
    return task === selected ? markedLine(text, size, style) : `  ${text}`;
  });
  return [`  ${style('bold', `PAUSED (${all.length})`)}`, ...lines];
}

interface Bottom {
  readonly lines: readonly string[];
  /** Where the cursor is in the last line. */
  readonly column: number | null;
}

function bottomOf(state: WatchState, size: ScreenSize, style: Style): Bottom {
  const { mode } = state;
  const rule = style('dim', '─'.repeat(size.columns));
  const most = Math.max(1, Math.floor(size.rows / 2) - 2);
  const text = (lines: readonly string[]) =>
    lines.flatMap((line) => wrapped(oneLine(line), size.columns - 1, 2)).slice(0, most);
  switch (mode.kind) {
    case 'typing': {
      const prompt = promptOf(mode.purpose);
      const { text: visible, column } = visibleLine(mode.line, size.columns - widthOfText(prompt));
      const about = text(aboutOf(state, mode.purpose));
      const hint = style('dim', cut(hintOf(mode.purpose), size.columns));
      return { lines: [rule, ...about, hint, `${prompt}${visible}`], column: widthOfText(prompt) + column };
    }
    case 'cancelling': {
      const { task, title, status } = mode.target;
      const stops = status === 'in_progress' ? 'Its agent is stopped; its' : 'Its';
      const about = text([`Cancel ${task} ${title}? ${stops} worktree stays.`]);
      return {
        lines: [
          rule,
          ...about,
          keyLine(
            [
              ['y', 'cancel it'],
              ['any other key', 'keep it'],
            ],
            size,
            style,
          ),
        ],
        column: null,
      };
    }
    case 'permitting': {
      const keys = [
        ['y', 'allow'],
        ['n', 'deny'],
        ['Y N', 'with a message'],
        ['Esc', 'later'],
      ] as const;
      return { lines: [rule, ...text(mode.lines), keyLine(keys, size, style)], column: null };
    }
    default:
      return {
        lines: [rule, ...messageLines(state.message, text, style), keysOf(state, size, style)],
        column: null,
      };
  }
}

function messageLines(
  message: Message | null,
  text: (lines: readonly string[]) => readonly string[],
  style: Style,
): readonly string[] {
  if (message === null) return [''];
  const [first = '', ...next] = message.lines;
  const colour = ({ done: 'green', refused: 'yellow', busy: 'dim' } as const)[message.kind];
  return [
    ...text([first]).map((line) => style(colour, line)),
    ...text(next).map((line) => style('dim', line)),
  ];
}

function promptOf(purpose: LinePurpose): string {
  switch (purpose.kind) {
    case 'filter':
      return '/';
    case 'command':
      return ':';
    case 'answer':
      return 'Answer: ';
    case 'send_back':
      return 'Comment: ';
    case 'verdict':
      return purpose.isAllowed ? 'Allow, and say: ' : 'Deny, and say: ';
    default:
      return unreachable(purpose);
  }
}

function hintOf(purpose: LinePurpose): string {
  switch (purpose.kind) {
    case 'filter':
      return 'Words of id, title, agent or reason. Enter keeps the filter, Esc shows all.';
    case 'command':
      return 'A command of copse; . is the selected task. Enter runs it, Esc leaves.';
    case 'answer':
      return 'Enter answers: its agent starts again with the answer. Esc leaves.';
    case 'send_back':
      return 'Enter sends it back to its agent with this comment. Esc leaves.';
    case 'verdict':
      return 'Enter answers, also without a message. Esc leaves.';
    default:
      return unreachable(purpose);
  }
}

/** What the person answers, so that it is on the screen while they type. */
function aboutOf(state: WatchState, purpose: LinePurpose): readonly string[] {
  if (!('target' in purpose)) return [];
  const { task, title } = purpose.target;
  const need = state.overview?.needsYou.find((one) => one.task === task);
  return [
    `${task} ${title}`,
    ...(need?.details ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `  ${line}`),
  ];
}

/** Only those that can act on the selected task. */
function keysOf(state: WatchState, size: ScreenSize, style: Style): string {
  const row = selectedRow(state);
  const target = row && targetOf(row);
  const own =
    target === undefined ? [] : possibleActions(target).map((one) => [one.key, one.label(target)] as const);
  const why = target === undefined ? [] : [['Enter', 'why'] as const];
  return keyLine(
    [...own, ...why, ['/', 'filter'], [':', 'command'], ['?', 'help'], ['q', 'quit']],
    size,
    style,
  );
}

/** What does not fit is left out from before the last two, which lead to everything else. */
function keyLine(
  keys: readonly (readonly [key: string, label: string])[],
  { columns }: ScreenSize,
  style: Style,
): string {
  const width = (shownKeys: typeof keys) =>
    shownKeys.reduce((sum, [key, label]) => sum + widthOfText(key) + 1 + widthOfText(label) + 2, -2);
  let fitting = keys;
  while (width(fitting) > columns && fitting.length > 3) fitting = fitting.toSpliced(fitting.length - 3, 1);
  return fitting.map(([key, label]) => `${style('bold', key)} ${style('dim', label)}`).join('  ');
}

function pageFrame(mode: Extract<Mode, { kind: 'page' }>, size: ScreenSize, style: Style): Frame {
  const { lines: all } = mode;
  const room = Math.max(1, size.rows - 2);
  const shownLines = all.slice(mode.top, mode.top + room);
  const filling = Array.from({ length: room - shownLines.length }, () => '');
  const last = Math.min(all.length, mode.top + room);
  const where = all.length > room ? `  ${mode.top + 1}–${last} of ${all.length}` : '';
  const keys = [
    ['q', 'back'],
    ['↑ ↓ PgUp PgDn', 'scroll'],
  ] as const;
  const head = style(
    'bold',
    cut(`${mode.title}${where}${mode.isFollowed ? '  (follows)' : ''}`, size.columns),
  );
  return { lines: [head, ...shownLines, ...filling, keyLine(keys, size, style)], cursor: null };
}

/** The text of a command as lines of a page. */
export function pageLines(text: string, columns: number): readonly string[] {
  const lines = text.trimEnd().split('\n');
  return lines.flatMap((line) => wrapped(plain(line), columns - 1, Math.min(8, indentOf(line))));
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function oneLine(text: string): string {
  return shown(text).replaceAll(/[\n\t]+/g, ' ');
}

function plain(text: string): string {
  return shown(text.replaceAll(/\u001b\[[0-9;]*m/g, '').replace(/\r$/, '')).replaceAll('\t', '    ');
}
