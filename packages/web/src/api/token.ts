/**
 * The token of this tab. It is kept in sessionStorage, which no other port of this machine can read, and never in a cookie,
 * which it could. Another tab of the same page passes it on, so that a link opened in a new tab works.
 */

import { enter } from './client.ts';

const KEY = 'copse.token';
const CHANNEL = 'copse.token';
const ASK_MS = 150;

type Said = { readonly ask: true } | { readonly token: string };

/**
 * An address with a code that is used or too old still opens for a person who is in already. `onLate`: another tab answered
 * after this page had stopped waiting, as on a busy machine.
 */
export async function findToken(onLate: (token: string) => void): Promise<string | undefined> {
  const code = codeInAddress();
  try {
    if (code !== undefined) return keep(await enter(code));
  } catch (error) {
    const known = await knownToken(onLate);
    if (known === undefined) throw error;
    return known;
  }
  return knownToken(onLate);
}

async function knownToken(onLate: (token: string) => void): Promise<string | undefined> {
  return sessionStorage.getItem(KEY) ?? (await askOtherTabs(onLate));
}

export function keep(token: string): string {
  sessionStorage.setItem(KEY, token);
  return token;
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}

/** Tells other tabs that ask, until it is stopped. */
export function shareToken(token: string): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener('message', ({ data }: MessageEvent<Said>) => {
    if ('ask' in data) channel.postMessage({ token } satisfies Said);
  });
  return () => channel.close();
}

/** The fragment is not sent to any server; it leaves the address bar and the history at once. */
function codeInAddress(): string | undefined {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

function askOtherTabs(onLate: (token: string) => void): Promise<string | undefined> {
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(CHANNEL);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      resolve(undefined);
    }, ASK_MS);
    channel.addEventListener('message', ({ data }: MessageEvent<Said>) => {
      if (!('token' in data)) return;
      clearTimeout(timer);
      channel.close();
      if (isLate) onLate(data.token);
      else resolve(keep(data.token));
    });
    channel.postMessage({ ask: true } satisfies Said);
  });
}
