/**
 * Notes about the run in a slot, for the process that takes the slot after a crash:
 *
 *   .copse/queue/<slot>/run.json            which run, and since when
 *   .copse/queue/<slot>/step-<step>.json    the processes seen (recorder.ts)
 */

import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';

import { writeAtomically } from '../../kernel/system/write-atomically.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import type { Moment } from '../../processes/ports/programs.ts';
import { namesIn } from '../../kernel/system/names-in.ts';
import { readIfThere } from '../../kernel/system/plain-file.ts';

export interface SlotNote extends Moment {
  readonly id: string;
  /** Processes that were in the worktree before the run. */
  readonly visitors: readonly ProcessIdentity[];
}

export interface SlotNotes {
  readonly folder: string;
  /** The note of a run that was cut short. A run before the last boot left no process. */
  read(now: Moment): SlotNote | undefined;
  begin(note: SlotNote): void;
  forget(): void;
  recordOf(step: string): string;
  records(): readonly string[];
}

export function notesOf(home: string, slot: number): SlotNotes {
  const folder = path.join(queueFolder(home), String(slot));
  const file = path.join(folder, 'run.json');
  const records = (): readonly string[] =>
    namesIn(folder)
      .filter((name) => /^step-.*\.json$/.test(name))
      .map((name) => path.join(folder, name));
  return {
    folder,
    read: ({ boot }) => {
      const note = readNote(file);
      return note?.boot === boot ? note : undefined;
    },
    begin(note) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeAtomically(file, JSON.stringify(note));
    },
    forget() {
      for (const record of records()) rmSync(record, { force: true });
      rmSync(file, { force: true });
    },
    recordOf: (step) => path.join(folder, `step-${step}.json`),
    records,
  };
}

/** Slots that have notes. */
export function notedSlots(home: string): readonly number[] {
  return namesIn(queueFolder(home))
    .filter((name) => /^[1-9]\d*$/.test(name))
    .map(Number);
}

function queueFolder(home: string): string {
  return path.join(home, '.copse', 'queue');
}

function readNote(file: string): SlotNote | undefined {
  try {
    return JSON.parse(readIfThere(file) ?? '') as SlotNote;
  } catch {
    // Absent, or cut short while it was written.
    return undefined;
  }
}
