/**
 * Git's settings as a sandbox shows them: without passwords and tokens, which people keep in the address of a remote, in a
 * header for it, or in a helper. Git inside needs the rest, so the file is not hidden but replaced by such a copy.
 */

import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { StoreMount } from '../../git/objects.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { readPlainBytes } from '../../kernel/system/plain-file.ts';

/** Copies in `folder` of those files that hold a secret, to be mounted over them. */
export function maskedConfigs(files: readonly string[], folder: string): readonly StoreMount[] {
  const there = new Set(files.filter((file) => existsSync(file)).map((file) => realpathSync(file)));
  return [...there].flatMap((target, index) => {
    const text = readPlainBytes(target, { mostBytes: MOST_BYTES })?.toString('utf8') ?? '';
    const masked = withoutSecrets(text);
    if (masked === text) return [];
    const source = path.join(folder, `config-${index}`);
    writeFileSync(source, masked, { mode: 0o600 });
    return [{ source, target, isWritable: false }];
  });
}

const MOST_BYTES = defaultPolicy.files.smallBytes;

/** The user of `ssh://git@host` stays; that of an http address may be a token. */
export function withoutSecrets(config: string): string {
  const joined = config.replaceAll(/\\\r?\n/g, '');
  const masked = joined
    .replaceAll(/(https?:\/\/)[^/\s"@]*@/gi, '$1')
    .replaceAll(/(:\/\/[^/\s"@:]*):[^/\s"@]*@/g, '$1@')
    .replaceAll(SECRET_KEYS, '$1$2 =');
  return masked === joined ? config : masked;
}

const SECRET_KEYS =
  /(^|\])([ \t]*(?:extraheader|helper|token|oauthtoken|password|pass|smtppass))[ \t]*=.*$/gim;
