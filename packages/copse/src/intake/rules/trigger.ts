/** A trigger starts an agent on request: by `copse trigger`, or by a signed request from outside. */

import { type Refused, refused } from '../../kernel/decision.ts';
import type { AgentName } from '../../kernel/ids.ts';
import type { WorkItem } from '../../tasks/rules/task.ts';

export interface TriggerDefinition {
  readonly name: string;
  readonly agent: AgentName;
  readonly type: 'hmac' | 'github' | 'gitlab';
  /** Where the secret is; null: requests from outside are refused. */
  readonly secret: { readonly variable: string } | { readonly file: string } | null;
  readonly workSource: string | null;
  readonly prompt: string | null;
}

/** A request from outside, as the server got it. Names of headers are in lower case. */
export interface TriggerRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

/** Without one of these, no request is genuine, whatever its body has. */
export function hasSignature(headers: TriggerRequest['headers']): boolean {
  return SIGNATURE_HEADERS.some((name) => headers[name] !== undefined);
}

const SIGNATURE_HEADERS = ['x-copse-signature', 'x-hub-signature-256', 'x-gitlab-token'];

/** `github#12`, `ENG/todo#docs/a.md:3`: the source up to the first `#`, then the item's id. */
export function parseItem(text: string): WorkItem | undefined {
  const at = text.indexOf('#');
  const [source, id] = [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  return at <= 0 || source === '' || id === '' ? undefined : { source, id, url: null };
}

/** Says nothing about the reason: an unknown name, a missing secret and a wrong signature look the same. */
export function refuseRequest(): Refused {
  return refused('unauthorized', 'Unauthorized.', 'Check the secret of the trigger on both sides.');
}
