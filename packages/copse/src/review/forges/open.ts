/**
 * The remote's forge, determined for each request, because a person may log in or accept another address meanwhile.
 *
 * GitHub: by `gh` if it is installed and logged in, otherwise by its API with a token from the environment. GitLab: by its API
 * with a token, otherwise by push options. A token is sent only to its host, and only encrypted.
 */

import type { Timestamp } from '../../kernel/ids.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import type { Forge, ForgeRemote, PullRequestLook, PullRequestOrder } from '../port.ts';
import { type RemotePlace, githubApi, gitlabApi, kindOf, parseRemote, safeBase } from './address.ts';
import type { ForgeKind } from '../rules/pull-request.ts';
import { type Api, fetchApi } from './api.ts';
import { ghApi } from './gh.ts';
import { GithubReader, openOnGithub } from './github.ts';
import { findPushed, lookOnGitlab, openOnGitlab, pushToGitlab } from './gitlab.ts';
import { pushPlainly } from './plain.ts';

export interface ForgeOptions {
  readonly remote: ForgeRemote;
  /** `landing.forge` in copse.yml, for addresses that do not tell. */
  readonly kind: ForgeKind | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly now: () => Timestamp;
}

export function openForge(options: ForgeOptions): Forge {
  const { remote, now } = options;
  const reader = new GithubReader();
  return {
    async push(order) {
      const found = findPlace(options);
      if (!('kind' in found)) return pushPlainly(remote, order);
      switch (found.kind) {
        case 'github':
          return pushPlainly(remote, order);
        case 'gitlab': {
          const api = await apiFor(options, found);
          return 'ask' in api ? pushPlainly(remote, order) : pushToGitlab(remote, order);
        }
        default:
          return unreachable(found.kind);
      }
    },
    async open(order, hint) {
      const found = findPlace(options);
      if (!('kind' in found)) return unknown(found.reason, hint);
      const { kind, place } = found;
      const api = await apiFor(options, found);
      const hosted = 'ask' in api ? { api, place, now } : null;
      switch (kind) {
        case 'github':
          if (hosted !== null) return openOnGithub(hosted, order);
          return unknown('ask' in api ? '' : api.reason, hint ?? newPullRequest(place, order));
        case 'gitlab':
          return hosted === null ? findPushed(remote, place, order, hint) : openOnGitlab(hosted, order);
        default:
          return unreachable(kind);
      }
    },
    async look({ number }) {
      const found = findPlace(options);
      if (!('kind' in found)) return unknown(found.reason, null);
      const { kind, place } = found;
      const api = await apiFor(options, found);
      if (!('ask' in api)) return unknown(api.reason, null);
      const hosted = { api, place, now };
      switch (kind) {
        case 'github':
          return reader.look(hosted, number);
        case 'gitlab':
          return lookOnGitlab(hosted, number);
        default:
          return unreachable(kind);
      }
    },
  };
}

export interface KnownForge {
  readonly kind: Exclude<ForgeKind, 'none'>;
  readonly place: RemotePlace;
}

export function findPlace({
  remote,
  kind,
}: Pick<ForgeOptions, 'remote' | 'kind'>): KnownForge | { readonly reason: string } {
  const at = remote.address();
  if ('reason' in at) return at;
  const place = parseRemote(at.address);
  const known = place === undefined ? 'none' : (kind ?? kindOf(place));
  if (place !== undefined && known !== 'none') return { kind: known, place };
  const reason =
    kind === 'none'
      ? 'Pull requests are off (landing.forge: none).'
      : `Copse does not recognize the forge at ${at.address}. If it is GitHub or GitLab, set landing.forge.`;
  return { reason };
}

export async function apiFor(
  { environment, timeoutMs }: Pick<ForgeOptions, 'environment' | 'timeoutMs'>,
  { kind, place }: KnownForge,
): Promise<Api | { readonly reason: string }> {
  const host = place.host ?? PUBLIC[kind];
  const given = environment['COPSE_FORGE_API'];
  if (kind === 'github' && given === undefined && !environment[OWN_TOKEN]) {
    const gh = await ghApi({ environment, host, timeoutMs });
    if (gh !== undefined) return gh;
  }
  const address = given ?? ADDRESS[kind](host);
  const base = safeBase(address);
  if (base === undefined)
    return { reason: 'COPSE_FORGE_API must be an https address, or one on this machine.' };
  const names = tokenNames(kind, host, given !== undefined);
  const token = names.map((name) => environment[name]).find((value) => value);
  if (token === undefined) {
    const login = kind === 'github' ? `gh auth login --hostname ${host}, or ` : '';
    return { reason: `Not logged in to ${host}: ${login}set ${OWN_TOKEN}.` };
  }
  const headers = HEADERS[kind](token);
  return fetchApi({ base, secret: token, headers, timeoutMs });
}

type PerForge<T> = Readonly<Record<KnownForge['kind'], T>>;

const PUBLIC = { github: 'github.com', gitlab: 'gitlab.com' } as const satisfies PerForge<string>;
const ADDRESS: PerForge<(host: string) => string> = { github: githubApi, gitlab: gitlabApi };
const HEADERS: PerForge<(token: string) => Readonly<Record<string, string>>> = {
  github: githubHeaders,
  gitlab: (token) => ({ 'private-token': token }),
};

/** Agents do not inherit this variable. */
const OWN_TOKEN = 'COPSE_FORGE_TOKEN';

/** The variables of `gh`: one pair for GitHub's own hosts, another for GitHub Enterprise Server. */
function tokenNames(kind: KnownForge['kind'], host: string, isGiven: boolean): readonly string[] {
  return [OWN_TOKEN, ...usualTokens(kind, host, isGiven)];
}

function usualTokens(kind: KnownForge['kind'], host: string, isGiven: boolean): readonly string[] {
  if (kind === 'gitlab') return ['GITLAB_TOKEN'];
  const own = ['GH_TOKEN', 'GITHUB_TOKEN'];
  const enterprise = ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'];
  if (isGiven) return [...enterprise, ...own];
  return host === 'github.com' || host.endsWith('.ghe.com') ? own : enterprise;
}

function githubHeaders(token: string): Readonly<Record<string, string>> {
  return {
    authorization: `Bearer ${token}`,
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
  };
}

function newPullRequest({ host, owner, name }: RemotePlace, { branch, target }: PullRequestOrder): string {
  const [from, to] = [branch, target].map((one) => one.split('/').map(encodeURIComponent).join('/'));
  return `https://${host ?? PUBLIC.github}/${owner}/${name}/compare/${to}...${from}?expand=1`;
}

function unknown(reason: string, hint: string | null): PullRequestLook {
  return { kind: 'unknown', hint, reason };
}
