/**
 * Signatures of requests, compared in constant time.
 *
 *   hmac    X-Copse-Signature: sha256=<hex of HMAC-SHA256 over "<X-Copse-Delivery>.<body>">; the id has no dot, so that the same
 *           bytes with another border are no other delivery
 *   github  X-Hub-Signature-256: sha256=<hex of HMAC-SHA256 over the body>, X-GitHub-Delivery
 *   gitlab  X-Gitlab-Token: the secret itself, X-Gitlab-Event-UUID
 *
 * GitHub does not sign the id of the delivery, so a replay could bring another id: its body counts once too.
 */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import path from 'node:path';

import { readIfThere } from '../../kernel/system/plain-file.ts';
import type { Genuine, Signatures } from '../ports/signatures.ts';
import type { TriggerDefinition, TriggerRequest } from '../rules/trigger.ts';

export interface SecretPlaces {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where relative files are. */
  readonly folder: string;
  readonly homeFolder: string;
  /** Told once for each secret that cannot be read: the sender must not hear where it is. */
  readonly onProblem: (text: string) => void;
}

export function openSignatures({ onProblem, ...places }: SecretPlaces): Signatures {
  const told = new Set<string>();
  const secretNow = (trigger: TriggerDefinition | null) => {
    try {
      return secretOf(trigger, places);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const text = `Requests to trigger ${trigger?.name} are refused, because its secret cannot be read: ${why}`;
      if (!told.has(text)) onProblem(text);
      told.add(text);
      return null;
    }
  };
  return {
    verify: (trigger, request) => Promise.resolve(verify(trigger, request, secretNow(trigger))),
  };
}

function verify(
  trigger: TriggerDefinition | null,
  request: TriggerRequest,
  secret: string | null,
): Genuine | undefined {
  const { expected, given, once } = proofOf(trigger?.type ?? 'hmac', request, secret ?? 'none');
  // Also without a secret or a trigger, so that no answer comes faster than another.
  const isEqual = timingSafeEqual(digest(expected), digest(given ?? ''));
  const [first, ...more] = once;
  const isGenuine = isEqual && trigger !== null && secret !== null && given !== undefined;
  return isGenuine && first !== undefined ? { once: [first, ...more] } : undefined;
}

interface SignatureProof {
  readonly expected: string;
  readonly given: string | undefined;
  readonly once: readonly string[];
}

function proofOf(
  type: TriggerDefinition['type'],
  { headers, body }: TriggerRequest,
  secret: string,
): SignatureProof {
  const hmac = (...parts: readonly (string | Uint8Array)[]) => {
    const made = createHmac('sha256', secret);
    for (const part of parts) made.update(part);
    return `sha256=${made.digest('hex')}`;
  };
  if (type === 'gitlab') {
    const id = idIn(headers['x-gitlab-event-uuid']);
    return { expected: secret, given: headers['x-gitlab-token'], once: id };
  }
  if (type === 'github') {
    const id = idIn(headers['x-github-delivery']);
    const once = id.length === 0 ? [] : [...id, `body-${createHash('sha256').update(body).digest('hex')}`];
    return { expected: hmac(body), given: headers['x-hub-signature-256'], once };
  }
  const id = idIn(headers['x-copse-delivery']).filter((one) => !one.includes('.'));
  return { expected: hmac(`${id[0] ?? ''}.`, body), given: headers['x-copse-signature'], once: id };
}

/** One that is too long or has other characters is none. */
function idIn(header: string | undefined): readonly string[] {
  return header !== undefined && /^[A-Za-z0-9._:-]{1,200}$/.test(header) ? [header] : [];
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Null: there is none, so no request is genuine. */
function secretOf(
  trigger: TriggerDefinition | null,
  { env, folder, homeFolder }: Omit<SecretPlaces, 'onProblem'>,
): string | null {
  const place = trigger?.secret ?? null;
  if (place === null) return null;
  const text =
    'variable' in place
      ? env[place.variable]
      : readIfThere(
          place.file.startsWith('~/')
            ? path.join(homeFolder, place.file.slice(2))
            : path.resolve(folder, place.file),
        );
  const secret = text?.trim() ?? '';
  return secret === '' ? null : secret;
}
