/** Commands that are no operation, each with the reason, or that do more than their operations. */

interface OtherCommand {
  readonly effect: 'reads' | 'changes';
  /** An agent's session may run it. */
  readonly isForSessions?: true;
  readonly why: string;
}

/** It becomes an operation. */
const NOT_YET = 'It is not in the registry yet.';

export const otherCommands: Readonly<Record<string, OtherCommand>> = {
  agents: { effect: 'reads', isForSessions: true, why: NOT_YET },
  'artifact add': { effect: 'changes', isForSessions: true, why: NOT_YET },
  'artifact get': { effect: 'changes', why: NOT_YET },
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
  config: { effect: 'changes', isForSessions: true, why: NOT_YET },
  cost: { effect: 'reads', isForSessions: true, why: NOT_YET },
  demo: { effect: 'changes', why: 'It shows Copse in a repository of its own.' },
  doctor: { effect: 'reads', isForSessions: true, why: NOT_YET },
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
  finish: { effect: 'changes', isForSessions: true, why: NOT_YET },
  heartbeat: { effect: 'changes', isForSessions: true, why: NOT_YET },
  help: { effect: 'reads', isForSessions: true, why: 'It is about the command line.' },
  hook: { effect: 'changes', isForSessions: true, why: 'Hooks of agent programs call it.' },
  inbox: {
    effect: 'changes',
    why: 'At a terminal, it asks a person and applies the answers. Only its list is an operation.',
  },
  init: { effect: 'changes', why: 'It works before there is a repository that an operation could use.' },
  jobs: { effect: 'reads', isForSessions: true, why: NOT_YET },
  'jobs show': { effect: 'reads', isForSessions: true, why: NOT_YET },
  logs: { effect: 'reads', isForSessions: true, why: NOT_YET },
  mcp: { effect: 'changes', isForSessions: true, why: 'It is a surface of the registry.' },
  notify: { effect: 'changes', isForSessions: true, why: NOT_YET },
  orchestrate: { effect: 'changes', why: 'It runs until a person stops it.' },
  phase: { effect: 'changes', isForSessions: true, why: NOT_YET },
  review: {
    effect: 'changes',
    why: 'At a terminal, it asks a person after it showed the work. Showing and answering are operations.',
  },
  'schedule list': { effect: 'reads', isForSessions: true, why: NOT_YET },
  'schedule pause': { effect: 'changes', why: NOT_YET },
  'schedule resume': { effect: 'changes', why: NOT_YET },
  'schedule run': { effect: 'changes', why: NOT_YET },
  'schedule show': { effect: 'reads', isForSessions: true, why: NOT_YET },
  serve: { effect: 'changes', why: 'It runs until a person stops it.' },
  'shell-init': { effect: 'reads', isForSessions: true, why: 'It prints a script for a shell.' },
  'sources list': { effect: 'reads', why: NOT_YET },
  'sources show': { effect: 'reads', why: NOT_YET },
  'sources sync': { effect: 'changes', why: NOT_YET },
  stats: { effect: 'reads', isForSessions: true, why: NOT_YET },
  stuck: { effect: 'changes', isForSessions: true, why: NOT_YET },
  switch: { effect: 'reads', why: 'It changes the folder of a shell.' },
  tend: { effect: 'changes', why: 'Copse starts it in the background.' },
  trigger: { effect: 'changes', why: NOT_YET },
  watch: { effect: 'changes', why: 'It draws on a terminal.' },
};
