/**
 * Gemini CLI's output (`--output-format=stream-json`) and its record, as runtime events.
 *
 *   init → message(user) → ( message(assistant) | tool_use | tool_result | error )* → result
 *
 * The output has the usage once, at the end, for this run only. The record has it after each answer, so that a stopped turn
 * is counted too. Either may be ahead of the other; nothing is counted twice.
 */

import { type Usage, isNothing, noUsage } from '../../../kernel/usage.ts';
import type { Turn } from '../../ports/runtime.ts';
import { type Fields, count, fields, number, text } from '../fields.ts';
import type { GeminiFailure } from './failure.ts';
import type { Transcript } from '../transcript.ts';

export interface GeminiReader {
  /** A line of its output. */
  take(value: unknown): void;
  /** A line of its record. */
  takeRecord(value: unknown): void;
  /** Ends a message that is still incomplete. */
  end(): void;
  isComplete(): boolean;
  lastWords(): string;
  failure(): GeminiFailure | null;
}

export interface GeminiReading {
  readonly turn: Pick<Turn, 'on'>;
  readonly transcript: Transcript;
}

/** Of all its models except small ones that run elsewhere; Gemini does not print it. */
const WINDOW_TOKENS = 1_048_576;

export function readGemini({ turn, transcript }: GeminiReading): GeminiReader {
  const counted = new Set<string>();
  let recorded = noUsage;
  let printed = noUsage;
  let told = noUsage;
  let words = '';
  let lastWords = '';
  let isComplete = false;
  let failed: GeminiFailure | null = null;
  let complaint: string | null = null;

  const tellUsage = (): void => {
    const total = most(recorded, printed);
    const since = less(total, told);
    told = total;
    if (!isNothing(since)) turn.on({ type: 'usage', usage: since });
  };
  const endWords = (): void => {
    if (words.trim() !== '') {
      lastWords = words.trim();
      transcript.said(lastWords);
    }
    words = '';
  };
  const take = (value: unknown): void => {
    switch (text(value, 'type')) {
      case 'init': {
        const id = text(value, 'session_id');
        if (id !== undefined) turn.on({ type: 'conversation', id });
        return;
      }
      case 'message':
        if (text(value, 'role') !== 'assistant') return;
        complaint = null;
        words += text(value, 'content') ?? '';
        return;
      case 'tool_use':
        complaint = null;
        endWords();
        return transcript.used(text(value, 'tool_name') ?? 'tool', what(fields(value, 'parameters')));
      case 'tool_result':
        if (text(value, 'status') === 'error')
          transcript.note(text(fields(value, 'error'), 'message') ?? text(value, 'output') ?? 'failed');
        return;
      case 'error':
        endWords();
        if (text(value, 'severity') === 'error') complaint = text(value, 'message') ?? null;
        return transcript.note(text(value, 'message') ?? 'an error');
      case 'result': {
        endWords();
        const error = fields(value, 'error');
        const isWell = text(value, 'status') === 'success' && error === undefined && complaint === null;
        isComplete = isWell;
        if (!isWell)
          failed = {
            message: text(error, 'message') ?? complaint ?? 'Gemini gave no reason.',
            type: text(error, 'type') ?? null,
          };
        printed = usageOfStats(fields(value, 'stats')) ?? printed;
        return tellUsage();
      }
      default:
    }
  };
  const takeRecord = (value: unknown): void => {
    const id = text(value, 'id');
    const tokens = fields(value, 'tokens');
    // An answer is written again after its tool calls.
    if (text(value, 'type') !== 'gemini' || id === undefined || tokens === undefined || counted.has(id))
      return;
    counted.add(id);
    recorded = add(recorded, usageOfRecord(tokens));
    tellUsage();
    turn.on({ type: 'context', share: Math.min(1, count(tokens, 'total') / WINDOW_TOKENS) });
  };
  return {
    take,
    takeRecord,
    end: endWords,
    isComplete: () => isComplete,
    lastWords: () => lastWords,
    failure: () => failed,
  };
}

/** Input includes cached tokens; only the total includes thoughts. */
function usageOfStats(stats: Fields | undefined): Usage | null {
  const input = number(stats, 'input_tokens');
  if (input === undefined) return null;
  const cached = Math.min(input, count(stats, 'cached'));
  const output = Math.max(count(stats, 'output_tokens'), count(stats, 'total_tokens') - input);
  return { input: input - cached, cached, output, dollars: null };
}

function usageOfRecord(tokens: Fields): Usage {
  const input = count(tokens, 'input');
  const cached = Math.min(input, count(tokens, 'cached'));
  const output = Math.max(count(tokens, 'output'), count(tokens, 'total') - input);
  return { input: input - cached, cached, output, dollars: null };
}

type Tokens = 'input' | 'cached' | 'output';

function each(of: (field: Tokens) => number): Usage {
  return { input: of('input'), cached: of('cached'), output: of('output'), dollars: null };
}

function add(one: Usage, other: Usage): Usage {
  return each((field) => one[field] + other[field]);
}

function most(one: Usage, other: Usage): Usage {
  return each((field) => Math.max(one[field], other[field]));
}

function less(total: Usage, before: Usage): Usage {
  return each((field) => total[field] - before[field]);
}

function what(parameters: Fields | undefined): string {
  return (
    text(parameters, 'command') ??
    text(parameters, 'file_path') ??
    text(parameters, 'path') ??
    JSON.stringify(parameters ?? {})
  );
}
