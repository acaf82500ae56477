/** An agent's updates during its turn (`session/update`), for the log and the runner. */

import { type Usage, isNothing, usageSince } from '../../../kernel/usage.ts';
import type { Turn } from '../../ports/runtime.ts';
import { type Fields, fields, isFields, list, number, text } from '../fields.ts';
import type { Transcript } from '../transcript.ts';

export interface UpdateReader {
  take(update: unknown): void;
  /** The tokens in the answer to a prompt: of this prompt only. */
  takeUsage(usage: unknown): void;
  /** A tool call by its id, as far as it was reported. */
  toolCall(id: string): ToolCall | undefined;
  /** Called when the agent has ended its turn. */
  end(): TurnWords;
}

export interface ToolCall {
  readonly name: string | undefined;
  readonly kind: string | undefined;
  readonly title: string | undefined;
  readonly input: Fields | undefined;
  readonly paths: readonly string[];
}

export interface TurnWords {
  readonly lastWords: string;
  /** Whether it wrote a message or called a tool. */
  readonly hasOutput: boolean;
  readonly hasTools: boolean;
  /** Codex ends its turn normally when its model cannot be reached; this is its last message then. */
  readonly failure: string | null;
  /** When the vendor's limit resets, if it was reported. */
  readonly resetsAtMs: number | null;
}

export function readUpdates(
  turn: Pick<Turn, 'conversation' | 'used' | 'on'>,
  transcript: Transcript,
): UpdateReader {
  const calls = new Map<string, ToolCall & { isShown: boolean }>();
  let dollars = turn.conversation === null ? 0 : (turn.used.dollars ?? 0);
  let message = { id: '', text: '' };
  let lastWords = '';
  let hasOutput = false;
  let failure: string | null = null;
  let resetsAtMs: number | null = null;

  const flush = (): void => {
    const said = message.text.trim();
    message = { id: '', text: '' };
    if (said === '') return;
    lastWords = said;
    transcript.said(said);
  };
  const takeChunk = (update: Fields): void => {
    const said = text(fields(update, 'content'), 'text') ?? '';
    const id = text(update, 'messageId') ?? '';
    if (failure !== null && id === '') failure += said;
    if (id !== message.id) flush();
    message = { id, text: message.text + said };
    if (said.trim() !== '') hasOutput = true;
  };
  const takeCall = (update: Fields): void => {
    flush();
    hasOutput = true;
    const id = text(update, 'toolCallId') ?? '';
    const call = merge(calls.get(id), update);
    calls.set(id, call);
    const status = text(update, 'status');
    const isOver = status === 'completed' || status === 'failed';
    if (!call.isShown && (isOver || status === 'in_progress' || Object.keys(call.input ?? {}).length > 0)) {
      call.isShown = true;
      transcript.used(call.name ?? call.kind ?? 'tool', whatOf(call));
    }
    if (status === 'failed') transcript.note('it failed');
  };
  const tellUsage = (usage: Usage): void => {
    if (!isNothing(usage)) turn.on({ type: 'usage', usage });
  };
  const takeContext = (update: Fields): void => {
    const used = number(update, 'used');
    const size = number(update, 'size');
    if (used !== undefined && size) turn.on({ type: 'context', share: Math.min(1, used / size) });
    resetsAtMs = resetOf(update) ?? resetsAtMs;
    const cost = fields(update, 'cost');
    const total = number(cost, 'amount');
    if (total === undefined || text(cost, 'currency') !== 'USD') return;
    const none = { input: 0, cached: 0, output: 0 };
    tellUsage(usageSince({ ...none, dollars: total }, { ...none, dollars }));
    dollars = total;
  };
  const takeInfo = (update: Fields): void => {
    const codex = fields(fields(update, '_meta'), 'codex');
    const status = text(fields(codex, 'threadStatus'), 'type');
    if (status === 'systemError') failure ??= '';
    if (status === 'active') failure = null;
    const error = fields(codex, 'error');
    if (error !== undefined)
      transcript.note([text(error, 'message'), text(error, 'additionalDetails')].filter(Boolean).join(': '));
  };
  return {
    take: (update) => {
      if (!isFields(update)) return;
      switch (text(update, 'sessionUpdate')) {
        case 'agent_message_chunk':
          return takeChunk(update);
        case 'tool_call':
        case 'tool_call_update':
          return takeCall(update);
        case 'usage_update':
          return takeContext(update);
        case 'session_info_update':
          return takeInfo(update);
        default:
      }
    },
    takeUsage: (usage) => {
      const tokens = tokensOf(usage);
      if (tokens !== null) tellUsage(tokens);
    },
    toolCall: (id) => calls.get(id),
    end: () => {
      flush();
      return {
        lastWords,
        hasOutput,
        hasTools: calls.size > 0,
        failure: failure === null ? null : failure.trim(),
        resetsAtMs,
      };
    },
  };
}

function merge(before: ToolCall | undefined, update: Fields): ToolCall & { isShown: boolean } {
  const paths = pathsOf(update);
  return {
    isShown: false,
    ...before,
    name:
      text(update, 'name') ?? text(fields(fields(update, '_meta'), 'claudeCode'), 'toolName') ?? before?.name,
    kind: text(update, 'kind') ?? before?.kind,
    title: text(update, 'title') ?? before?.title,
    input: fields(update, 'rawInput') ?? before?.input,
    paths: paths.length > 0 ? paths : (before?.paths ?? []),
  };
}

/** A tool call from a permission request, merged with earlier updates about it. */
export function callOf(request: unknown, known: ToolCall | undefined): ToolCall {
  return isFields(request) ? merge(known, request) : (known ?? merge(undefined, {}));
}

function pathsOf(update: Fields): readonly string[] {
  const all = [...list(update, 'locations'), ...list(update, 'content')].flatMap(
    (one) => text(one, 'path') ?? [],
  );
  return [...new Set(all)];
}

const LONGEST_INPUT = 2_000;

/** For a person who may have to allow it: the command, the files, or all of the input. */
export function whatOf({ title = '', input, paths }: ToolCall): string {
  const command = input?.['command'];
  if (typeof command === 'string') return command;
  if (Array.isArray(command)) return command.join(' ');
  const files = paths.filter((file) => !title.includes(file)).join(', ');
  if (files !== '' || paths.length > 0) return `${title} ${files}`.trim();
  const rest = input === undefined || Object.keys(input).length === 0 ? '' : JSON.stringify(input);
  return `${title} ${rest.slice(0, LONGEST_INPUT)}`.trim();
}

/** Some agents count cached tokens as input too; the total shows which. */
function tokensOf(usage: unknown): Usage | null {
  const input = number(usage, 'inputTokens');
  const output = number(usage, 'outputTokens');
  if (input === undefined || output === undefined) return null;
  const cached = (number(usage, 'cachedReadTokens') ?? 0) + (number(usage, 'cachedWriteTokens') ?? 0);
  const includesCache = number(usage, 'totalTokens') === input + output && input >= cached;
  return { input: includesCache ? input - cached : input, cached, output, dollars: null };
}

function resetOf(update: Fields): number | null {
  const limit = fields(fields(update, '_meta'), '_claude/rateLimit');
  const at = number(limit, 'resetsAt');
  return at === undefined || text(limit, 'status') !== 'rejected' ? null : at * 1_000;
}
