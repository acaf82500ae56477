/**
 * A file that decides what Copse runs, without the passwords of addresses and without the path of the webhook, which is its
 * password. The host stays: a person has to see where it leads. Two different secrets stay different.
 */

import { readYaml } from './read.ts';

export function hideSecrets(name: string, text: string): string {
  const webhook = name === 'copse.yml' ? webhookOf(text) : undefined;
  const [, origin = '', rest = ''] = /^(\w+:\/\/[^/]*)(.+)$/s.exec(webhook ?? '') ?? [];
  const shown = rest.length > 1 ? text.replaceAll(`${origin}${rest}`, `${origin}/${hidden(rest)}`) : text;
  return shown
    .replaceAll(/(:\/\/)([^\s"']+)@/g, (_, before: string, who: string) => `${before}${hidden(who)}@`)
    .replaceAll(/(password=)([^&\s"']+)/gi, (_, before: string, secret: string) => before + hidden(secret));
}

function webhookOf(text: string): string | undefined {
  const { value } = readYaml(text);
  const { notifications } = (value ?? {}) as { readonly notifications?: { readonly webhook?: unknown } };
  return typeof notifications?.webhook === 'string' ? notifications.webhook : undefined;
}

/** With a short sum, so that a change of it shows. */
function hidden(secret: string): string {
  let sum = 0;
  for (let at = 0; at < secret.length; at += 1) sum = (sum * 31 + secret.charCodeAt(at)) % 0x1_00_00;
  return `(hidden-${sum.toString(16).padStart(4, '0')})`;
}
