/**
 * A file that decides what Copse runs, without the passwords of addresses and without the paths of webhooks, which are their
 * passwords. The host stays: a person has to see where it leads. Two different secrets stay different.
 */

import { readYaml } from './read.ts';

export function hideSecrets(name: string, text: string): string {
  const addresses = name === 'copse.yml' ? secretAddresses(readYaml(text).value) : [];
  // The longest first: one may be the beginning of another.
  const shown = addresses
    .toSorted((one, other) => other.length - one.length)
    .reduce((before, address) => hideAddress(before, address), text);
  return shown
    .replaceAll(/(:\/\/)([^\s"']+)@/g, (_, before: string, who: string) => `${before}${hidden(who)}@`)
    .replaceAll(/(password=)([^&\s"']+)/gi, (_, before: string, secret: string) => before + hidden(secret));
}

function hideAddress(text: string, address: string): string {
  const [, origin = '', rest = ''] = /^(\w+:\/\/[^/]*)(.+)$/s.exec(address) ?? [];
  return rest.length > 1 ? text.replaceAll(`${origin}${rest}`, `${origin}/${hidden(rest)}`) : text;
}

/** The webhook, and the addresses that hooks call. */
function secretAddresses(value: unknown, key = ''): readonly string[] {
  if (typeof value === 'string') return key === 'webhook' || key === 'url' ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => secretAddresses(inner, name));
}

/** With a short sum, so that a change of it shows. */
function hidden(secret: string): string {
  let sum = 0;
  for (let at = 0; at < secret.length; at += 1) sum = (sum * 31 + secret.charCodeAt(at)) % 0x1_00_00;
  return `(hidden-${sum.toString(16).padStart(4, '0')})`;
}
