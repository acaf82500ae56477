/** Parses the address of a remote, and recognizes its forge. */

import type { ForgeKind } from '../rules/pull-request.ts';

export interface RemotePlace {
  /** Null for a folder. Includes the port of a web address. */
  readonly host: string | null;
  /** Everything before the name; GitLab has nested groups. */
  readonly owner: string;
  readonly name: string;
}

const URL_LIKE =
  /^(?<scheme>[a-z][a-z0-9+.-]*):\/\/(?:[^/@]*@)?(?<host>\[[^\]]*\]|[^/:]*)(?::(?<port>\d+))?\/(?<path>.*)$/i;
/** `git@host:path`: a colon before any slash. */
const SCP_LIKE = /^(?:[^/@]+@)?(?<host>\[[^\]]+\]|[^/:]+):(?<path>.+)$/;

/** Undefined without an owner and a name. Ignores git's `insteadOf` settings. */
export function parseRemote(address: string): RemotePlace | undefined {
  const url = URL_LIKE.exec(address)?.groups;
  const scp = url === undefined ? SCP_LIKE.exec(address)?.groups : undefined;
  const path = url?.['path'] ?? scp?.['path'] ?? address;
  const parts = decoded(path)
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/')
    .filter((part) => part !== '' && part !== '~');
  const isFolder = url === undefined ? scp === undefined : url['scheme']?.toLowerCase() === 'file';
  // Of a folder, only the last two parts matter.
  const [name, owner] = [parts.at(-1), parts.slice(isFolder ? -2 : 0, -1).join('/')];
  if (name === undefined || owner === '') return undefined;
  return { host: isFolder ? null : hostOf(url ?? scp ?? {}), owner, name };
}

function hostOf({ host = '', scheme, port }: Readonly<Record<string, string | undefined>>): string {
  const isWeb = scheme === 'https' || scheme === 'http';
  const named = ALIASES[host.toLowerCase()] ?? host.toLowerCase();
  // The port of ssh is not the web's.
  return isWeb && port !== undefined ? `${named}:${port}` : named;
}

/** Hosts for ssh over the port of https. */
const ALIASES: Readonly<Record<string, string>> = {
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
};

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

export function kindOf({ host }: RemotePlace): ForgeKind {
  const name = host?.replace(/:\d+$/, '') ?? '';
  if (/(^|\.)github\./.test(name) || name.endsWith('.ghe.com')) return 'github';
  return /(^|\.)gitlab\./.test(name) ? 'gitlab' : 'none';
}

/** The base address of GitHub's API. */
export function githubApi(host: string): string {
  if (host === 'github.com') return 'https://api.github.com';
  return host.endsWith('.ghe.com') ? `https://api.${host}` : `https://${host}/api/v3`;
}

export function gitlabApi(host: string): string {
  return `https://${host}/api/v4`;
}

/** A token is sent only over https, or to this machine. Undefined for other addresses. */
export function safeBase(address: string): URL | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isHere);
  return isSafe && url.username === '' && url.password === '' ? url : undefined;
}
