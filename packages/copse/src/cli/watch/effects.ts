/** What a key or a typed command leads to: a question first, or an effect at once. */

import { unreachable } from '../../kernel/unreachable.ts';
import { type ActionKey, type ActionTarget, splitWords } from './actions.ts';
import { emptyLine } from './line-editor.ts';
import type { Pressed, WatchState } from './model.ts';

export function effectOfAction(state: WatchState, key: ActionKey, target: ActionTarget): Pressed {
  const { task, status, need } = target;
  const run = (...argv: readonly string[]): Pressed => ({
    state,
    effect: { kind: 'run', argv, isAnswer: need !== null },
  });
  const type = (kind: 'answer' | 'send_back'): Pressed => ({
    state: { ...state, mode: { kind: 'typing', purpose: { kind, target }, line: emptyLine } },
    effect: null,
  });
  switch (key) {
    case 'a':
      return need === 'permission' ? { state, effect: { kind: 'ask', target } } : type('answer');
    case 'A':
      return run('review', task, '--approve');
    case 's':
      return type('send_back');
    case 'r':
      return run('restart', task);
    case 'p':
      return run(status === 'paused' ? 'resume' : 'pause', task);
    case 'c':
      return { state: { ...state, mode: { kind: 'cancelling', target } }, effect: null };
    case 'd':
      return { state, effect: { kind: 'diff', target } };
    case 'l':
      return { state, effect: { kind: 'page', argv: ['logs', task], isFollowed: true } };
    case 't':
      return { state, effect: { kind: 'outside', argv: ['attach', task], isAttach: true } };
    case 'w':
      return { state, effect: { kind: 'path', target } };
    default:
      return unreachable(key);
  }
}

/** They ask questions, show a program of their own or run until they are stopped. */
const WITH_TERMINAL: ReadonlySet<string> = new Set([
  'attach',
  'config',
  'demo',
  'diff',
  'inbox',
  'init',
  'orchestrate',
  'review',
  'switch',
  'up',
  'work',
]);

/** `:` and a command of copse. A word that is only a dot is the selected task. */
export function commandOf(state: WatchState, text: string): Pressed {
  const refuse = (...lines: readonly string[]): Pressed => ({
    state: { ...state, message: { kind: 'refused', lines } },
    effect: null,
  });
  const words = splitWords(text);
  if (words === null) return refuse(`A quote in ${text} has no end.`);
  const withoutName = words[0] === 'copse' ? words.slice(1) : words;
  if (withoutName.includes('.') && state.selected === null)
    return refuse('No task is selected, so . names none.');
  const argv = withoutName.map((word) => (word === '.' ? (state.selected ?? word) : word));
  const [command = ''] = argv;
  if (command === '' || command === 'status' || command === 'watch')
    return refuse('It is on the screen already.');
  if (command === 'mcp') return refuse('copse mcp is for agent programs.', 'copse help mcp');
  const isFollowed = command === 'logs' && argv.some((word) => word === '-f' || word === '--follow');
  const plain = argv.filter((word) => word !== '-f' && word !== '--follow');
  if (isFollowed) return { state, effect: { kind: 'page', argv: plain, isFollowed } };
  if (WITH_TERMINAL.has(command)) return { state, effect: { kind: 'outside', argv, isAttach: false } };
  return { state, effect: { kind: 'page', argv, isFollowed: false } };
}
