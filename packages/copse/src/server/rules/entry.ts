/**
 * Who may enter, by the head of a request: exact host, then exact origin, then Sec-Fetch-Site. The token comes after these.
 *
 * The host is compared with a list and never with the request's own Origin: a page whose name was bound to this machine
 * (DNS rebinding) sends its own name in both. The port counts: programs of agents listen on other ports of this machine.
 */

/** All values of each header: one that comes twice is refused, because readers differ in which one counts. */
export interface RequestHead {
  readonly host: readonly string[];
  readonly origin: readonly string[];
  readonly fetchSite: readonly string[];
  /** A person follows a link to a page of the dashboard: its file has no data, and no other page can look into it. */
  readonly isPageOpened: boolean;
}

export interface Doors {
  /** `name:port`, in lower case; without a port where a browser leaves it out. */
  readonly hosts: ReadonlySet<string>;
  /** With scheme and port, as browsers write them. */
  readonly origins: ReadonlySet<string>;
}

export type HeadCheck =
  | { readonly kind: 'passed' }
  | {
      readonly kind: 'refused';
      readonly check: 'Host' | 'Origin' | 'Sec-Fetch-Site';
      readonly given: string;
    };

export function checkHead(
  { host, origin, fetchSite, isPageOpened }: RequestHead,
  { hosts, origins }: Doors,
): HeadCheck {
  const [onlyHost] = host;
  if (host.length !== 1 || onlyHost === undefined || !hosts.has(onlyHost.toLowerCase()))
    return { kind: 'refused', check: 'Host', given: host.join(', ') };
  if (origin.length > 1 || origin.some((one) => !origins.has(one)))
    return { kind: 'refused', check: 'Origin', given: origin.join(', ') };
  // `none`: a person typed the address. `same-site` is another port of this machine.
  const isForeign = fetchSite.some((one) => one !== 'same-origin' && one !== 'none');
  if (fetchSite.length > 1 || (isForeign && !isPageOpened))
    return { kind: 'refused', check: 'Sec-Fetch-Site', given: fetchSite.join(', ') };
  return { kind: 'passed' };
}

export interface ServedAt {
  readonly scheme: 'http' | 'https';
  readonly port: number;
  /** The names and addresses of the server itself. */
  readonly names: readonly string[];
  /** Hosts that a proxy with TLS serves, each with its port if that is not 443. */
  readonly proxied: readonly string[];
}

export function doorsOf({ scheme, port, names, proxied }: ServedAt): Doors {
  const own = names.map((name) => bracketed(name).toLowerCase());
  const isUsual = port === (scheme === 'https' ? 443 : 80);
  const hosts = own.flatMap((name) => (isUsual ? [name, `${name}:${port}`] : [`${name}:${port}`]));
  const origins = own.map((name) => `${scheme}://${name}${isUsual ? '' : `:${port}`}`);
  const outside = proxied.map((host) => host.toLowerCase());
  return {
    hosts: new Set([...hosts, ...outside]),
    origins: new Set([...origins, ...outside.map((host) => `https://${host}`)]),
  };
}

/** An IPv6 address as it is in an address of the web. */
export function bracketed(name: string): string {
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name;
}

export function isLoopbackName(name: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(name);
}

/** `0.0.0.0` and `::` mean every address of this machine, and are no name that a client could use. */
export function isWildcard(name: string): boolean {
  return /^(0\.0\.0\.0|::|\[::\])$/.test(name);
}

/** A name of a host, with or without a port. */
export function isHostName(text: string): boolean {
  return /^(?=.{1,253}$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/i.test(text);
}

/** The token of `Authorization: Bearer …`. */
export function bearerOf(authorization: readonly string[]): string | undefined {
  if (authorization.length !== 1) return undefined;
  return /^Bearer ([A-Za-z0-9_-]{1,200})$/i.exec(authorization[0] ?? '')?.[1];
}
