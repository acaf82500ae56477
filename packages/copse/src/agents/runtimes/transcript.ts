/**
 * The agent's log for people: one line for each message and tool call, as it happens. The program's complete output is kept
 * beside it, in `<attempt>.jsonl`.
 */

import { appendFileSync } from 'node:fs';

import { shown } from '../../kernel/text.ts';

export interface Transcript {
  said(text: string): void;
  used(tool: string, what: string): void;
  note(text: string): void;
}

const LONGEST = 300;

export function openTranscript(log: string): Transcript {
  const write = (text: string) => appendFileSync(log, `${text}\n`, { mode: 0o600 });
  return {
    said: (text) => write(text.trim().split('\n').map(shown).join('\n')),
    used: (tool, what) => write(`• ${shown(tool)} ${brief(what)}`.trimEnd()),
    note: (text) => write(`– ${brief(text)}`),
  };
}

/** The file for the program's complete output. */
export function rawTranscript(log: string): string {
  return log.replace(/\.log$/, '.jsonl');
}

function brief(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return shown(line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line);
}
