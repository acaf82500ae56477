/**
 * Gemini's generateContent, as Gemini CLI speaks it.
 *
 * A stream is whole responses that each carry some parts; the last has the finish reason and the usage.
 */

import { type Answer, type Body, listOf, type Protocol, textIn } from './protocol.ts';

export const gemini: Protocol = {
  name: 'gemini',
  path: /\/models\/[^/]+:(generateContent|streamGenerateContent)$/,
  aside(method, path, body) {
    if (method === 'POST' && path.endsWith(':countTokens')) {
      return { totalTokens: Math.ceil(JSON.stringify(body).length / 4) };
    }
    return undefined;
  },
  isStreamed: (_body, path) => path.includes(':streamGenerateContent'),
  offered: (body) =>
    listOf(body['tools'])
      .flatMap((tool) => listOf(tool['functionDeclarations']))
      .map((declared) => ({ name: textIn(declared, 'name') })),
  conversation: (body) => [body['systemInstruction'], body['contents']],
  events: (answer) => [
    ...parts(answer).map((part) => ({ data: response(answer, [part]) })),
    { data: { ...whole(answer, []) } },
  ],
  whole: (answer) => whole(answer, parts(answer)),
  failed: ({ status, message }) => ({
    error: { code: status, message, status: STATUSES[status] ?? 'INTERNAL' },
  }),
};

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function parts({ text, calls }: Answer): readonly Body[] {
  const made = calls.map(({ tool, input }) => ({ functionCall: { name: tool, args: input } }));
  return text === '' && made.length > 0 ? made : [{ text }, ...made];
}

function response({ id, model }: Answer, shown: readonly Body[], finish: Body = {}): Body {
  const candidate = { index: 0, content: { role: 'model', parts: shown }, ...finish };
  return { candidates: [candidate], modelVersion: model, responseId: `response-${id}` };
}

function whole(answer: Answer, shown: readonly Body[]): Body {
  const { input, output, cacheRead, cacheWrite } = answer.usage;
  const prompt = input + cacheRead + cacheWrite;
  const usageMetadata = {
    promptTokenCount: prompt,
    cachedContentTokenCount: cacheRead,
    candidatesTokenCount: output,
    totalTokenCount: prompt + output,
  };
  return { ...response(answer, shown, { finishReason: 'STOP' }), usageMetadata };
}
