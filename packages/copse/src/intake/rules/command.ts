/**
 * Programs of a `command` source. Files of the repository come from landed work, so agents write them; a source runs with the
 * rights of a person. It therefore starts in a folder of Copse's own, where a relative path leads to nothing.
 */

const INTERPRETERS: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'zsh',
  'node',
  'python',
  'python3',
  'ruby',
  'perl',
]);

/** The first program of the command that has a relative path; null: there is none. For a sentence, not for safety. */
export function programInRepository(command: string): string | null {
  for (const part of command.split(/[;&|\n(){}]+/)) {
    const words = part.split(/\s+/).filter((word) => word !== '' && !/^\w+=/.test(word));
    const [first = '', second = ''] = words;
    const program = INTERPRETERS.has(first) ? second : first;
    if (/^[\w.@-][^:]*\//.test(program)) return program;
  }
  return null;
}

export function relativeProgram(program: string): string {
  return `runs ${program} of the repository, which agents can change. Name a program by its absolute path, or put it on PATH`;
}
