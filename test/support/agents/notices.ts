/** The far ends of notifications: a desktop that writes down what it is shown, and an address on loopback. */

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { onTestFinished } from 'vitest';

import { plainEnv } from '../cli.ts';

export interface Desktop {
  readonly env: Readonly<Record<string, string>>;
  /** The arguments of each call. */
  shown(): readonly (readonly string[])[];
}

/** A `notify-send` on PATH. `then`: what it does after writing down. */
export function newDesktop(area: string, name: string, then = ''): Desktop {
  const folder = path.join(area, `desk "top" ${name}`);
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'shown');
  const program = path.join(folder, 'notify-send');
  // One call is one line of base64 words.
  const script = `#!/bin/sh
line=
for word in "$@"; do line="$line $(printf %s "$word" | base64 | tr -d '\\n')"; done
printf '%s\\n' "$line" >> "\${0%/*}/shown"
${then}
`;
  writeFileSync(program, script);
  chmodSync(program, 0o755);
  return {
    env: { PATH: `${folder}:${plainEnv['PATH'] ?? ''}`, DISPLAY: ':77' },
    shown: () =>
      (existsSync(file) ? readFileSync(file, 'utf8') : '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) =>
          line
            .trim()
            .split(' ')
            .map((word) => Buffer.from(word, 'base64').toString('utf8')),
        ),
  };
}

interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Webhook {
  readonly port: number;
  readonly received: readonly Received[];
}

/** Answers each request with the next status, and all further ones with the last; 0 is never answered. */
export async function newWebhook(...statuses: readonly number[]): Promise<Webhook> {
  const received: Received[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    void receive();
    async function receive(): Promise<void> {
      const body = await text(request);
      const status = statuses[received.length] ?? statuses.at(-1) ?? 204;
      received.push({
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(body) as Received['body'],
      });
      if (status !== 0) response.writeHead(status, { location: '/elsewhere' }).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, received };
}
