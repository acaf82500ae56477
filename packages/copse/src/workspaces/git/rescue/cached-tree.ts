/**
 * The tree that an index holds, where the index itself says so: git notes it there whenever it has made or read one, and
 * `write-tree` answers with it. Reading the note saves starting git.
 *
 * An index is a head, its entries, and extensions, of which `TREE` begins with the tree of the whole. A tree that is no
 * longer what the entries say has a negative number of them there. An unexpected layout counts as no note.
 */

const HEAD_BYTES = 12;
/** Times, numbers, mode, owner and size, before the id. */
const STAT_BYTES = 40;
const EXTENDED = 0x4000;
const LONG_NAME = 0xfff;

export function cachedTree(index: Buffer, objectFormat: 'sha1' | 'sha256'): string | undefined {
  const idBytes = objectFormat === 'sha256' ? 32 : 20;
  const end = index.length - idBytes;
  const afterEntries = endOfEntries(index, idBytes);
  if (afterEntries === undefined) return undefined;
  for (let at = afterEntries; at + 8 <= end; at += 8 + index.readUInt32BE(at + 4)) {
    if (index.toString('latin1', at, at + 4) !== 'TREE') continue;
    const note = index.subarray(at + 8, Math.min(end, at + 8 + index.readUInt32BE(at + 4)));
    const line = note.indexOf(0x0a);
    // The name of the whole is empty; a number of entries, a number of trees in it, then the id.
    const isValid = line > 0 && /^\0\d+ \d+$/.test(note.toString('latin1', 0, line));
    if (!isValid || note.length < line + 1 + idBytes) return undefined;
    return note.toString('hex', line + 1, line + 1 + idBytes);
  }
  return undefined;
}

/** Names are whole in versions 2 and 3, and padded to eight bytes. */
function endOfEntries(index: Buffer, idBytes: number): number | undefined {
  if (index.length < HEAD_BYTES + idBytes || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = index.readUInt32BE(4);
  if (version !== 2 && version !== 3) return undefined;
  let at = HEAD_BYTES;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + STAT_BYTES + idBytes;
    if (flagsAt + 4 > index.length) return undefined;
    const flags = index.readUInt16BE(flagsAt);
    const nameAt = flagsAt + ((flags & EXTENDED) === 0 ? 2 : 4);
    const length = flags & LONG_NAME;
    const nameEnd = length < LONG_NAME ? nameAt + length : index.indexOf(0, nameAt);
    if (nameEnd < nameAt) return undefined;
    at += Math.floor((nameEnd - at + 8) / 8) * 8;
  }
  return at;
}
