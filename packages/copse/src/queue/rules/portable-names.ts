/**
 * Names of files that git, with its defaults, refuses to check out on Linux, macOS or Windows. What git does there:
 * verify_path with protectHFS and protectNTFS, is_valid_win32_path, and the limits of the file systems.
 */

const MOST_NAME_BYTES = 255;
/** macOS takes 1,024 with the folder of the checkout. */
const MOST_PATH_BYTES = 900;

/** What is wrong with the whole path; null when nothing is. */
export function unfitPath({
  bytes,
  isUtf8,
}: {
  readonly bytes: number;
  readonly isUtf8: boolean;
}): string | null {
  if (!isUtf8) return 'has a name that is not UTF-8';
  if (bytes > MOST_PATH_BYTES) return `has a path of more than ${MOST_PATH_BYTES} bytes`;
  return null;
}

export function unfitName(name: string, bytes: number): string | null {
  if (bytes > MOST_NAME_BYTES) return `has a name of more than ${MOST_NAME_BYTES} bytes`;
  if (['', '.', '..'].includes(name)) return 'has a name that is no name of a file';
  if (isGitFolder(name)) return "has a name that is git's own folder on some systems";
  if (NOT_ON_WINDOWS.test(name))
    return 'has a character that Windows allows in no name (one of \\ : * ? " < > |, or a control character)';
  if (/[ .]$/.test(name)) return 'ends in a space or a period, which Windows drops';
  if (DEVICE.test(name)) return 'has the name of a device of Windows';
  return null;
}

/** Copse's own folders in a checkout. Git overwrites ignored files, so a branch with these names would replace the board. */
export function unfitTopName(name: string): string | null {
  return OWN_FOLDERS.get(foldedName(name.replaceAll(IGNORED_BY_HFS, ''))) ?? null;
}

const OWN_FOLDERS: ReadonlyMap<string, string> = new Map([
  ['.copse', "is the folder of Copse's board"],
  ['.worktrees', 'is the folder of the worktrees of tasks'],
]);

function isGitFolder(name: string): boolean {
  // HFS+ ignores these characters.
  const plain = name.replaceAll(IGNORED_BY_HFS, '').toLowerCase();
  return plain === '.git' || /^(?:\.git|git~1)[ .]*$/.test(name.toLowerCase());
}

const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const NOT_ON_WINDOWS = /[\u0001-\u001f\\:*?"<>|]/;
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[1-9]|lpt[1-9]) *(?:\.|$)/i;

/** Two names that are the same file where case or the form of accents does not count. */
export function foldedName(name: string): string {
  return name.normalize('NFC').toLowerCase().normalize('NFC');
}
