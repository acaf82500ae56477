/** The day's client with openapi-fetch and the types of openapi-typescript. */

import createClient from 'openapi-fetch';

import type { Api, BoardEvent, Connection } from './api.ts';
import type { paths } from './generated/openapi-typescript.ts';

export function enter(url: string, code: string) {
  return createClient<paths>({ baseUrl: url }).POST('/api/v1/enter', { body: { code } });
}

export function connect({ url, token }: Connection): Api {
  const api = createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${token}` } });
  const of = (task: string) => ({ params: { path: { task } } });
  return {
    snapshot: () => api.GET('/api/v1/snapshot'),
    async *events(after, signal) {
      const { data } = await api.GET('/api/v1/events', {
        params: { query: { after } },
        parseAs: 'stream',
      });
      if (data) yield* eventsIn(data, signal);
    },
    eventPage: (after) => api.GET('/api/v1/events/page', { params: { query: { after, limit: 20 } } }),
    addPlan: (title) => api.POST('/api/v1/plans', { body: { title } }),
    plan: (plan) => api.GET('/api/v1/plans/{plan}', { params: { path: { plan } } }),
    add: (body, key) =>
      api.POST('/api/v1/tasks', {
        params: { header: key === undefined ? {} : { 'Idempotency-Key': key } },
        body,
      }),
    page: (cursor) =>
      api.GET('/api/v1/tasks', {
        params: { query: { all: true, limit: 2, ...(cursor !== undefined && { cursor }) } },
      }),
    list: (etag) =>
      api.GET('/api/v1/tasks', { params: { header: etag === undefined ? {} : { 'If-None-Match': etag } } }),
    counts: () => api.GET('/api/v1/status'),
    show: (id) => api.GET('/api/v1/tasks/{task}', of(id)),
    why: (id) => api.GET('/api/v1/tasks/{task}/why', of(id)),
    needsYou: () => api.GET('/api/v1/inbox'),
    question: (id) => api.GET('/api/v1/tasks/{task}/question', of(id)),
    allow: (id, question) =>
      api.POST('/api/v1/tasks/{task}/question', { ...of(id), body: { isAllowed: true, question } }),
    restart: (id, answer) => api.POST('/api/v1/tasks/{task}/restart', { ...of(id), body: { answer } }),
    review: (id) => api.GET('/api/v1/tasks/{task}/review', of(id)),
    approve: (id, head) => api.POST('/api/v1/tasks/{task}/approve', { ...of(id), body: { head } }),
    sendBack: (id, comment) => api.POST('/api/v1/tasks/{task}/send-back', { ...of(id), body: { comment } }),
    undoLanding: (id) => api.POST('/api/v1/tasks/{task}/undo-landing', of(id)),
    pause: (id) => api.POST('/api/v1/tasks/{task}/pause', of(id)),
    resume: (id) => api.POST('/api/v1/tasks/{task}/resume', of(id)),
    // The types demand the header: a client that forgets it is told by the compiler first.
    cancel: (task, confirm) =>
      api.POST('/api/v1/tasks/{task}/cancel', {
        params: { path: { task }, header: { Confirm: confirm as 'task.cancel' } },
      }),
    delete: (tasks, confirm) =>
      api.POST('/api/v1/tasks/delete', {
        params: { header: { Confirm: confirm as 'task.delete' } },
        body: { tasks },
      }),
  };
}

async function* eventsIn(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<BoardEvent> {
  let text = '';
  const decoder = new TextDecoder();
  const reader = body.getReader();
  signal.addEventListener('abort', () => void reader.cancel());
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += decoder.decode(value, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = block.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length)) as BoardEvent;
    }
  }
}
