/** What a turn of Claude Code is made of, with a terminal and without. */

import type { Asks } from '../../ports/asks.ts';
import type { Program, RunningProgram } from '../../../processes/ports/programs.ts';
import type { ClaudeSettings, Conversation } from './arguments.ts';
import type { Windows } from './messages.ts';

export interface ClaudeParts {
  readonly settings: ClaudeSettings & Required<Pick<ClaudeSettings, 'command'>>;
  readonly asks: Asks;
  readonly start: (program: Program) => Promise<RunningProgram>;
  readonly conversation: Conversation;
  readonly windows: Windows;
}
