/** Events by pages of limited size: a page of large events ends early, and the newest of them are on a later one. */

import type { Client } from './client.ts';
import type { InputOf, OutputOf } from './operations.ts';

type Input = InputOf<'event.list'>;
type EventPage = OutputOf<'event.list'>;

interface Options {
  readonly signal?: AbortSignal;
}

export async function* eventPages(
  client: Pick<Client, 'call'>,
  input: Input,
  options: Options = {},
): AsyncGenerator<EventPage> {
  let page = await client.call('event.list', input, options);
  yield page;
  // What is counted from the newest would begin elsewhere when events come meanwhile.
  const { last: _, ...asked } = input;
  while (page.hasMore) {
    page = await client.call('event.list', { ...asked, after: page.cursor }, options);
    yield page;
  }
}

/** As one page. */
export async function allEvents(
  client: Pick<Client, 'call'>,
  input: Input,
  options: Options = {},
): Promise<EventPage> {
  let all: EventPage | undefined;
  for await (const page of eventPages(client, input, options))
    all = { ...page, events: [...(all?.events ?? []), ...page.events] };
  if (all === undefined) throw new Error('No page');
  return all;
}
