/** A text as lines of at most so many characters, broken between words. A longer word has a line of its own. */
export function wrapped(text: string, columns: number): readonly string[] {
  return text.split('\n').flatMap((paragraph) => wrappedLine(paragraph, columns));
}

function wrappedLine(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const isFull = line !== '' && line.length + 1 + word.length > columns;
    if (isFull) lines.push(line);
    line = line === '' || isFull ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines;
}
