import { shown } from '../../kernel/text.ts';
import { isTerminal } from '../ask.ts';

/** A patch as it is for a file or a pipe; on a terminal without control characters. */
export function patchForReader(patch: Buffer): string | Buffer {
  return isTerminal() ? shown(patch.toString()) : patch;
}
