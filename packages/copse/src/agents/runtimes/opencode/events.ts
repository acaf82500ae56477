/**
 * opencode's output (`opencode run --format json`), as runtime events.
 *
 *   ( step_start → ( text | tool_use )* → step_finish )* | error
 *
 * Every line names the conversation. A step is one answer of the model, with its usage. The last step of a complete turn
 * calls no tools.
 */

import { type Usage, isNothing } from '../../../kernel/usage.ts';
import type { Turn } from '../../ports/runtime.ts';
import { type Fields, count, fields, number, text } from '../fields.ts';
import type { Transcript } from '../transcript.ts';

export interface OpencodeReader {
  take(value: unknown): void;
  isComplete(): boolean;
  lastWords(): string;
  /** The last `error`, unless a step began after it. */
  failure(): Fields | null;
}

export interface OpencodeReading {
  readonly turn: Pick<Turn, 'on'>;
  readonly transcript: Transcript;
}

/** opencode does not print the context size. */
const WINDOW_TOKENS = 200_000;

export function readOpencode({ turn, transcript }: OpencodeReading): OpencodeReader {
  let conversation: string | null = null;
  let lastWords = '';
  let isComplete = false;
  let failed: Fields | null = null;

  const takeConversation = (id: string | undefined): void => {
    if (id === undefined || id === conversation) return;
    conversation = id;
    turn.on({ type: 'conversation', id });
  };
  const take = (value: unknown): void => {
    takeConversation(text(value, 'sessionID'));
    const part = fields(value, 'part');
    switch (text(value, 'type')) {
      case 'step_start':
        isComplete = false;
        failed = null;
        return;
      case 'text':
        lastWords = text(part, 'text')?.trim() ?? '';
        return lastWords === '' ? undefined : transcript.said(lastWords);
      case 'tool_use':
        return showTool(part, transcript);
      case 'step_finish': {
        isComplete = text(part, 'reason') !== undefined && text(part, 'reason') !== 'tool-calls';
        const tokens = fields(part, 'tokens');
        if (tokens === undefined) return;
        const usage = usageOf(tokens, count(part, 'cost'));
        if (!isNothing(usage)) turn.on({ type: 'usage', usage });
        const inContext = usage.input + usage.cached + usage.output;
        turn.on({ type: 'context', share: Math.min(1, inContext / WINDOW_TOKENS) });
        return;
      }
      case 'error':
        failed = fields(value, 'error') ?? {};
        return transcript.note(text(fields(failed, 'data'), 'message') ?? text(failed, 'name') ?? 'an error');
      default:
    }
  };
  return {
    take,
    isComplete: () => isComplete && failed === null,
    lastWords: () => lastWords,
    failure: () => failed,
  };
}

/** Input excludes cached tokens. The cost is 0 for models without a known price. */
function usageOf(tokens: Fields, cost: number): Usage {
  const cache = fields(tokens, 'cache');
  return {
    input: count(tokens, 'input'),
    cached: count(cache, 'read') + count(cache, 'write'),
    output: count(tokens, 'output') + count(tokens, 'reasoning'),
    dollars: cost > 0 ? cost : null,
  };
}

function showTool(part: Fields | undefined, transcript: Transcript): void {
  const state = fields(part, 'state');
  const input = fields(state, 'input');
  const what = text(input, 'command') ?? text(input, 'filePath') ?? JSON.stringify(input ?? {});
  transcript.used(text(part, 'tool') ?? 'tool', what);
  const code = number(fields(state, 'metadata'), 'exit') ?? 0;
  if (text(state, 'status') === 'error') transcript.note(text(state, 'error') ?? 'failed');
  else if (code !== 0) transcript.note(`exit code ${code}`);
}
