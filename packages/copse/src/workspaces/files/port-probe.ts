/** Whether a TCP port is free, found out by taking it for a moment on every address a program would. */

import { createServer } from 'node:net';

import type { PortProbe } from '../ports/furnishing.ts';
import { hasCode } from '../../kernel/system/error-code.ts';

const ADDRESSES = ['127.0.0.1', '::1', '0.0.0.0', '::'] as const;

export const portProbe: PortProbe = {
  async isFree(port) {
    for (const address of ADDRESSES) if (!(await canListen(port, address))) return false;
    return true;
  },
};

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    // An address that this machine does not have (no IPv6) cannot be in use.
    server.once('error', (error) => resolve(hasCode(error, 'EADDRNOTAVAIL', 'EAFNOSUPPORT')));
    server.listen({ port, host, ipv6Only: host.includes(':'), exclusive: true }, () =>
      server.close(() => resolve(true)),
    );
  });
}
