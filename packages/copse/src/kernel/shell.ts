/** A word for any POSIX shell: nothing between single quotes means anything but a single quote. */
export function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
