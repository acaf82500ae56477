/**
 * Whether a command can change anything: the board, the repository, files, or an agent. A command that changes something with
 * one of its words or options counts as changing. A typo never leads to one of those.
 */

import { operations } from '../../operations/registry.ts';
import { otherCommands } from './other-commands.ts';

type Effect = 'reads' | 'changes';

/** Of every command, by its path. */
export const effects: Readonly<Record<string, Effect>> = effectsOfAll();

function effectsOfAll(): Record<string, Effect> {
  const effects: Record<string, Effect> = {};
  const all = [
    ...operations.map(({ command, effect }) => ({ command, isReading: effect === 'reads' })),
    ...Object.entries(otherCommands).map(([command, { effect }]) => ({
      command,
      isReading: effect === 'reads',
    })),
  ];
  for (const { command, isReading } of all)
    effects[command] = isReading && effects[command] !== 'changes' ? 'reads' : 'changes';
  return effects;
}
