/** The body of a request, as bytes and within a limit. */

import type { IncomingMessage } from 'node:http';

export type Body =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'late' }
  /** The client went away. */
  | { readonly kind: 'cut' };

const waiting = new WeakMap<IncomingMessage, () => void>();

/** For a client that sends `Expect: 100-continue`: it is told to go on when its body is read. Of a stranger that is a code or a trigger. */
export function beforeBody(request: IncomingMessage, goOn: () => void): void {
  waiting.set(request, goOn);
}

/** Without `mostMs`, it has as long as the whole request. */
export function readBody(request: IncomingMessage, mostBytes: number, mostMs?: number): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > mostBytes)
    return Promise.resolve({ kind: 'too_large' });
  waiting.get(request)?.();
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const { socket } = request;
    const end = (body: Body) => {
      clearTimeout(timer);
      socket.off('close', cut);
      resolve(body);
    };
    const cut = () => end({ kind: 'cut' });
    // The rest is thrown away; the server ends the connection after its answer.
    const stop = (kind: 'too_large' | 'late') => {
      chunks.length = 0;
      request.removeAllListeners('data').resume();
      end({ kind });
    };
    const timer = mostMs === undefined ? undefined : setTimeout(() => stop('late'), mostMs);
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > mostBytes) stop('too_large');
      else chunks.push(chunk);
    });
    request.once('end', () => end({ kind: 'read', bytes: Buffer.concat(chunks) }));
    request.once('error', cut);
    request.once('close', cut);
    // After an answer that did not wait for the body, the request itself tells of no end.
    socket.once('close', cut);
  });
}
