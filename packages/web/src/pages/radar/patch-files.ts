/** A patch of git, file by file. Only for reading: names come from its own headers, and lines stay as they are. */

interface FileOfPatch {
  readonly name: string;
  readonly lines: readonly string[];
}

/** A longer line says nothing to a reader. */
const LONGEST_LINE = 500;
const MOST_LINES = 2_000;

export function filesOfPatch(patch: string): readonly FileOfPatch[] {
  return patch
    .split(/^(?=diff --git )/m)
    .filter((part) => part.startsWith('diff --git '))
    .map((part) => {
      const lines = part.replace(/\n$/, '').split('\n');
      const first = lines.findIndex((line) => line.startsWith('@@') || line.startsWith('Binary files'));
      const body = first === -1 ? [] : lines.slice(first, first + MOST_LINES);
      return { name: nameOf(lines), lines: body.map((line) => line.slice(0, LONGEST_LINE)) };
    });
}

function nameOf(lines: readonly string[]): string {
  const given = (mark: string) => lines.find((line) => line.startsWith(mark))?.slice(mark.length);
  const after = given('+++ ') ?? '/dev/null';
  const path = after === '/dev/null' ? (given('--- ') ?? '') : after;
  if (path !== '' && path !== '/dev/null') return unquoted(path.replace(/\t$/, '')).replace(/^[ab]\//, '');
  return unquoted(given('rename to ') ?? /^diff --git a\/(.+) b\/\1$/.exec(lines[0] ?? '')?.[1] ?? '');
}

/** Git quotes names with control characters and bytes outside ASCII. */
function unquoted(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return name;
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  const escapes: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 };
  for (const [, octal, escape, plain = ''] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8));
    else if (escape !== undefined) bytes.push(escapes[escape] ?? escape.charCodeAt(0));
    else bytes.push(...encoder.encode(plain));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
