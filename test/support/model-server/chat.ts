/**
 * Chat completions, as opencode speaks it through its openai-compatible provider.
 *
 * A stream is chunks of one choice's delta, a chunk with the finish reason, a chunk with the usage, then [DONE].
 */

import {
  type Answer,
  type Body,
  inputText,
  listOf,
  type Protocol,
  type ServerSentEvent,
  textIn,
} from './protocol.ts';

export const chat: Protocol = {
  name: 'chat',
  path: /\/chat\/completions$/,
  isStreamed: (body) => body['stream'] === true,
  offered: (body) =>
    listOf(body['tools']).map((tool) => ({ name: textIn(tool['function'] as Body, 'name') })),
  conversation: (body) => [body['messages']],
  events: (answer) => [
    chunk(answer, { role: 'assistant', content: answer.text }),
    ...calls(answer).map((call, index) => chunk(answer, { tool_calls: [{ index, ...call }] })),
    chunk(answer, {}, finishReason(answer)),
    { data: { ...base(answer), object: 'chat.completion.chunk', choices: [], usage: usage(answer) } },
    { data: '[DONE]' },
  ],
  whole: (answer) => {
    const toolCalls = calls(answer);
    const message = {
      role: 'assistant',
      content: answer.text,
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    };
    const choices = [{ index: 0, message, finish_reason: finishReason(answer) }];
    return { ...base(answer), object: 'chat.completion', choices, usage: usage(answer) };
  },
  failed: ({ status, message }) => ({ error: { message, type: 'error', code: status } }),
};

function chunk(answer: Answer, delta: Body, finish: string | null = null): ServerSentEvent {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { data: { ...base(answer), object: 'chat.completion.chunk', choices } };
}

function base({ id, model }: Answer): Body {
  return { id: `chatcmpl-${id}`, created: 0, model };
}

function calls({ id, calls: made }: Answer): readonly Body[] {
  return made.map((call, index) => ({
    id: `call_${id}_${index}`,
    type: 'function',
    function: { name: call.tool, arguments: inputText(call) },
  }));
}

function finishReason({ calls: made }: Answer): string {
  return made.length > 0 ? 'tool_calls' : 'stop';
}

function usage({ usage: { input, output, cacheRead, cacheWrite } }: Answer): Body {
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}
