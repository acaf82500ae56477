import { shown } from '../../kernel/text.ts';
import type { Output } from '../output.ts';

/** A patch as it is for a file or a pipe; on a terminal without control characters. */
export function patchForReader(patch: Buffer, output: Output): string | Buffer {
  return output.isTerminal ? shown(patch.toString()) : patch;
}
