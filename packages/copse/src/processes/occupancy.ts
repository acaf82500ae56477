import type { Occupancy } from './ports/occupancy.ts';
import { endProcesses } from './end.ts';
import { identify, isAlive } from './identity.ts';
import { processesInside } from './inside.ts';
import { type TmuxServer, killTmuxSession, tmuxSessions } from './tmux.ts';

/** The processes of this machine. */
export function openOccupancy(tmux: TmuxServer = {}): Occupancy {
  return {
    inside: processesInside,
    identify,
    isAlive,
    end: endProcesses,
    tmuxSessions: (name) => tmuxSessions(name, tmux),
    killTmuxSession: (name) => killTmuxSession(name, tmux),
  };
}
