/** The command with which a person ends a wait of the queue, where one command does. */

import { shellWord } from '../../kernel/shell.ts';
import { type StoredWaitReason, readWaitReason } from '../../queue/rules/wait-reason.ts';

export function waitSteps(stored: StoredWaitReason): readonly string[] {
  const reason = readWaitReason(stored);
  if (reason.kind !== 'checkout_changed') return [];
  const { checkout, files } = reason;
  const git = `git -C ${shellWord(checkout)}`;
  if (files.length > NAMED) return [`${git} status # to see the changes, then commit or stash them`];
  const names = files.map(shellWord).join(' ');
  return [`${git} stash push --include-untracked -- ${names} # to stash the changes (or commit them)`];
}

/** A command with more files does not fit a screen. */
const NAMED = 5;
