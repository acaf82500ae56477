/**
 * The text of a plan: headings, lists, code and emphasis of Markdown become elements, everything else stays text. Nothing in it can
 * become markup, an address that loads, or a script.
 */

import { Fragment, type ReactNode, memo } from 'react';

import { shown } from '../../../../copse/src/kernel/text.ts';
import styles from './plans.module.css';

type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly string[] }
  | { readonly kind: 'quote' | 'text'; readonly text: string };

/** A plan of a megabyte is cut: a person reads it in an editor. */
const MOST_CHARACTERS = 100_000;

export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const isCut = text.length > MOST_CHARACTERS;
  return (
    <div className={styles.markdown}>
      {blocksOf(shown(text.slice(0, MOST_CHARACTERS))).map((block, index) => (
        <BlockOf key={index} block={block} />
      ))}
      {isCut && <p>The rest is left out here. copse plan show prints all of it.</p>}
    </div>
  );
});

function BlockOf({ block }: { readonly block: Block }) {
  switch (block.kind) {
    case 'heading': {
      // The page has the first two levels.
      const Heading = (['h3', 'h4', 'h5'] as const)[Math.min(3, block.level) - 1] ?? 'h5';
      return <Heading>{inline(block.text)}</Heading>;
    }
    case 'code':
      return <pre tabIndex={0}>{block.text}</pre>;
    case 'list': {
      const List = block.isOrdered ? 'ol' : 'ul';
      return (
        <List>
          {block.items.map((item, index) => (
            <li key={index}>{inline(item)}</li>
          ))}
        </List>
      );
    }
    case 'quote':
      return <blockquote>{inline(block.text)}</blockquote>;
    default:
      return <p>{inline(block.text)}</p>;
  }
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    const fence = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const item = itemOf(line);
    if (fence !== undefined) {
      const end = lines.findIndex((one, index) => index > at && one.trimStart().startsWith(fence));
      const last = end === -1 ? lines.length : end;
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
      for (
        ;
        at < lines.length && isPlain(lines[at] ?? '') && (lines[at] ?? '').startsWith('>') === isQuote;
        at += 1
      )
        part.push((lines[at] ?? '').replace(/^>\s?/, ''));
      blocks.push({ kind: isQuote ? 'quote' : 'text', text: part.join('\n') });
    }
  }
  return blocks;
}

function itemOf(line: string): { readonly text: string; readonly isOrdered: boolean } | undefined {
  const [, mark, text = ''] = /^\s{0,12}([-*+]|\d{1,9}[.)])\s+(.*)$/.exec(line) ?? [];
  if (mark === undefined) return undefined;
  const checked = text.replace(/^\[ \]\s/, '☐ ').replace(/^\[[xX]\]\s/, '☑ ');
  return { text: checked, isOrdered: /\d/.test(mark) };
}

function isPlain(line: string): boolean {
  return line.trim() !== '' && !/^(#{1,6}\s|\s*(`{3,}|~{3,}))/.test(line) && itemOf(line) === undefined;
}

/** `code` and **bold** only; a link stays as it was written, so that its address is seen. */
function inline(text: string): ReactNode {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part, index) => {
    if (part.length > 2 && part.startsWith('`') && part.endsWith('`'))
      return <code key={index}>{part.slice(1, -1)}</code>;
    if (part.length > 4 && part.startsWith('**') && part.endsWith('**'))
      return <strong key={index}>{part.slice(2, -2)}</strong>;
    return <Fragment key={index}>{part}</Fragment>;
  });
}
