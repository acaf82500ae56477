/**
 * Codex's output (`codex exec --json`) and its record, as runtime events.
 *
 *   thread.started → turn.started → ( item.started | item.completed | error )* → turn.completed | turn.failed
 *
 * Both count tokens from the beginning of the conversation. An `error` during a turn is a failed try that Codex retries.
 */

import { type Usage, isNothing, noUsage, usageSince } from '../../../kernel/usage.ts';
import type { Turn } from '../../ports/runtime.ts';
import { type Fields, fields, isFields, list, number, text } from '../fields.ts';
import type { CodexFailure } from './failure.ts';
import type { Transcript } from '../transcript.ts';

export interface CodexReader {
  /** A line of its output. */
  take(value: unknown): void;
  /** A line of its record. */
  takeRecord(value: unknown): void;
  conversation(): string | null;
  isComplete(): boolean;
  lastWords(): string;
  failure(): CodexFailure | null;
}

export interface CodexReading {
  readonly turn: Pick<Turn, 'conversation' | 'used' | 'on'>;
  readonly transcript: Transcript;
}

export function readCodex({ turn, transcript }: CodexReading): CodexReader {
  let conversation = turn.conversation;
  let told = conversation === null ? noUsage : turn.used;
  let isComplete = false;
  let lastWords = '';
  let failed: string | null = null;
  let kind: unknown = null;
  let resetsAtMs: number | null = null;

  const takeUsage = (total: Usage | null): void => {
    if (total === null) return;
    const since = usageSince(total, told);
    told = total;
    if (!isNothing(since)) turn.on({ type: 'usage', usage: since });
  };
  const take = (value: unknown): void => {
    switch (text(value, 'type')) {
      case 'thread.started': {
        conversation = text(value, 'thread_id') ?? conversation;
        if (conversation !== null) turn.on({ type: 'conversation', id: conversation });
        return;
      }
      case 'item.started':
        return showBegun(fields(value, 'item'), transcript);
      case 'item.completed': {
        const item = fields(value, 'item');
        if (text(item, 'type') === 'agent_message') lastWords = text(item, 'text') ?? '';
        return showDone(item, transcript);
      }
      case 'turn.completed':
        isComplete = true;
        return takeUsage(usageOf(fields(value, 'usage')));
      case 'turn.failed':
        failed = text(fields(value, 'error'), 'message') ?? 'Codex gave no reason.';
        return;
      case 'error':
        return transcript.note(text(value, 'message') ?? 'an error');
      default:
    }
  };
  const takeRecord = (value: unknown): void => {
    const payload = fields(value, 'payload');
    if (text(value, 'type') !== 'event_msg') return;
    if (text(payload, 'type') === 'task_complete')
      kind = fields(payload, 'error')?.['codex_error_info'] ?? null;
    if (text(payload, 'type') !== 'token_count') return;
    resetsAtMs = resetOf(fields(payload, 'rate_limits'));
    const info = fields(payload, 'info');
    takeUsage(usageOf(fields(info, 'total_token_usage')));
    const share = shareOf(info);
    if (share !== null) turn.on({ type: 'context', share });
  };
  return {
    take,
    takeRecord,
    conversation: () => conversation,
    isComplete: () => isComplete && failed === null,
    lastWords: () => lastWords,
    failure: () => (failed === null ? null : { message: failed, kind, resetsAtMs }),
  };
}

/** Codex counts cached tokens as input too. */
function usageOf(counts: Fields | undefined): Usage | null {
  const input = number(counts, 'input_tokens');
  const output = number(counts, 'output_tokens');
  if (input === undefined || output === undefined) return null;
  const cached =
    (number(counts, 'cached_input_tokens') ?? 0) + (number(counts, 'cache_write_input_tokens') ?? 0);
  return { input: Math.max(0, input - cached), cached, output, dollars: null };
}

function shareOf(info: Fields | undefined): number | null {
  const tokens = number(fields(info, 'last_token_usage'), 'total_tokens');
  const window = number(info, 'model_context_window');
  return tokens === undefined || !window ? null : Math.min(1, tokens / window);
}

/** When the last of the reached limits resets. */
function resetOf(limits: Fields | undefined): number | null {
  const times = [fields(limits, 'primary'), fields(limits, 'secondary')].flatMap((limit) => {
    const at = number(limit, 'resets_at');
    return at !== undefined && (number(limit, 'used_percent') ?? 0) >= 100 ? [at * 1_000] : [];
  });
  return times.length === 0 ? null : Math.max(...times);
}

function showBegun(item: Fields | undefined, transcript: Transcript): void {
  switch (text(item, 'type')) {
    case 'command_execution':
      return transcript.used('shell', text(item, 'command') ?? '');
    case 'mcp_tool_call':
      return transcript.used(
        `${text(item, 'server') ?? ''}.${text(item, 'tool') ?? ''}`,
        JSON.stringify(item?.['arguments'] ?? {}),
      );
    default:
  }
}

function showDone(item: Fields | undefined, transcript: Transcript): void {
  switch (text(item, 'type')) {
    case 'agent_message':
      return transcript.said(text(item, 'text') ?? '');
    case 'file_change': {
      const files = list(item, 'changes').flatMap((change) =>
        isFields(change) ? [`${text(change, 'kind') ?? 'change'} ${text(change, 'path') ?? ''}`] : [],
      );
      return transcript.used('edit', files.join(', '));
    }
    case 'command_execution': {
      const code = number(item, 'exit_code') ?? 0;
      return code === 0 ? undefined : transcript.note(`exit code ${code}`);
    }
    case 'web_search':
      return transcript.used('search', text(item, 'query') ?? '');
    case 'error':
      return transcript.note(text(item, 'message') ?? 'an error');
    default:
  }
}
