/** The command with which a person ends a wait of the queue, where one command does. */

import type { TaskId } from '../../kernel/ids.ts';
import { shellWord } from '../../kernel/shell.ts';
import { waitText } from './queue.ts';
import { firstLine } from './status.ts';
import { type StoredWaitReason, readWaitReason } from '../../queue/rules/wait-reason.ts';

interface Waiting {
  readonly task: TaskId;
  readonly target: string;
  /** A leader lands it after that without a command. */
  readonly isLed: boolean;
}

export function waitSteps(stored: StoredWaitReason, { task, target, isLed }: Waiting): readonly string[] {
  const reason = readWaitReason(stored);
  if (reason.kind === 'target_red')
    return [
      `copse merge ${task} # after you repair ${target}`,
      'copse config accept # if the check is wrong, after you change it in copse.yml',
    ];
  if (reason.kind !== 'checkout_changed') return [];
  const { checkout, files } = reason;
  const git = `git -C ${shellWord(checkout)}`;
  const after = isLed ? [] : [`copse merge ${task} # after that`];
  if (files.length > NAMED)
    return [`${git} status # to see the changes, then commit or stash them`, ...after];
  const names = files.map(shellWord).join(' ');
  return [
    `${git} stash push --include-untracked -- ${names} # to stash the changes (or commit them)`,
    ...after,
    `${git} stash pop # to get stashed changes back after it landed`,
  ];
}

/** The log of the check that the target itself fails. */
export function waitLog(stored: StoredWaitReason | undefined): readonly string[] {
  const reason = stored === undefined ? undefined : readWaitReason(stored);
  const log = reason?.kind === 'target_red' ? reason.failed?.log : undefined;
  return log ? [`Full output: ${log}`] : [];
}

/** In one line, with what a person does before the command of `waitSteps`. */
export function waitBefore(stored: StoredWaitReason, target: string): string {
  const text = firstLine(waitText(stored, target));
  return readWaitReason(stored).kind === 'target_red' ? `${text}; repair ${target}` : text;
}

/** A command with more files does not fit a screen. */
const NAMED = 5;
