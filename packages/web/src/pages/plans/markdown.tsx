/**
 * The text of a plan: headings, lists, code and emphasis of Markdown become elements, everything else stays text. Nothing in it can
 * become markup, an address that loads, or a script.
 */

import { Fragment, type ReactNode, memo } from 'react';

import { shown } from '../../../../copse/src/kernel/text.ts';
import { type MarkdownBlock, blocksOf } from './markdown-blocks.ts';
import styles from './plans.module.css';

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

function BlockOf({ block }: { readonly block: MarkdownBlock }) {
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
            <li key={index} data-box={/^[☐☑]/.test(item)}>
              {inline(item)}
            </li>
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
