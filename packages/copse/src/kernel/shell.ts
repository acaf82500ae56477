/** A word for any POSIX shell: nothing between single quotes means anything but a single quote. */
export function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Any text as one word of a shell command. */
export function shellWord(text: string): string {
  if (/^[\w/.,:=@%+-]+$/.test(text)) return text;
  if (!/[\u0000-\u001f\u007f-\u009f]/.test(text)) return shellQuoted(text);
  // Control characters as escapes, so that the terminal does not execute them.
  const escaped = text
    .replaceAll(/['\\]/g, String.raw`\$&`)
    .replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, escape);
  return `$'${escaped}'`;
}

function escape(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x80
    ? String.raw`\x${code.toString(16).padStart(2, '0')}`
    : String.raw`\u${code.toString(16).padStart(4, '0')}`;
}

const FIRST = ' First: ';

/** A reason that is stored as text, with the command that removes it. */
export function withFirstStep(reason: string, command: string): string {
  return reason + FIRST + command;
}

export function splitFirstStep(text: string): { readonly reason: string; readonly command: string | null } {
  const at = text.indexOf(FIRST);
  return at === -1
    ? { reason: text, command: null }
    : { reason: text.slice(0, at), command: text.slice(at + FIRST.length) };
}

export interface NextStep {
  readonly command: string;
  readonly remark: string | null;
}

/** A next step as texts carry it, `command # remark`. Interactive zsh takes `#` as a word, so a remark is never printed there. */
export function splitRemark(step: string): NextStep {
  // A # inside a quoted word has its closing quote behind it.
  const [, command, remark] = /^(.*\S) # ([^'"`]+)$/s.exec(step) ?? [];
  return command === undefined || remark === undefined
    ? { command: step, remark: null }
    : { command, remark };
}

/** The lines of a next step: a command ready to be pasted, with a remark above it. What is not a command is a sentence, without an arrow. */
export function stepLines(step: string): readonly string[] {
  const { command, remark } = splitRemark(step);
  if (remark === null) return [isInstruction(step) ? `    ${step}` : `  → ${command}`];
  return [`    ${remark.charAt(0).toUpperCase()}${remark.slice(1)}:`, `  → ${command}`];
}

/** No command begins with a capital letter. */
function isInstruction(step: string): boolean {
  return /^[A-Z]/.test(step);
}
