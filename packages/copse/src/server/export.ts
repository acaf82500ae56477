/**
 * The board as `copse export` prints it, as a stream: of one moment and of any size. It holds a read transaction and a connection of the
 * board, so few run at a time, each for a limited time. A client that does not read is disconnected.
 */

import type { ServerResponse } from 'node:http';

import { type HttpAnswer, SAFE_HEADERS, problemAnswer } from './answer.ts';
import { inTime } from './events/tell.ts';
import type { Call, Route, ServedParts } from './routes.ts';
import { problem } from './rules/problem.ts';
import { API } from './rules/target.ts';

export function exportRoute(): Route {
  let running = 0;
  return {
    method: 'GET',
    path: `${API}/export`,
    isStream: true,
    async answer(serving, call) {
      if (running >= serving.limits.exports) return busy();
      running += 1;
      try {
        return await exportBoard(serving, call);
      } finally {
        running -= 1;
      }
    },
  };
}

function busy(): HttpAnswer {
  const text = 'Other exports are running. Send the request again when they have ended.';
  return problemAnswer(problem('busy', text, 'copse export'), { 'retry-after': '10' });
}

async function exportBoard(
  { board, limits, signal }: ServedParts,
  { response, onStream }: Call,
): Promise<HttpAnswer | undefined> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const over = AbortSignal.any([signal, gone.signal, AbortSignal.timeout(limits.exportMs)]);
  let waiting = '';
  let hasBegun = false;
  const send = async () => {
    // Not before the first line: until then a failure is an answer, and so is a board that is away for too long.
    if (!hasBegun && (response.headersSent || response.destroyed)) throw new Disconnected();
    if (!hasBegun) begin(response, onStream);
    hasBegun = true;
    const text = waiting;
    waiting = '';
    const taken = await inTime(limits.slowMs, over, (done) => {
      if (response.write(text)) done();
      else response.once('drain', done);
    });
    if (taken === 'slow' || over.aborted) throw new Disconnected();
  };
  try {
    await board.exportTo(async (line) => {
      waiting += `${JSON.stringify(line)}\n`;
      if (waiting.length >= limits.exportBytes) await send();
    });
    await send();
    response.end();
  } catch (error) {
    if (!response.headersSent) throw error;
    // Without the end of its last chunk: the client sees that it has not all.
    response.destroy();
    if (!(error instanceof Disconnected)) throw error;
  }
  return undefined;
}

function begin(response: ServerResponse, onStream: () => void): void {
  onStream();
  response.writeHead(200, { ...SAFE_HEADERS, 'content-type': 'application/jsonl' });
}

class Disconnected extends Error {
  override readonly name = 'Disconnected';
}
