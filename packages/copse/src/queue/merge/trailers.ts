/** Trailers, by the rules of `git interpret-trailers`. Text has one character per byte. */

export interface Trailer {
  readonly key: string;
  readonly value: string;
}

/** Adds the missing trailers: to the last paragraph if that holds trailers, else as a new paragraph. */
export function withTrailers(message: string, wanted: readonly Trailer[]): string {
  const present = trailersIn(message);
  const missing = wanted.filter((one) => !present.some((other) => isSame(one, other)));
  if (missing.length === 0) return message;
  const text = message.replace(/\s+$/, '');
  const gap = startOfTrailers(text) === undefined ? '\n\n' : '\n';
  return `${text}${gap}${linesOf(missing)}`;
}

/** For text that Copse writes: a title like `feat: this` looks like a trailer and is none. */
export function endingIn(text: string, trailers: readonly Trailer[]): string {
  return `${text.trimEnd()}\n\n${linesOf(trailers)}`;
}

function linesOf(trailers: readonly Trailer[]): string {
  return trailers.map(({ key, value }) => `${key}: ${value}\n`).join('');
}

export function trailersIn(message: string): readonly Trailer[] {
  const text = message.replace(/\s+$/, '');
  const start = startOfTrailers(text);
  if (start === undefined) return [];
  const trailers: Trailer[] = [];
  for (const line of text.split('\n').slice(start)) {
    const [, key, value = ''] = TRAILER.exec(line) ?? [];
    const last = trailers.at(-1);
    if (key !== undefined) trailers.push({ key, value: value.trim() });
    else if (last !== undefined && /^\s/.test(line))
      trailers.splice(-1, 1, { key: last.key, value: `${last.value} ${line.trim()}` });
  }
  return trailers;
}

function isSame(one: Trailer, other: Trailer): boolean {
  return (
    one.key.toLowerCase() === other.key.toLowerCase() && one.value.toLowerCase() === other.value.toLowerCase()
  );
}

const TRAILER = /^([A-Za-z0-9-]+)[ \t]*:(.*)$/s;
/** Lines that git writes; a paragraph with one of these may hold up to three quarters of other lines. */
const GENERATED = /^(Signed-off-by: |\(cherry picked from commit )/;

/** The number of the first trailer line. Never in the first paragraph, which is the title. */
function startOfTrailers(text: string): number | undefined {
  const lines = text.split('\n');
  const isBlank = (line: string) => line.trim() === '';
  const titleEnd = lines.findIndex((line) => !line.startsWith('#') && isBlank(line));
  if (titleEnd === -1) return undefined;
  let [trailers, others, continued, isGenerated] = [0, 0, 0, false];
  for (let at = lines.length - 1; at >= titleEnd; at -= 1) {
    const line = lines[at] ?? '';
    if (isBlank(line)) {
      others += continued;
      const isBlock = isGenerated ? trailers * 3 >= others : trailers > 0 && others === 0;
      return isBlock ? at + 1 : undefined;
    }
    if (GENERATED.test(line) || TRAILER.test(line)) {
      isGenerated ||= GENERATED.test(line);
      trailers += 1;
      continued = 0;
    } else if (/^\s/.test(line)) {
      continued += 1;
    } else {
      others += line.startsWith('#') ? continued : continued + 1;
      continued = 0;
    }
  }
  return undefined;
}
