/**
 * Text of people and agents. Titles and names are shown in one line, so characters that break a line are refused when they
 * are written. Bodies are stored unchanged; `shown` makes them harmless when printed.
 */
import { defaultPolicy } from './policy.ts';

type RefusedText = { readonly kind: 'refused'; readonly reason: string };
export type TitleCheck = { readonly kind: 'accepted'; readonly title: string } | RefusedText;
export type NameCheck = { readonly kind: 'accepted'; readonly name: string } | RefusedText;
export type BodyCheck = { readonly kind: 'accepted'; readonly body: string } | RefusedText;

/** The title without surrounding space; otherwise exactly as written, in whatever normal form it came. */
export function checkTitle(text: string): TitleCheck {
  const title = text.trim();
  const problem = findLineProblem(title, 'The title', defaultPolicy.text.titleLength);
  return problem === undefined ? { kind: 'accepted', title } : { kind: 'refused', reason: problem };
}

/** The name of an agent, a plan, a schedule: a short line that a command line cannot mistake for an option. */
export function checkName(text: string): NameCheck {
  const name = text.trim();
  if (name.startsWith('-')) {
    return { kind: 'refused', reason: 'The name cannot begin with a dash: it would be read as an option' };
  }
  const problem = findLineProblem(name, 'The name', defaultPolicy.text.nameLength);
  return problem === undefined ? { kind: 'accepted', name } : { kind: 'refused', reason: problem };
}

/** Accepts everything that fits, control characters and lone surrogates included: the board keeps it unchanged. */
export function checkBody(text: string): BodyCheck {
  const longest = defaultPolicy.text.bodyLength;
  if (text.length > longest) {
    return {
      kind: 'refused',
      reason: `A body has at most ${longest} characters; this one has ${text.length}. Put the rest in a file and name it`,
    };
  }
  return { kind: 'accepted', body: text };
}

/**
 * Stored text made safe for a terminal: control characters except line feed and tab appear as `\x1b`, lone surrogates
 * as U+FFFD, and bidirectional controls that would make a line read differently from what it says as `\u202e`. A line ends at a
 * line feed only: what else ends one in some languages (U+2028, U+2029) appears as `\u2028`.
 */
export function shown(text: string): string {
  const wellFormed = text.toWellFormed();
  if (!NEEDS_CARE.test(wellFormed)) return wellFormed;
  return wellFormed.split('\n').map(shownLine).join('\n');
}

/** The path of a file in one line. */
export function shownPath(path: string): string {
  return shown(path)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\t', String.raw`\t`);
}

/**
 * Text of agents for a chat program, which shows it as it is: it calls no person (`@name`, `<!channel>`), and no address or link
 * leads anywhere. An invisible character takes the meaning, and angle brackets are replaced by similar ones.
 */
export function unlinked(text: string): string {
  return text
    .replaceAll('<', '\u2039')
    .replaceAll('>', '\u203a')
    .replaceAll(/@(?=[\p{L}\p{N}])/gu, `@${JOINER}`)
    .replaceAll(/\b([a-z][a-z0-9+.-]*):\/\//giu, `$1:/${JOINER}/`)
    .replaceAll(/\b(www)\./giu, `$1${JOINER}.`)
    .replaceAll('](', `]${JOINER}(`);
}

/**
 * Text of agents for a forge: it calls no person, closes and names no issue or merge request, and gives the forge no order
 * (`/merge` at the beginning of a line).
 */
export function unreferenced(text: string): string {
  return withoutMentions(text)
    .replaceAll(/([#!&~%$])(?=\d)/g, `$1${JOINER}`)
    .replaceAll(/\b(GH|GL)-(?=\d)/gi, `$1-${JOINER}`)
    .replaceAll(/\/(issues|pull|merge_requests|work_items|epics)\/(?=\d)/gi, `/$1/${JOINER}`)
    .replaceAll(/^([ \t>*-]*)\/(?=[a-z])/gim, `$1${JOINER}/`);
}

/** An invisible character after @ keeps the forge from notifying people of that name. */
export function withoutMentions(text: string): string {
  return text.replaceAll(/@(?=[\p{L}\p{N}])/gu, `@${JOINER}`);
}

const JOINER = '\u2060';

/** `1 file`, `3 files`. */
export function counted(count: number, noun: string, plural = 's'): string {
  return `${count} ${noun}${count === 1 ? '' : plural}`;
}

/** Names of files for people, one to a line: the first of them when there are many. */
export function listed(files: readonly string[]): string {
  const most = defaultPolicy.text.listedFiles;
  const more = files.length > most ? [`  … and ${files.length - most} more`] : [];
  return [...files.slice(0, most).map((file) => `  ${shownPath(file)}`), ...more].join('\n');
}

const NEEDS_CARE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
const CONTROLS_EXCEPT_TAB = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g;
const BIDI_OVERRIDES = /[\u202d\u202e]/;
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;
const LINE_BREAKS = /[\n\r\u0085\u2028\u2029]/;
const SEPARATORS = /[\u2028\u2029]/g;
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/;
/** Where it is needed: V8 reads a pattern where it stands, and each property of Unicode takes it half a millisecond. */
const isInvisible = (text: string) => /^[\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}]*$/u.test(text);

function shownLine(line: string): string {
  const harmless = line
    .replace(CONTROLS_EXCEPT_TAB, (character) => `\\x${hexadecimal(character).padStart(2, '0')}`)
    .replace(SEPARATORS, (character) => `\\u${hexadecimal(character)}`);
  if (!hasMisleadingBidi(harmless)) return harmless;
  return harmless.replace(BIDI_CONTROLS, (character) => `\\u${hexadecimal(character)}`);
}

function findLineProblem(line: string, what: string, longest: number): string | undefined {
  if (line === '') return `${what} is empty: write a few words`;
  if (LINE_BREAKS.test(line)) return `${what} must be one line: put what follows the line break in the body`;
  if (!line.isWellFormed()) return `${what} contains half a character (a lone surrogate): write it again`;
  const control = CONTROLS.exec(line)?.[0];
  if (control !== undefined) {
    return `${what} contains the control character U+${hexadecimal(control).padStart(4, '0').toUpperCase()}: remove it`;
  }
  if (isInvisible(line)) return `${what} has no visible character: write a few words`;
  if (hasMisleadingBidi(line)) {
    return `${what} contains a text-direction control that overrides or is not closed: remove it`;
  }
  const length = countCodePoints(line);
  if (length > longest) return `${what} may have at most ${longest} characters; this one has ${length}`;
  return undefined;
}

/**
 * Overrides make a line read differently from its content, and no right-to-left language needs them.
 * Embeddings and isolates are fine when each is closed by its own kind, so that nothing after it is reordered.
 */
function hasMisleadingBidi(line: string): boolean {
  if (BIDI_OVERRIDES.test(line)) return true;
  const open: ('embedding' | 'isolate')[] = [];
  for (const [character] of line.matchAll(BIDI_CONTROLS)) {
    if (character === '\u202c') {
      if (open.pop() !== 'embedding') return true;
    } else if (character === '\u2069') {
      if (open.pop() !== 'isolate') return true;
    } else {
      open.push(character < '\u2066' ? 'embedding' : 'isolate');
    }
  }
  return open.length > 0;
}

// Code points, because every board engine can count them; what a reader sees as one character depends on Unicode tables.
function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function hexadecimal(character: string): string {
  return character.charCodeAt(0).toString(16);
}

/** How many names a sentence lists before it counts. */
const NAMED = 3;

export function named(names: readonly string[]): string {
  const more = names.length - NAMED;
  if (more > 0) return `${names.slice(0, NAMED).join(', ')} and ${more} more`;
  const [last, ...others] = names.toReversed();
  return others.length === 0 ? (last ?? 'none') : `${others.toReversed().join(', ')} and ${last}`;
}

/** `a`, `a or b`, `a, b or 3 more`. */
export function anyOf(names: readonly string[]): string {
  const [first = '', second, ...more] = names;
  if (second === undefined) return first;
  return more.length === 0 ? `${first} or ${second}` : `${first}, ${second} or ${more.length} more`;
}
