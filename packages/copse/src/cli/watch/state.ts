/**
 * What `copse watch` shows, and what each key makes of it. Pure: a key gives the next state and at most one effect, which
 * watch.ts carries out.
 *
 * The selection never moves without a key, unless its task leaves the screen. Right after that, keys that act are refused once:
 * the person may have meant the task that was there before.
 */

import type { Timestamp } from '../../kernel/ids.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import { type ActionKey, type ActionTarget, helpLines, possibleActions } from './actions.ts';
import { commandOf, effectOfAction } from './effects.ts';
import { type PressedKey, isSuspend } from '../screen/keys.ts';
import { editLine, emptyLine, textOf } from './line-editor.ts';
import type { Mode, Pressed, LinePurpose, WatchState } from './model.ts';
import { type WatchRow, rowsOf, targetOf } from './rows.ts';

export const firstState: WatchState = {
  overview: undefined,
  paused: [],
  problem: null,
  filter: '',
  selected: null,
  movedAt: 0,
  mode: { kind: 'list' },
  message: null,
};

/** How long keys that act are refused after the selection moved without a key. */
const MOVED_MS = 700;

function visibleRows({ overview, paused, filter }: WatchState): readonly WatchRow[] {
  return overview === undefined ? [] : rowsOf(overview, paused, filter);
}

export function selectedRow(state: WatchState): WatchRow | undefined {
  return visibleRows(state).find(({ task }) => task === state.selected);
}

/** New facts of the board. */
export function updated(
  state: WatchState,
  facts: Pick<WatchState, 'overview' | 'paused'>,
  now: Timestamp,
): WatchState {
  const before = visibleRows(state);
  return settled({ ...state, ...facts, problem: null }, before, now);
}

/** Keeps the selection on its task; if that is gone, on the task that took its place. */
function settled(state: WatchState, before: readonly WatchRow[], now: number): WatchState {
  const rows = visibleRows(state);
  if (rows.some(({ task }) => task === state.selected)) return state;
  const at = before.findIndex(({ task }) => task === state.selected);
  const next = rows[Math.min(Math.max(0, at), rows.length - 1)]?.task ?? null;
  const hadOne = state.selected !== null && at !== -1;
  return { ...state, selected: next, movedAt: hadOne ? now : state.movedAt };
}

/** After an answer, the next task that needs a person. */
export function toNextNeed(state: WatchState): WatchState {
  const answered = state.selected;
  const next = visibleRows(state).find(({ panel, task }) => panel === 'needsYou' && task !== answered);
  return next === undefined ? state : { ...state, selected: next.task };
}

export function press(
  state: WatchState,
  key: PressedKey,
  { rows, now }: { readonly rows: number; readonly now: number },
): Pressed {
  if (isSuspend(key)) return { state, effect: { kind: 'suspend' } };
  if (key.kind === 'control' && key.letter === 'c' && state.mode.kind !== 'typing')
    return { state, effect: { kind: 'quit' } };
  switch (state.mode.kind) {
    case 'list':
      return pressInList({ ...state, message: null }, key, { rows, now });
    case 'page':
      return only(pressInPage(state, state.mode, key, rows));
    case 'typing':
      return pressInLine(state, state.mode, key, now);
    case 'cancelling':
      return pressWhenCancelling(state, state.mode.target, key);
    case 'permitting':
      return pressWhenPermitting(state, state.mode, key);
    default:
      return unreachable(state.mode);
  }
}

function only(state: WatchState): Pressed {
  return { state, effect: null };
}

function pressInList(
  state: WatchState,
  key: PressedKey,
  { rows, now }: { readonly rows: number; readonly now: number },
): Pressed {
  const moved = movedBy(state, key, rows);
  if (moved !== undefined) return only(moved);
  const row = selectedRow(state);
  if (key.kind === 'enter' && row !== undefined)
    return { state, effect: { kind: 'page', argv: ['why', row.task], isFollowed: false } };
  if (key.kind === 'escape') return only(settled({ ...state, filter: '' }, visibleRows(state), now));
  if (key.kind !== 'char') return only(state);
  switch (key.char) {
    case 'q':
      return { state, effect: { kind: 'quit' } };
    case '?':
      return only({
        ...state,
        mode: { kind: 'page', title: 'Keys', lines: helpLines(), top: 0, isFollowed: false },
      });
    case '/':
      return only({ ...state, mode: { kind: 'typing', purpose: { kind: 'filter' }, line: emptyLine } });
    case ':':
      return only({ ...state, mode: { kind: 'typing', purpose: { kind: 'command' }, line: emptyLine } });
    default:
      return act(state, row, key.char, now);
  }
}

function movedBy(state: WatchState, key: PressedKey, rows: number): WatchState | undefined {
  const all = visibleRows(state);
  const at = all.findIndex(({ task }) => task === state.selected);
  const to = (index: number): WatchState => ({
    ...state,
    selected: all[Math.max(0, Math.min(all.length - 1, index))]?.task ?? null,
  });
  const name = key.kind === 'char' ? key.char : key.kind;
  switch (name) {
    case 'up':
    case 'k':
      return to(at - 1);
    case 'down':
    case 'j':
      return to(at + 1);
    case 'tab':
      return to(nextNeed(all, at));
    case 'page-up':
      return to(at - Math.max(1, rows - 6));
    case 'page-down':
      return to(at + Math.max(1, rows - 6));
    case 'home':
    case 'g':
      return to(0);
    case 'end':
    case 'G':
      return to(all.length - 1);
    default:
      return undefined;
  }
}

/** Round and round. */
function nextNeed(rows: readonly WatchRow[], at: number): number {
  const needs = rows.flatMap(({ panel }, index) => (panel === 'needsYou' ? [index] : []));
  return needs.find((index) => index > at) ?? needs[0] ?? at;
}

function act(state: WatchState, row: WatchRow | undefined, char: string, now: number): Pressed {
  const refuse = (...lines: readonly string[]) => only({ ...state, message: { kind: 'refused', lines } });
  const isAction = /^[aAsrpcdltw]$/.test(char);
  if (!isAction) return refuse(`${char} is no key here.`, '? shows all keys');
  if (row === undefined)
    return refuse('No task is selected.', ': runs a command, for example: add "Fix the login"');
  const target: ActionTarget = targetOf(row);
  const possible = possibleActions(target).map(({ key }) => key);
  if (!possible.includes(char as ActionKey))
    return refuse(
      `${char} does not apply to ${row.task}: it is ${row.status.replaceAll('_', ' ')}.`,
      `Enter shows why; the last line lists its keys`,
    );
  if (now - state.movedAt < MOVED_MS)
    return refuse(`The selection just moved to ${row.task}: ${row.title}.`, `${char} again acts on it`);
  return effectOfAction(state, char as ActionKey, target);
}

function pressInPage(
  state: WatchState,
  page: Extract<Mode, { kind: 'page' }>,
  key: PressedKey,
  rows: number,
): WatchState {
  const name = key.kind === 'char' ? key.char : key.kind;
  // The heading and the line of keys.
  const room = Math.max(1, rows - 2);
  const last = Math.max(0, page.lines.length - room);
  const to = (top: number): WatchState => {
    const next = Math.max(0, Math.min(last, top));
    return { ...state, mode: { ...page, top: next } };
  };
  switch (name) {
    case 'q':
    case 'escape':
    case 'left':
      return { ...state, mode: { kind: 'list' } };
    case 'up':
    case 'k':
      return to(page.top - 1);
    case 'down':
    case 'j':
    case 'enter':
      return to(page.top + 1);
    case 'page-up':
    case 'b':
      return to(page.top - room + 1);
    case 'page-down':
    case ' ':
      return to(page.top + room - 1);
    case 'home':
    case 'g':
      return to(0);
    case 'end':
    case 'G':
      return to(last);
    default:
      return state;
  }
}

/** A page that is followed stays at its end if it was there. */
export function pageUpdated(state: WatchState, lines: readonly string[], rows: number): WatchState {
  const { mode } = state;
  if (mode.kind !== 'page') return state;
  const room = Math.max(1, rows - 2);
  const wasAtEnd = mode.top >= Math.max(0, mode.lines.length - room);
  const top = mode.isFollowed && wasAtEnd ? Math.max(0, lines.length - room) : mode.top;
  return { ...state, mode: { ...mode, lines, top } };
}

function pressInLine(
  state: WatchState,
  { purpose, line }: Extract<Mode, { kind: 'typing' }>,
  key: PressedKey,
  now: number,
): Pressed {
  const list: WatchState = { ...state, mode: { kind: 'list' } };
  const filtered = (filter: string, next: WatchState) =>
    settled({ ...next, filter }, visibleRows(state), now - MOVED_MS);
  const edited = editLine(line, key);
  if (edited.kind === 'typing') {
    const typing: WatchState = { ...state, mode: { kind: 'typing', purpose, line: edited.line } };
    return only(purpose.kind === 'filter' ? filtered(textOf(edited.line), typing) : typing);
  }
  if (edited.kind === 'left') return only(purpose.kind === 'filter' ? filtered('', list) : list);
  return entered(list, purpose, edited.text);
}

function entered(state: WatchState, purpose: LinePurpose, text: string): Pressed {
  const refuse = (...lines: readonly string[]) => only({ ...state, message: { kind: 'refused', lines } });
  switch (purpose.kind) {
    case 'filter':
      return only(state);
    case 'command':
      return text === '' ? only(state) : commandOf(state, text);
    case 'answer':
      if (text === '') return refuse(`Nothing was answered to ${purpose.target.task}.`, 'a answers it');
      return run(state, ['restart', purpose.target.task, '--answer', text]);
    case 'send_back':
      if (text === '')
        return refuse(`${purpose.target.task} was not sent back: no comment.`, 's sends it back');
      return run(state, ['review', purpose.target.task, '--send-back', text]);
    case 'verdict':
      return run(state, verdict(purpose, text));
    default:
      return unreachable(purpose);
  }
}

function verdict(
  { target, question, isAllowed }: Extract<LinePurpose, { kind: 'verdict' }>,
  message: string,
) {
  const said = message === '' ? [] : ['--message', message];
  return ['answer', target.task, isAllowed ? 'allow' : 'deny', '--question', question, ...said];
}

function run(state: WatchState, argv: readonly string[]): Pressed {
  return { state, effect: { kind: 'run', argv, isAnswer: true } };
}

function pressWhenCancelling(state: WatchState, { task }: ActionTarget, key: PressedKey): Pressed {
  const list: WatchState = { ...state, mode: { kind: 'list' } };
  if (key.kind === 'char' && key.char === 'y') return run(list, ['cancel', task]);
  const lines = [`${task} was not cancelled.`];
  return only({ ...list, message: { kind: 'done', lines } });
}

function pressWhenPermitting(
  state: WatchState,
  { target, question }: Extract<Mode, { kind: 'permitting' }>,
  key: PressedKey,
): Pressed {
  const list: WatchState = { ...state, mode: { kind: 'list' } };
  const char = key.kind === 'char' ? key.char : '';
  const isAllowed = char === 'y' || char === 'Y';
  const purpose = { kind: 'verdict', target, question, isAllowed } as const;
  if (char === 'y' || char === 'n') return run(list, verdict(purpose, ''));
  if (char === 'Y' || char === 'N')
    return only({ ...state, mode: { kind: 'typing', purpose, line: emptyLine } });
  if (key.kind === 'escape' || char === 'q') return only(list);
  return only(state);
}
