/** The target of a request: its path and its query, or undefined for any that no route could have. */

/** The root of all paths of the API. */
export const API = '/api/v1';

export interface RequestTarget {
  readonly segments: readonly string[];
  readonly query: ReadonlyMap<string, string>;
}

/** Undefined also for `..`, empty parts, encoded slashes, control characters, and addresses of other servers. */
export function parseTarget(text: string, mostLength: number): RequestTarget | undefined {
  if (text.length > mostLength || !/^\/[\x21-\x7e]*$/.test(text) || text.includes('#')) return undefined;
  const at = text.indexOf('?');
  const path = at === -1 ? text : text.slice(0, at);
  const segments = path === '/' ? [] : path.slice(1).split('/').map(decoded);
  const query = at === -1 ? new Map<string, string>() : parseQuery(text.slice(at + 1));
  if (query === undefined || !segments.every(isSegment)) return undefined;
  return { segments, query };
}

function isSegment(segment: string | undefined): segment is string {
  return segment !== undefined && !['', '.', '..'].includes(segment) && !/[/\\\p{Cc}]/u.test(segment);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A name that comes twice is a mistake. */
function parseQuery(text: string): ReadonlyMap<string, string> | undefined {
  const query = new Map<string, string>();
  for (const pair of text.split('&').filter((one) => one !== '')) {
    const at = pair.indexOf('=');
    const name = decoded(at === -1 ? pair : pair.slice(0, at));
    const value = decoded(at === -1 ? '' : pair.slice(at + 1).replaceAll('+', ' '));
    if (name === undefined || value === undefined || query.has(name)) return undefined;
    query.set(name, value);
  }
  return query;
}

/** The values of `{…}` in a pattern as `/tasks/{task}`; undefined where the path is another one. */
export function matchPath(
  pattern: string,
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split('/').slice(1);
  if (wanted.length !== segments.length) return undefined;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const given = segments[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name !== undefined) found[name] = given;
    else if (part !== given) return undefined;
  }
  return found;
}
