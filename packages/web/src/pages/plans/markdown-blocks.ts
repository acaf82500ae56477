/** The blocks of a plan's Markdown, in one pass over its lines. Pure. */

export type MarkdownBlock =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly string[] }
  | { readonly kind: 'quote' | 'text'; readonly text: string };

export function blocksOf(text: string): readonly MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    const fence = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    const heading = /^(#{1,6})\s+(.*)$/s.exec(line);
    const item = itemOf(line);
    if (fence !== undefined) {
      let last = at + 1;
      while (last < lines.length && lines[last]?.trimStart().startsWith(fence) === false) last += 1;
      blocks.push({ kind: 'code', text: lines.slice(at + 1, last).join('\n') });
      at = last + 1;
    } else if (heading !== null) {
      blocks.push({ kind: 'heading', level: heading[1]?.length ?? 1, text: heading[2] ?? '' });
      at += 1;
    } else if (item !== undefined) {
      const items: string[] = [];
      for (let one = itemOf(lines[at] ?? ''); one !== undefined; one = itemOf(lines[at] ?? '')) {
        items.push(one.text);
        at += 1;
      }
      blocks.push({ kind: 'list', isOrdered: item.isOrdered, items });
    } else if (line.trim() === '') {
      at += 1;
    } else {
      const isQuote = line.startsWith('>');
      const part: string[] = [];
      // At least this line, whatever it is: each turn goes on.
      do {
        part.push((lines[at] ?? '').replace(/^>\s?/, ''));
        at += 1;
      } while (at < lines.length && isPlain(lines[at] ?? '') && lines[at]?.startsWith('>') === isQuote);
      blocks.push({ kind: isQuote ? 'quote' : 'text', text: part.join('\n') });
    }
  }
  return blocks;
}

function itemOf(line: string): { readonly text: string; readonly isOrdered: boolean } | undefined {
  const [, mark, text = ''] = /^\s{0,12}([-*+]|\d{1,9}[.)])\s+(.*)$/s.exec(line) ?? [];
  if (mark === undefined) return undefined;
  const checked = text.replace(/^\[ \]\s/, '☐ ').replace(/^\[[xX]\]\s/, '☑ ');
  return { text: checked, isOrdered: /\d/.test(mark) };
}

function isPlain(line: string): boolean {
  return line.trim() !== '' && !/^(#{1,6}\s|\s*(`{3,}|~{3,}))/.test(line) && itemOf(line) === undefined;
}
