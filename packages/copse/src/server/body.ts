/** The body of a request, as bytes and within a limit. */

import type { IncomingMessage } from 'node:http';

export type Body =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  /** The client went away. */
  | { readonly kind: 'cut' };

export function readBody(request: IncomingMessage, mostBytes: number): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > mostBytes)
    return Promise.resolve({ kind: 'too_large' });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > mostBytes) {
        // The rest is thrown away; the server ends the connection after its answer.
        chunks.length = 0;
        request.removeAllListeners('data').resume();
        resolve({ kind: 'too_large' });
      } else chunks.push(chunk);
    });
    request.once('end', () => resolve({ kind: 'read', bytes: Buffer.concat(chunks) }));
    request.once('error', () => resolve({ kind: 'cut' }));
    request.once('close', () => resolve({ kind: 'cut' }));
  });
}
