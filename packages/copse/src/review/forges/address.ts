/** Where a remote is, and what that says about who runs it. */

export type ForgeKind = 'github' | 'gitlab' | 'none';

export interface RemotePlace {
  /** Null for a folder. With the port where that is part of a web address. */
  readonly host: string | null;
  /** Everything before the name; GitLab has groups in groups. */
  readonly owner: string;
  readonly name: string;
}

const URL_LIKE =
  /^(?<scheme>[a-z][a-z0-9+.-]*):\/\/(?:[^/@]*@)?(?<host>\[[^\]]*\]|[^/:]*)(?::(?<port>\d+))?\/(?<path>.*)$/i;
/** `git@host:path`: a colon before any slash. */
const SCP_LIKE = /^(?:[^/@]+@)?(?<host>\[[^\]]+\]|[^/:]+):(?<path>.+)$/;

/** Undefined when there is no owner and no name in it. Settings that replace parts of addresses are not asked. */
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
  // Of a folder, only the last two can mean anything.
  const [name, owner] = [parts.at(-1), parts.slice(isFolder ? -2 : 0, -1).join('/')];
  if (name === undefined || owner === '') return undefined;
  return { host: isFolder ? null : hostOf(url ?? scp ?? {}), owner, name };
}

function hostOf({ host = '', scheme, port }: Readonly<Record<string, string | undefined>>): string {
  const isWeb = scheme === 'https' || scheme === 'http';
  const named = ALIASES[host.toLowerCase()] ?? host.toLowerCase();
  // The port of ssh says nothing about the web.
  return isWeb && port !== undefined ? `${named}:${port}` : named;
}

/** Where they speak ssh on the port of the web. */
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

/** Where GitHub answers programs. */
export function githubApi(host: string): string {
  if (host === 'github.com') return 'https://api.github.com';
  return host.endsWith('.ghe.com') ? `https://api.${host}` : `https://${host}/api/v3`;
}

export function gitlabApi(host: string): string {
  return `https://${host}/api/v4`;
}

/** A token goes only where nobody on the way can read it. Undefined when the address is not such a place. */
export function safeBase(address: string): URL | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isHere);
  return isSafe && url.username === '' && url.password === '' ? url : undefined;
}
