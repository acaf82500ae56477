/** Commands that are no operation, each with the reason, or that do more than their operations. */

interface OtherCommand {
  readonly effect: 'reads' | 'changes';
  /** An agent's session may run it. */
  readonly isForSessions?: true;
  readonly why: string;
}

export const otherCommands: Readonly<Record<string, OtherCommand>> = {
  'artifact get': { effect: 'changes', why: 'It writes a file. Only reading the content is an operation.' },
  attach: { effect: 'changes', why: 'It gives a terminal to a person.' },
  'board migrate': {
    effect: 'changes',
    why: 'It works before there is a board that an operation could use.',
  },
  'board rebuild': {
    effect: 'changes',
    why: 'It works before there is a board that an operation could use.',
  },
  'board restore': {
    effect: 'changes',
    why: 'It works before there is a board that an operation could use.',
  },
  completion: { effect: 'reads', isForSessions: true, why: 'It prints a script for a shell.' },
  config: {
    effect: 'changes',
    isForSessions: true,
    why: 'Each of its words is an operation; its description is about all of them.',
  },
  demo: { effect: 'changes', why: 'It shows Copse in a repository of its own.' },
  events: {
    effect: 'reads',
    isForSessions: true,
    why: 'It prints all events, one on a line, or follows them. The operation returns a page.',
  },
  export: {
    effect: 'changes',
    isForSessions: true,
    why: 'It writes the whole board as of one moment to a file or a pipe. Operations return pages.',
  },
  help: { effect: 'reads', isForSessions: true, why: 'It is about the command line.' },
  hook: { effect: 'changes', isForSessions: true, why: 'Hooks of agent programs call it.' },
  inbox: {
    effect: 'changes',
    why: 'At a terminal, it asks a person and applies the answers. Only its list is an operation.',
  },
  init: { effect: 'changes', why: 'It works before there is a repository that an operation could use.' },
  mcp: { effect: 'changes', isForSessions: true, why: 'It is a surface of the registry.' },
  orchestrate: { effect: 'changes', why: 'It runs until a person stops it.' },
  review: {
    effect: 'changes',
    why: 'At a terminal, it asks a person after it showed the work. Showing and answering are operations.',
  },
  serve: { effect: 'changes', why: 'It runs until a person stops it.' },
  'shell-init': { effect: 'reads', isForSessions: true, why: 'It prints a script for a shell.' },
  switch: { effect: 'reads', why: 'It changes the folder of a shell.' },
  tend: { effect: 'changes', why: 'Copse starts it in the background.' },
  undo: { effect: 'changes', why: 'It undoes a landing, or the removal or reset of a worktree.' },
  watch: { effect: 'changes', why: 'It draws on a terminal.' },
};
