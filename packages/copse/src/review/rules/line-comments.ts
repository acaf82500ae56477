/** Comments of a person on lines of a change, as one text for the agent. */

export interface LineComment {
  readonly path: string;
  readonly line: number;
  /** The last of several lines. */
  readonly endLine?: number | undefined;
  /** `old`: the line before the change. */
  readonly side?: 'new' | 'old' | undefined;
  readonly text: string;
}

interface Comments {
  readonly comment?: string | undefined;
  readonly lines?: readonly LineComment[] | undefined;
  /** The commit whose lines these are. */
  readonly head?: string | undefined;
}

/** First the comment on the whole, then each line in the order of the files. */
export function reviewComment({ comment = '', lines = [], head }: Comments): string {
  if (lines.length === 0) return comment;
  const where = head === undefined ? '' : ` of commit ${head.slice(0, 10)}`;
  const lead = `Comments on lines${where}:`;
  const parts = lines.map((line) => `${placeOf(line)}\n${line.text.trim()}`);
  return [...(comment.trim() === '' ? [] : [comment.trim()]), lead, ...parts].join('\n\n');
}

function placeOf({ path, line, endLine = line, side = 'new' }: LineComment): string {
  const [first, last] = [Math.min(line, endLine), Math.max(line, endLine)];
  const range = first === last ? `${first}` : `${first}-${last}`;
  return `${nameOf(path)}:${range}${side === 'old' ? ' (before the change)' : ''}`;
}

/** A path with a line feed must not look like a comment of its own. */
function nameOf(path: string): string {
  return /[\p{C}"\\]/u.test(path) ? JSON.stringify(path) : path;
}
