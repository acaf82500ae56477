/** Splits a stream of bytes into lines. Only a line feed ends a line, because JSON may contain U+2028. */

const LINE_FEED = 0x0a;

/** Yields undefined for a line of more than `mostBytes`. An unfinished last line is dropped. */
export async function* linesOf(
  input: AsyncIterable<Uint8Array>,
  mostBytes: number,
): AsyncGenerator<string | undefined> {
  let parts: Uint8Array[] = [];
  let length = 0;
  const keep = (part: Uint8Array): void => {
    length += part.length;
    if (length > mostBytes) parts = [];
    else parts.push(part);
  };
  for await (const chunk of input) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      keep(chunk.subarray(from, end));
      // Decoded at once: a character may span two chunks.
      yield length > mostBytes ? undefined : Buffer.concat(parts).toString('utf8');
      parts = [];
      length = 0;
      from = end + 1;
    }
    if (from < chunk.length) keep(chunk.subarray(from));
  }
}
