/** The board as `copse export` prints it, as a stream: of one moment and of any size. A client that does not read is disconnected. */

import type { ServerResponse } from 'node:http';

import type { HttpAnswer } from './answer.ts';
import { SAFE_HEADERS } from './answer.ts';
import { inTime } from './events/tell.ts';
import type { Call, Route, ServedParts } from './routes.ts';
import { API } from './rules/target.ts';

export const exportRoute: Route = {
  method: 'GET',
  path: `${API}/export`,
  isStream: true,
  answer: exportBoard,
};

/** The board reads no further until the client has taken this much. */
const CHUNK = 64 * 1024;

async function exportBoard(
  { board, limits, signal }: ServedParts,
  { response, onStream }: Call,
): Promise<HttpAnswer | undefined> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const over = AbortSignal.any([signal, gone.signal]);
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
      if (waiting.length >= CHUNK) await send();
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
