/** The target of a request: its path and its query, or undefined for any that no route could have. */

/** The root of all paths of the API. */
export const API = '/api/v1';

export interface RequestTarget {
  readonly segments: readonly string[];
  readonly query: ReadonlyMap<string, string>;
}

type TargetRead =
  | { readonly kind: 'read'; readonly target: RequestTarget }
  | { readonly kind: 'wrong'; readonly problem: string };

/** Undefined for `..`, empty parts, control characters, and addresses of other servers; `targetProblem` says why. */
export function parseTarget(text: string, mostLength: number): RequestTarget | undefined {
  const read = readTarget(text, mostLength);
  return read.kind === 'read' ? read.target : undefined;
}

/** Why this is the target of no request. For clients that may enter. */
export function targetProblem(text: string, mostLength: number): string {
  const read = readTarget(text, mostLength);
  return read.kind === 'wrong' ? read.problem : 'The server has no such path.';
}

function readTarget(text: string, mostLength: number): TargetRead {
  if (text.length > mostLength)
    return wrong(`The address has ${text.length} characters, and at most ${mostLength} are read.`);
  if (!/^\/[\x21-\x7e]*$/.test(text) || text.includes('#'))
    return wrong('The address must begin with a slash, and have only visible ASCII.');
  const at = text.indexOf('?');
  const path = at === -1 ? text : text.slice(0, at);
  const segments: string[] = [];
  for (const part of path === '/' ? [] : path.slice(1).split('/')) {
    if (part === '')
      return wrong(
        `The path has an empty part: ${path.includes('//') ? '"//"' : 'remove the slash at its end'}.`,
      );
    const segment = decoded(part);
    if (segment === undefined) return wrong(badPercent(part));
    if (!isSegment(segment)) return wrong(`The path has a part that no path has here: ${quoted(segment)}.`);
    segments.push(segment);
  }
  const query = at === -1 ? new Map<string, string>() : parseQuery(text.slice(at + 1));
  return 'problem' in query ? query : { kind: 'read', target: { segments, query } };
}

function wrong(problem: string): Extract<TargetRead, { kind: 'wrong' }> {
  return { kind: 'wrong', problem };
}

/** An encoded slash divides no path; between them are names as between others, so that none leads out of a folder. */
function isSegment(segment: string): boolean {
  return segment.split('/').every((name) => !['', '.', '..'].includes(name)) && !/[\\\p{Cc}]/u.test(segment);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function badPercent(text: string): string {
  return `A % in the address is not followed by two digits of UTF-8 text: ${quoted(text)}.`;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > LONG ? `${text.slice(0, LONG)}…` : text);
}

const LONG = 60;

/** A name that comes twice is a mistake. */
function parseQuery(text: string): ReadonlyMap<string, string> | Extract<TargetRead, { kind: 'wrong' }> {
  const query = new Map<string, string>();
  for (const pair of text.split('&').filter((one) => one !== '')) {
    const at = pair.indexOf('=');
    const name = decoded(at === -1 ? pair : pair.slice(0, at));
    const value = decoded(at === -1 ? '' : pair.slice(at + 1).replaceAll('+', ' '));
    if (name === undefined || value === undefined) return wrong(badPercent(pair));
    if (query.has(name)) return wrong(`The query has the field ${quoted(name)} twice.`);
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
