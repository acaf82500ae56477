/**
 * Messages of a working Claude Code. Its SDK and its command line (`stream-json`) send the same ones.
 *
 *   system/init → ( assistant | user | system/… | rate_limit_event )* → result
 *
 * Tokens are reported with each message, so a killed turn has reported most of them; the result reports the rest and the
 * dollars. Messages of unknown types are ignored.
 *
 * Fields: `parts` is the usage that each message reported since the last result (a message comes in parts), `told` their sum,
 * `before` the total at the last result, `contextTokens` the last message's context until it was reported.
 */

import { type Usage, addUsage, isNothing, noUsage, usageSince } from '../../../kernel/usage.ts';
import type { RuntimeEvent, RuntimeOutcome } from '../../ports/runtime.ts';
import { type Fields, count, fields, isFields, list, number, text } from '../fields.ts';
import { epochMs, outcomeOfResult } from './outcome.ts';
import type { Transcript } from '../transcript.ts';

/** Context size in tokens of each model, from earlier results. */
export interface Windows {
  get(model: string): number | undefined;
  set(model: string, tokens: number): void;
}

export interface ClaudeReading {
  /** Used before this turn. */
  readonly used: Usage;
  readonly on: (event: RuntimeEvent) => void;
  readonly transcript: Transcript;
  readonly windows: Windows;
  readonly now?: () => number;
}

/** For results that do not report it. */
const USUAL_WINDOW = 200_000;

export class ClaudeReader {
  readonly #reading: ClaudeReading;
  readonly #now: () => number;
  #conversation: string | null = null;
  #model: string | null = null;
  #result: Fields | undefined;
  #resetsAtMs: number | null = null;
  #lastDelayMs: number | null = null;
  #parts = new Map<string, Usage>();
  #told = noUsage;
  #before: Usage;
  #contextTokens: number | null = null;

  constructor(reading: ClaudeReading) {
    this.#reading = reading;
    this.#now = reading.now ?? Date.now;
    this.#before = reading.used;
  }

  take(message: unknown): void {
    if (!isFields(message)) return;
    switch (text(message, 'type')) {
      case 'system':
        return this.#takeSystem(message);
      case 'assistant':
        return this.#takeAssistant(message);
      case 'rate_limit_event':
        return this.#takeLimit(fields(message, 'rate_limit_info'));
      case 'result':
        return this.#takeResult(message);
      default:
    }
  }

  /** From the last result; undefined while there is none. The caller judges the program's exit. */
  outcome(): RuntimeOutcome | undefined {
    if (this.#result === undefined) return undefined;
    return outcomeOfResult(this.#result, {
      resetsAtMs: this.#resetsAtMs,
      lastDelayMs: this.#lastDelayMs,
      nowMs: this.#now(),
    });
  }

  #takeSystem(message: Fields): void {
    const { transcript, on } = this.#reading;
    switch (text(message, 'subtype')) {
      case 'init': {
        this.#model = text(message, 'model') ?? null;
        const id = text(message, 'session_id') ?? this.#conversation;
        if (id !== null && id !== this.#conversation) on({ type: 'conversation', id });
        this.#conversation = id;
        return;
      }
      case 'api_retry':
        return this.#takeRetry(message);
      case 'permission_denied': {
        const tool = text(message, 'tool_name') ?? 'A tool';
        return transcript.note(`${tool} was not allowed: ${text(message, 'message') ?? 'no reason given'}`);
      }
      case 'compact_boundary':
        return transcript.note('The conversation was shortened to make room.');
      case 'informational':
        return transcript.note(text(message, 'content') ?? '');
      default:
    }
  }

  #takeRetry(message: Fields): void {
    const status = number(message, 'error_status') ?? null;
    const delayMs = count(message, 'retry_delay_ms');
    this.#lastDelayMs = status === 429 ? delayMs : null;
    const why = status === null ? 'The model cannot be reached' : `The model answers with status ${status}`;
    const tries = `${number(message, 'attempt') ?? '?'} of ${number(message, 'max_retries') ?? '?'}`;
    this.#reading.transcript.note(`${why}: retry ${tries} in ${Math.ceil(delayMs / 1_000)} s.`);
  }

  #takeLimit(info: Fields | undefined): void {
    const resetsAt = number(info, 'resetsAt');
    const isReached = text(info, 'status') === 'rejected' && info?.['isUsingOverage'] !== true;
    this.#resetsAtMs = isReached && resetsAt !== undefined ? epochMs(resetsAt) : null;
    if (isReached) this.#reading.transcript.note('The limit of the plan was reached.');
  }

  #takeAssistant(message: Fields): void {
    const inner = fields(message, 'message');
    this.#tellContent(inner);
    const model = text(inner, 'model');
    const id = text(inner, 'id');
    const usage = usageOfMessage(fields(inner, 'usage'));
    // Messages of the program itself, for example API errors, cost nothing.
    if (model === undefined || model === SYNTHETIC || id === undefined || usage === undefined) return;
    const since = moreThan(usage, this.#parts.get(id) ?? noUsage);
    this.#tell(since);
    this.#told = addUsage(this.#told, since);
    // A subagent has its own context.
    const isFirstPart = !this.#parts.has(id);
    this.#parts.set(id, usage);
    if (!isFirstPart || text(message, 'parent_tool_use_id') !== undefined) return;
    this.#model = model;
    this.#contextTokens = usage.input + usage.cached + usage.output;
    // No guess here: models differ by a factor of five.
    this.#tellContext(this.#reading.windows.get(model));
  }

  #takeResult(message: Fields): void {
    this.#result = message;
    const { windows } = this.#reading;
    const models = fields(message, 'modelUsage') ?? {};
    for (const [name, model] of Object.entries(models)) {
      const window = count(model, 'contextWindow');
      if (window > 0) windows.set(name, window);
    }
    // Totals include earlier turns of a resumed conversation. Newer versions also report the difference.
    const total = { ...usageOfModels(models), dollars: count(message, 'total_cost_usd') };
    const own = fields(message, 'model_usage_since_last_result');
    const since = own === undefined ? usageSince(total, this.#before) : usageOfModels(own);
    this.#tell(moreThan(since, this.#told));
    this.#before = total;
    this.#told = noUsage;
    this.#parts = new Map();
    this.#tellContext(windows.get(this.#model ?? '') ?? USUAL_WINDOW);
  }

  #tellContent(message: Fields | undefined): void {
    const { transcript } = this.#reading;
    for (const block of list(message, 'content')) {
      const said = text(block, 'type') === 'text' ? text(block, 'text') : undefined;
      const tool = text(block, 'type') === 'tool_use' ? text(block, 'name') : undefined;
      if (said !== undefined && said.trim() !== '') transcript.said(said);
      if (tool !== undefined) transcript.used(tool, describeInput(fields(block, 'input')));
    }
  }

  #tell(usage: Usage): void {
    if (!isNothing(usage)) this.#reading.on({ type: 'usage', usage });
  }

  /** Once for each message. */
  #tellContext(window: number | undefined): void {
    if (this.#contextTokens === null || window === undefined) return;
    this.#reading.on({ type: 'context', share: Math.min(1, this.#contextTokens / window) });
    this.#contextTokens = null;
  }
}

const SYNTHETIC = '<synthetic>';

/** A tool's input for a person: its most telling field, or all of it. */
export function describeInput(input: unknown): string {
  for (const name of TELLING) {
    const value = text(input, name);
    if (value !== undefined) return value;
  }
  return isFields(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
}

const TELLING = ['command', 'file_path', 'notebook_path', 'url', 'pattern', 'path', 'query', 'prompt'];

function usageOfMessage(usage: Fields | undefined): Usage | undefined {
  if (usage === undefined) return undefined;
  return {
    input: count(usage, 'input_tokens'),
    cached: count(usage, 'cache_read_input_tokens') + count(usage, 'cache_creation_input_tokens'),
    output: count(usage, 'output_tokens'),
    dollars: null,
  };
}

function usageOfModels(models: Fields): Usage {
  return Object.values(models)
    .map((model) => ({
      input: count(model, 'inputTokens'),
      cached: count(model, 'cacheReadInputTokens') + count(model, 'cacheCreationInputTokens'),
      output: count(model, 'outputTokens'),
      dollars: count(model, 'costUSD'),
    }))
    .reduce(addUsage, noUsage);
}

/** The difference, never negative. */
function moreThan(usage: Usage, other: Usage): Usage {
  return {
    input: Math.max(0, usage.input - other.input),
    cached: Math.max(0, usage.cached - other.cached),
    output: Math.max(0, usage.output - other.output),
    dollars: usage.dollars === null ? null : Math.max(0, usage.dollars - (other.dollars ?? 0)),
  };
}
