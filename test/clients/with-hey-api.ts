/** The day's client with the functions that @hey-api/openapi-ts writes. */

import type { Api, BoardEvent, Connection } from './api.ts';
import { createClient } from './generated/hey-api/client/index.ts';
import * as copse from './generated/hey-api/sdk.gen.ts';

export function enter(url: string, code: string) {
  return copse.serverEnter({ client: createClient({ baseUrl: url }), body: { code } });
}

export function connect({ url, token }: Connection): Api {
  const client = createClient({ baseUrl: url, auth: token });
  const of = (task: string) => ({ client, path: { task } });
  return {
    snapshot: () => copse.serverSnapshot({ client }),
    async *events(after, signal) {
      const { stream } = await copse.serverEvents({
        client,
        query: { after },
        signal,
        sseDefaultRetryDelay: 1,
      });
      // It parses the text of each event.
      for await (const event of stream) yield event as unknown as BoardEvent;
    },
    eventPage: (after) => copse.eventList({ client, query: { after, limit: 20 } }),
    addPlan: (title) => copse.planAdd({ client, body: { title } }),
    plan: (plan) => copse.planShow({ client, path: { plan } }),
    add: (body, key) =>
      copse.taskAdd({ client, body, headers: key === undefined ? {} : { 'Idempotency-Key': key } }),
    page: (cursor) =>
      copse.taskList({ client, query: { all: true, limit: 2, ...(cursor !== undefined && { cursor }) } }),
    list: (etag) => copse.taskList({ client, headers: etag === undefined ? {} : { 'If-None-Match': etag } }),
    counts: () => copse.boardStatus({ client }),
    show: (id) => copse.taskShow(of(id)),
    why: (id) => copse.taskWhy(of(id)),
    needsYou: () => copse.inboxList({ client }),
    question: (id) => copse.questionShow(of(id)),
    allow: (id, question) => copse.questionAnswer({ ...of(id), body: { isAllowed: true, question } }),
    restart: (id, answer) => copse.taskRestart({ ...of(id), body: { answer } }),
    review: (id) => copse.reviewShow(of(id)),
    approve: (id, head) => copse.reviewApprove({ ...of(id), body: { head } }),
    sendBack: (id, comment) => copse.reviewSendBack({ ...of(id), body: { comment } }),
    undoLanding: (id) => copse.landingUndo(of(id)),
    pause: (id) => copse.taskPause(of(id)),
    resume: (id) => copse.taskResume(of(id)),
    // The types demand the header: a client that forgets it is told by the compiler first.
    cancel: (id, confirm) => copse.taskCancel({ ...of(id), headers: { Confirm: confirm as 'task.cancel' } }),
    delete: (tasks, confirm) =>
      copse.taskDelete({ client, body: { tasks }, headers: { Confirm: confirm as 'task.delete' } }),
  };
}
