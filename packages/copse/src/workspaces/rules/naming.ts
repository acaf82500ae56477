/**
 * Names that Copse makes for git. A title, an agent's name or a work item's id may hold anything; a branch made from
 * them always consists of ASCII letters, digits and `. _ - / + @`, so that it means the same to git, to every shell and
 * to every file system. Names that people give (a target branch) may hold more: see `isValidBranchName`.
 */
import { type BranchName, type TaskId, type Timestamp, parseTaskId } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';

interface SlugRules {
  readonly slugLength: number;
  readonly emptySlug: string;
}

/** A title as kebab-case ASCII. Umlauts lose their dots (`ä` → `a`): the title's language, and so `ae`, is not known. */
export function slug(title: string, naming: SlugRules = defaultPolicy.naming): string {
  const words =
    toAscii(title)
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  let text = (words[0] ?? naming.emptySlug).slice(0, naming.slugLength);
  for (const word of words.slice(1)) {
    if (text.length + 1 + word.length > naming.slugLength) break;
    text += `-${word}`;
  }
  return text;
}

const PLACEHOLDERS = ['task', 'slug', 'agent', 'workItem', 'jobId', 'date', 'schedule'] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];
export type BranchValues = { readonly [P in Placeholder]?: string | undefined };

/** What a pattern asks for, each name once, in order; `unknown` is what no branch can be given. */
export function placeholders(pattern: string): {
  readonly known: readonly Placeholder[];
  readonly unknown: readonly string[];
} {
  const names = new Set(Array.from(pattern.matchAll(PLACEHOLDER), ([, name]) => name ?? ''));
  const known = PLACEHOLDERS.filter((name) => names.has(name));
  const unknown = [...names].filter((name) => !isPlaceholder(name));
  return { known, unknown };
}

export type BranchOutcome =
  | { readonly kind: 'accepted'; readonly branch: BranchName }
  | { readonly kind: 'refused'; readonly reason: string };

/** Fills a pattern in. Only the pattern's own `/` makes levels: one inside a value becomes a dash. */
export function branchName(pattern: string, values: BranchValues): BranchOutcome {
  const { known, unknown } = placeholders(pattern);
  if (unknown[0] !== undefined) {
    return refusePattern(
      pattern,
      `knows no {${unknown[0]}}; there are ${PLACEHOLDERS.map((name) => `{${name}}`).join(' ')}`,
    );
  }
  const missing = known.find((name) => values[name] === undefined);
  if (missing !== undefined)
    return refusePattern(pattern, `needs {${missing}}, which this work does not have`);

  const filled = pattern.replace(PLACEHOLDER, (_, name: Placeholder) => branchPart(values[name] ?? ''));
  // A literal and a value may meet in an ending that git keeps for its lock files.
  const branch = filled.replace(/\.lock(?=\/|$)/gi, '-lock');
  if (!MADE_OF.test(branch)) {
    return refusePattern(pattern, 'may hold only letters, digits, . _ - / + @ and placeholders');
  }
  if (!isValidBranchName(branch)) {
    return refusePattern(pattern, `gives ${JSON.stringify(branch)}, which is not a valid branch name`);
  }
  return { kind: 'accepted', branch };
}

/** Whether work of any kind could get a branch from this pattern: what a configuration is checked with. */
export function checkBranchPattern(
  pattern: string,
): { readonly kind: 'accepted' } | { readonly kind: 'refused'; readonly reason: string } {
  const outcome = branchName(pattern, Object.fromEntries(PLACEHOLDERS.map((name) => [name, name])));
  return outcome.kind === 'accepted' ? { kind: 'accepted' } : outcome;
}

/** The pattern to use where the wanted one asks for a work item that this task does not have. */
export function chooseBranchPattern(
  wanted: {
    readonly pattern: string;
    readonly workItem: string | undefined;
    readonly schedule: string | undefined;
  },
  naming: {
    readonly scheduledBranchPattern: string;
    readonly jobBranchPattern: string;
  } = defaultPolicy.naming,
): string {
  const { known } = placeholders(wanted.pattern);
  if (!known.includes('workItem') || wanted.workItem !== undefined) return wanted.pattern;
  return wanted.schedule === undefined ? naming.jobBranchPattern : naming.scheduledBranchPattern;
}

/** The day in UTC, so that two machines name one branch alike. */
export function isoDate(at: Timestamp): string {
  const [day = ''] = new Date(at).toISOString().split('T');
  return day;
}

/**
 * The rules of `git check-ref-format --branch`, and beyond them refusals of what git allows but something near git
 * would take for something else: `refs/…` (a full ref name), `@` (HEAD), white space and invisible characters of any script, and
 * characters with which an unquoted name starts a second command or ends a quotation (`$` `;` `|` `&` `<` `>` quotes and
 * backticks). Other unusual characters, `#` or parentheses or letters of any script, stay valid: existing repositories use them.
 */
export function isValidBranchName(text: string): text is BranchName {
  if (text === '' || text === '@' || text === 'HEAD') return false;
  if (text.startsWith('-') || text.startsWith('refs/') || text.endsWith('.')) return false;
  if (text.includes('..') || text.includes('@{') || !text.isWellFormed()) return false;
  if (FORBIDDEN_BY_GIT.test(text) || isForbiddenByCopse(text)) return false;
  return text.split('/').every(isValidRefComponent);
}

function isValidRefComponent(component: string): boolean {
  if (component === '' || component.startsWith('.') || component.endsWith('.lock')) return false;
  return utf8Length(component) <= LONGEST_REF_COMPONENT;
}

const PLACEHOLDER = /\{([^{}]*)\}/g;
const MADE_OF = /^[A-Za-z0-9._/+@-]+$/;
const FORBIDDEN_BY_GIT = /[\u0000-\u0020\u007f~^:?*[\\]/;
/** A constant would cost every command that loads this file half a millisecond. */
const isForbiddenByCopse = (text: string) => /[\s\p{Z}\p{Cc}\p{Cf}$;|&<>'"`]/u.test(text);

// Not a limit of ours: a file name has at most 255 bytes, and git writes `<name>.lock` beside a ref.
const LONGEST_REF_COMPONENT = 255 - '.lock'.length;

/** Valid as parts, but not where a pattern puts one first or alone. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ['HEAD', 'head'],
  ['refs', 'ref'],
]);

function isPlaceholder(name: string): name is Placeholder {
  return (PLACEHOLDERS as readonly string[]).includes(name);
}

/** Any text as a piece of a ref that is valid wherever a pattern puts it. */
function branchPart(value: string): string {
  const part = toAscii(value)
    .replace(/[^A-Za-z0-9._]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .slice(0, defaultPolicy.text.nameLength)
    .replace(/^[._-]+|[._-]+$/g, '');
  if (part === '') return defaultPolicy.naming.emptySlug;
  return RESERVED.get(part) ?? part;
}

/** Latin letters without their marks; apostrophes and invisible characters inside words vanish, the rest stays as it is. */
function toAscii(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]+/gu, '')
    .replace(/[^\u0000-\u007f]/gu, (character) => LATIN[character] ?? character)
    .replace(/(?<=[\p{L}\p{N}])['\u2018\u2019\u02bc](?=[\p{L}\p{N}])/gu, '');
}

/** Latin letters that Unicode does not take apart. */
const LATIN: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  ł: 'l',
  Ł: 'L',
  þ: 'th',
  Þ: 'TH',
  ı: 'i',
  ħ: 'h',
  Ħ: 'H',
  ŧ: 't',
  Ŧ: 'T',
  ŋ: 'n',
  Ŋ: 'N',
  ĸ: 'k',
  ƒ: 'f',
  ə: 'e',
  Ə: 'E',
};

function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

function refusePattern(pattern: string, why: string): { readonly kind: 'refused'; readonly reason: string } {
  return { kind: 'refused', reason: `The branch pattern ${JSON.stringify(pattern)} ${why}` };
}

/** The worktree in which the queue runs its checks in one slot. No task has such a name. */
export function queueWorktree(slot: number): string {
  return `copse-queue-${slot}`;
}

/** The slot of such a worktree. */
export function parseQueueWorktree(name: string): number | undefined {
  const [, slot] = /^copse-queue-([1-9]\d*)$/.exec(name) ?? [];
  return slot === undefined ? undefined : Number(slot);
}

/** The tmux session in which the agent of a task runs. */
export function terminalName(task: TaskId): string {
  return `copse-${task}`;
}

/** The reason with which the branch of a task is made: the first line of its reflog, under whatever name it has later. */
export function beginningMessage(task: TaskId): string {
  return `copse: ${task} begins`;
}

/** The task whose branch was made with this reason. */
export function taskBegunBy(message: string): TaskId | undefined {
  const [, id] = /^copse: (\S+) begins$/.exec(message) ?? [];
  return id === undefined ? undefined : parseTaskId(id);
}
