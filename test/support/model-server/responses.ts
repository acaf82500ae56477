/**
 * OpenAI Responses, as Codex speaks it.
 *
 * A stream is response.created, then for every item that it was added and that it is done, then response.completed
 * with the usage. Codex takes an item from its done event.
 */

import {
  type Answer,
  type Body,
  inputText,
  listOf,
  type OfferedTool,
  type Protocol,
  type ServerSentEvent,
  textIn,
  type ToolCall,
} from './protocol.ts';

export const responses: Protocol = {
  name: 'responses',
  path: /\/responses$/,
  isStreamed: (body) => body['stream'] === true,
  offered: (body) => listOf(body['tools']).flatMap(offeredBy),
  conversation: (body) => [body['instructions'], body['input']],
  events: (answer) => {
    const { output, ...begun } = response(answer);
    return [
      typed('response.created', { response: { ...begun, status: 'in_progress', output: [] } }),
      ...items(answer).flatMap(itemEvents),
      typed('response.completed', { response: { ...begun, output } }),
    ].map(({ event, data }, index) => ({ event, data: { ...data, sequence_number: index } }));
  },
  whole: response,
  failed: ({ status, message }) => ({
    error: { type: ERROR_TYPES[status] ?? 'server_error', message, code: null },
  }),
};

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'invalid_request_error',
  429: 'rate_limit_exceeded',
};

/** A namespace holds the tools of one MCP server; a few tools of the vendor's have a type and no name. */
function offeredBy(tool: Body): readonly OfferedTool[] {
  const name = textIn(tool, 'name') || textIn(tool, 'type');
  if (tool['type'] !== 'namespace') return [{ name }];
  return listOf(tool['tools']).map((inner) => ({ name: textIn(inner, 'name'), namespace: name }));
}

function response(answer: Answer): Body {
  const { usage } = answer;
  const inputTokens = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    id: `resp_${answer.id}`,
    object: 'response',
    status: 'completed',
    model: answer.model,
    output: items(answer),
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: usage.cacheRead },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + usage.output,
    },
  };
}

function items({ id, text, calls }: Answer): readonly Body[] {
  const made = calls.map((call, index) => callItem(call, `${id}_${index}`));
  if (text === '' && made.length > 0) return made;
  const content = [{ type: 'output_text', text, annotations: [] }];
  return [{ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content }, ...made];
}

function callItem(call: ToolCall, id: string): Body {
  const named = {
    call_id: `call_${id}`,
    status: 'completed',
    name: call.tool,
    ...(call.namespace !== undefined && { namespace: call.namespace }),
  };
  return typeof call.input === 'string'
    ? { type: 'custom_tool_call', id: `ctc_${id}`, ...named, input: call.input }
    : { type: 'function_call', id: `fc_${id}`, ...named, arguments: inputText(call) };
}

function itemEvents(item: Body, index: number): readonly TypedEvent[] {
  const place = { output_index: index, item_id: item['id'] };
  const begun = item['type'] === 'message' ? { ...item, status: 'in_progress', content: [] } : item;
  const deltas = listOf(item['content']).map((part, content) =>
    typed('response.output_text.delta', { ...place, content_index: content, delta: part['text'] }),
  );
  return [
    typed('response.output_item.added', { output_index: index, item: begun }),
    ...deltas,
    typed('response.output_item.done', { output_index: index, item }),
  ];
}

interface TypedEvent extends ServerSentEvent {
  readonly event: string;
  readonly data: Body;
}

function typed(event: string, data: Body): TypedEvent {
  return { event, data: { type: event, ...data } };
}
