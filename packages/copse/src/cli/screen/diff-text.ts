import { shown } from '../../kernel/text.ts';
import type { Output } from '../output.ts';

/** A patch as it is for a file or a pipe; on a terminal in colour and without control characters. */
export function patchForReader(patch: Buffer, output: Output): string | Buffer {
  return output.isTerminal ? colouredPatch(patch.toString(), output.style) : patch;
}

type Colour = Parameters<Output['style']>[0];

const COLOURS: readonly (readonly [beginning: RegExp, colour: Colour])[] = [
  [/^@@/, 'cyan'],
  [/^\+/, 'green'],
  [/^-/, 'red'],
];

/** Without control characters. Header lines begin like changed ones, so each hunk says how many lines it has. */
export function colouredPatch(text: string, style: Output['style']): string {
  let [removed, added] = [0, 0];
  const lines = shown(text)
    .split('\n')
    .map((line) => {
      const hunk = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
      const isBody = removed > 0 || added > 0;
      if (hunk && !isBody) [removed, added] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)];
      else if (isBody) {
        if (!line.startsWith('+') && !line.startsWith('\\')) removed -= 1;
        if (!line.startsWith('-') && !line.startsWith('\\')) added -= 1;
      } else return line === '' ? line : style('bold', line);
      const colour = COLOURS.find(([beginning]) => beginning.test(line))?.[1];
      return colour === undefined ? line : style(colour, line);
    });
  return lines.join('\n');
}
