/**
 * Anthropic Messages, as Claude Code speaks it.
 *
 * A stream is message_start, then for every block its start, deltas and stop, then message_delta and message_stop.
 */

import {
  type Answer,
  type Body,
  type Failure,
  inputText,
  listOf,
  type Protocol,
  type ServerSentEvent,
  textIn,
} from './protocol.ts';

export const anthropic: Protocol = {
  name: 'anthropic',
  path: /\/v1\/messages$/,
  aside(method, path, body) {
    if (method === 'POST' && path.endsWith('/v1/messages/count_tokens')) {
      return { input_tokens: Math.ceil(JSON.stringify(body).length / 4) };
    }
    return undefined;
  },
  isStreamed: (body) => body['stream'] === true,
  offered: (body) => listOf(body['tools']).map((tool) => ({ name: textIn(tool, 'name') })),
  conversation: (body) => [body['system'], body['messages']],
  events: (answer) => [
    started(answer),
    ...blocks(answer).flatMap((block, index) => blockEvents(block, index)),
    typed('message_delta', {
      delta: { stop_reason: stopReason(answer), stop_sequence: null },
      usage: { output_tokens: answer.usage.output },
    }),
    typed('message_stop', {}),
  ],
  whole: (answer) => ({
    ...message(answer),
    content: blocks(answer),
    stop_reason: stopReason(answer),
    usage: { ...inputUsage(answer), output_tokens: answer.usage.output },
  }),
  failed: ({ status, message }: Failure) => ({
    type: 'error',
    error: { type: ERROR_TYPES[status] ?? 'api_error', message },
  }),
};

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: Body };

function blocks({ id, text, calls }: Answer): readonly Block[] {
  const uses = calls.map((call, index): Block => {
    if (typeof call.input === 'string') throw new Error(`Claude's tools take an object: ${call.tool}`);
    return { type: 'tool_use', id: `toolu_${id}_${index}`, name: call.tool, input: call.input };
  });
  return text === '' && uses.length > 0 ? uses : [{ type: 'text', text }, ...uses];
}

function blockEvents(block: Block, index: number): readonly ServerSentEvent[] {
  const [empty, delta] =
    block.type === 'text'
      ? [
          { type: 'text', text: '' },
          { type: 'text_delta', text: block.text },
        ]
      : [
          { ...block, input: {} },
          { type: 'input_json_delta', partial_json: inputText({ tool: block.name, input: block.input }) },
        ];
  return [
    typed('content_block_start', { index, content_block: empty }),
    typed('content_block_delta', { index, delta }),
    typed('content_block_stop', { index }),
  ];
}

function started(answer: Answer): ServerSentEvent {
  const usage = { ...inputUsage(answer), output_tokens: 1 };
  return typed('message_start', { message: { ...message(answer), content: [], stop_reason: null, usage } });
}

function message({ id, model }: Answer): Body {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null };
}

function inputUsage({ usage }: Answer): Body {
  return {
    input_tokens: usage.input,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite,
  };
}

function stopReason({ calls }: Answer): string {
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

function typed(event: string, data: Body): ServerSentEvent {
  return { event, data: { type: event, ...data } };
}
