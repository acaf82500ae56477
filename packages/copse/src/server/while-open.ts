/** Work for a connection that is not upgraded yet. */

import type { Duplex } from 'node:stream';

/**
 * Undefined: the work takes too long, or the client went away or speaks out of turn. Only a socket that is read tells of its end, and a
 * client says nothing before the upgrade.
 */
export function whileOpen<T>(work: Promise<T>, socket: Duplex, mostMs: number): Promise<T | undefined> {
  const { promise: givenUp, resolve } = Promise.withResolvers<undefined>();
  const giveUp = () => resolve(undefined);
  const timer = setTimeout(giveUp, mostMs);
  const signs = ['data', 'end', 'close'] as const;
  for (const sign of signs) socket.once(sign, giveUp);
  return Promise.race([work, givenUp]).finally(() => {
    clearTimeout(timer);
    for (const sign of signs) socket.off(sign, giveUp);
  });
}
