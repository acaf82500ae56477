/** The difference of two texts by lines, with a few unchanged lines around each change. */

export interface DiffLine {
  readonly mark: '+' | '-' | ' ' | '…';
  readonly text: string;
}

const AROUND = 2;

/** Beyond this, everything between the first and the last change counts as changed: comparing would take too long. */
const MOST_PAIRS = 4_000_000;

export function diffLines(before: string, now: string): readonly DiffLine[] {
  const [one, other] = [linesOf(before), linesOf(now)];
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  const most = Math.min(one.length, other.length) - start;
  while (end < most && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const middle = compare(one.slice(start, one.length - end), other.slice(start, other.length - end));
  const same = (lines: readonly string[]) => lines.map((text) => ({ mark: ' ', text }) as const);
  return withoutFar([...same(one.slice(0, start)), ...middle, ...same(end === 0 ? [] : one.slice(-end))]);
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** By the longest common subsequence. */
function compare(one: readonly string[], other: readonly string[]): readonly DiffLine[] {
  const removed = (text: string): DiffLine => ({ mark: '-', text });
  const added = (text: string): DiffLine => ({ mark: '+', text });
  if (one.length * other.length > MOST_PAIRS) return [...one.map(removed), ...other.map(added)];
  const width = other.length + 1;
  const longest = new Uint32Array((one.length + 1) * width);
  const at = (row: number, column: number) => longest[row * width + column] ?? 0;
  for (let row = one.length - 1; row >= 0; row -= 1)
    for (let column = other.length - 1; column >= 0; column -= 1)
      longest[row * width + column] =
        one[row] === other[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < one.length || column < other.length) {
    const [left, right] = [one[row], other[column]];
    if (left !== undefined && left === right) {
      lines.push({ mark: ' ', text: left });
      [row, column] = [row + 1, column + 1];
    } else if (left !== undefined && (right === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(removed(left));
      row += 1;
    } else {
      lines.push(added(right ?? ''));
      column += 1;
    }
  }
  return lines;
}

function withoutFar(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isNear = lines.map(() => false);
  for (const [index, { mark }] of lines.entries())
    if (mark !== ' ') isNear.fill(true, Math.max(0, index - AROUND), index + AROUND + 1);
  return lines.flatMap((line, index) => {
    if (isNear[index]) return [line];
    return index === 0 || isNear[index - 1] ? [{ mark: '…', text: '' } as const] : [];
  });
}
