/** What the scripted model server, its steps and its protocols tell each other. */

import type { IncomingHttpHeaders } from 'node:http';

/** What the model does next, or how it decides that from what it is asked. */
export type Step = Reply | ((request: ModelRequest) => Reply | Promise<Reply>);

export interface ModelRequest {
  /** `turn` took a step of the script; `aside` asked the model without tools; `other` was no question to the model. */
  readonly kind: 'turn' | 'aside' | 'other';
  readonly protocol: Protocol['name'] | null;
  readonly method: string;
  /** With its query, without the key. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
  readonly tools: readonly OfferedTool[];
  /** What the model is told, oldest first, its instructions before everything. */
  readonly conversation: readonly unknown[];
  readonly at: Date;
}

/** What the model does in answer to one request. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly ToolCall[];
  readonly usage?: Usage;
  /** Waits so long before the first byte. */
  readonly delayMs?: number;
  /** An HTTP error in place of an answer. */
  readonly failure?: Failure;
  /** The connection is cut after the first half of the answer. */
  readonly isDropped?: boolean;
}

export interface ToolCall {
  readonly tool: string;
  /** A string is the free-form input of one of Codex's custom tools. */
  readonly input: Readonly<Record<string, unknown>> | string;
  /** Codex groups the tools of an MCP server under a name. */
  readonly namespace?: string;
}

/** Tokens. What was read from or written to the cache is not part of `input`. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

export interface Failure {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A reply that is an answer: every field is there. */
export interface Answer {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: Required<Usage>;
  readonly model: string;
  /** Unique within the server. */
  readonly id: string;
}

export interface OfferedTool {
  readonly name: string;
  readonly namespace?: string;
}

export type Body = Readonly<Record<string, unknown>>;

export interface ServerSentEvent {
  readonly event?: string;
  readonly data: unknown;
}

export interface Protocol {
  readonly name: 'anthropic' | 'responses' | 'chat' | 'gemini';
  /** Whether a path, without its query, asks this protocol's model for an answer. */
  readonly path: RegExp;
  /** Other questions that its programs ask, answered without the script. */
  aside?(method: string, path: string, body: Body): unknown;
  isStreamed(body: Body, path: string): boolean;
  offered(body: Body): readonly OfferedTool[];
  conversation(body: Body): readonly unknown[];
  events(answer: Answer): readonly ServerSentEvent[];
  whole(answer: Answer): unknown;
  failed(failure: Failure): unknown;
}

/** A field that holds text, or nothing. */
export function textIn(body: Body, field: string): string {
  const value = body[field];
  return typeof value === 'string' ? value : '';
}

export function listOf(value: unknown): readonly Body[] {
  return Array.isArray(value) ? (value as readonly Body[]) : [];
}

/** A tool's input as the JSON text that most protocols carry. */
export function inputText({ input }: ToolCall): string {
  return typeof input === 'string' ? input : JSON.stringify(input);
}
