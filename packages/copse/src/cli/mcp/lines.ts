/** Lines out of a stream of bytes. Only a line feed ends one: JSON may hold what other readers take for an end of line. */

const LINE_FEED = 0x0a;

/** Undefined for a line with more bytes than that, which is not kept. What no line feed ends is half a line, and none. */
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
      // Decoded as a whole: a character may be in two chunks.
      yield length > mostBytes ? undefined : Buffer.concat(parts).toString('utf8');
      parts = [];
      length = 0;
      from = end + 1;
    }
    if (from < chunk.length) keep(chunk.subarray(from));
  }
}
