/**
 * The server of `orchestrate --dashboard` and `demo --dashboard`. It is a process of its own: requests of clients neither use the small heap of an
 * orchestrator nor delay its landings, and merges delay no request.
 */

import { serveBeside } from '../../../compose/on-demand.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli } from '../../invocation.ts';

export interface Dashboard {
  /** From now on, what the server says goes here, and its early end. */
  tellBy(tell: (text: string) => void): void;
  end(): Promise<void>;
}

/** Prints where it is, with a code for the browser. */
export async function startDashboard(
  cli: Cli,
  { isOpened = false }: { /** In the person's browser. */ readonly isOpened?: boolean } = {},
): Promise<Dashboard> {
  let tell = (text: string): void => cli.output.note(text);
  const server = await serveBeside(cli, { isOpened, onLine: (text) => tell(shown(text)) });
  const ready = await server.ready;
  if (ready.kind === 'ended')
    return fail(
      'unavailable',
      `The dashboard did not start: ${shown(ready.lastLine)}`,
      'copse serve # to see why',
      'copse orchestrate # without it',
    );
  for (const line of ready.lines) cli.output.line(line);
  let isEnding = false;
  void tellEnd();
  async function tellEnd(): Promise<void> {
    await server.ended;
    if (!isEnding) tell('The dashboard ended. To start it again: copse serve');
  }
  return {
    tellBy: (other) => (tell = other),
    async end() {
      isEnding = true;
      await server.end();
    },
  };
}
