/** Opens the runtime of an agent. Only the used one is loaded, to keep runners small. */

import { openPrograms } from '../../processes/start/programs.ts';
import { confinedPrograms } from '../../agents/sandbox/confined.ts';
import { unreachable } from '../../kernel/unreachable.ts';
import { openMemory } from '../../kernel/system/json-file.ts';
import type { AttemptId } from '../../kernel/ids.ts';
import type { ProcessIdentity } from '../../kernel/process.ts';
import { type Runtime, RuntimeUnavailable } from '../../agents/ports/runtime.ts';
import type { Sandbox } from '../../processes/ports/programs.ts';
import type { EffectiveAgent } from '../../config/effective.ts';

export interface RuntimeSurroundings {
  /** The main checkout. */
  readonly root: string;
  /** The folder that has `.copse`. */
  readonly home: string;
  readonly attempt: AttemptId;
  /** Called for the first process of each program. */
  readonly onStart: (process: ProcessIdentity) => void;
  /** The control group of all these programs, if any. */
  readonly group: string | undefined;
  /** The sandbox of all these programs, if any. */
  readonly sandbox: Sandbox | null;
  /** Whether a file is outside of the repository. */
  readonly mayTake: (file: string) => boolean;
}

export async function runtimeOf(
  agent: EffectiveAgent,
  { root, home, attempt, onStart, group, sandbox, mayTake }: RuntimeSurroundings,
): Promise<Runtime> {
  const { name, runtime, command, prompt_by, permissions, model, system_prompt, limits } = agent;
  const unconfined = openPrograms({ onStart, group });
  const programs = sandbox === null ? unconfined : confinedPrograms(unconfined, sandbox);
  const common = {
    permissions,
    ...(model !== undefined && { model }),
    ...(system_prompt !== undefined && { systemPrompt: system_prompt }),
  };
  const dollars = limits.dollars !== undefined && { dollars: limits.dollars };
  switch (runtime) {
    case 'command': {
      if (command === undefined) break;
      const { commandRuntime } = await import('../../agents/runtimes/command/runtime.ts');
      const { systemPrompt } = common;
      return commandRuntime(
        { command, promptBy: prompt_by, ...(systemPrompt && { systemPrompt }) },
        programs,
      );
    }
    case 'claude-sdk': {
      const { claudeSdkRuntime } = await import('../../agents/runtimes/claude-sdk/runtime.ts');
      const windows = rememberedWindows(home);
      const settings = { ...common, ...dollars, windows, projectFolder: root, mayTake };
      return claudeSdkRuntime(settings, programs);
    }
    case 'claude': {
      const { claudeRuntime } = await import('../../agents/runtimes/claude/runtime.ts');
      const { openAsks } = await import('../../agents/files/asks.ts');
      const settings = { ...common, ...dollars, windows: rememberedWindows(home) };
      return claudeRuntime(settings, programs, openAsks(attempt));
    }
    case 'codex': {
      const { codexRuntime } = await import('../../agents/runtimes/codex/runtime.ts');
      return codexRuntime(common, programs);
    }
    case 'gemini': {
      const { geminiRuntime } = await import('../../agents/runtimes/gemini/runtime.ts');
      return geminiRuntime(common, programs);
    }
    case 'opencode': {
      const { opencodeRuntime } = await import('../../agents/runtimes/opencode/runtime.ts');
      return opencodeRuntime(common, programs);
    }
    case 'acp': {
      if (command === undefined) break;
      const { acpRuntime } = await import('../../agents/runtimes/acp/runtime.ts');
      const { writeInside } = await import('../../workspaces/files/write-inside.ts');
      return acpRuntime({ ...common, ...dollars, command }, programs, writeInside);
    }
    default:
      return unreachable(runtime);
  }
  throw new RuntimeUnavailable(`The agent ${name} has no command, and its runtime ${runtime} needs one.`);
}

/** Claude reports the size of a model's context at the end of a turn; it is remembered for the next one. */
function rememberedWindows(home: string) {
  const memory = openMemory<Readonly<Record<string, number>>>(home, 'model-windows');
  const known = new Map(Object.entries(memory.load() ?? {}));
  return {
    get: (model: string) => known.get(model),
    set: (model: string, tokens: number) => {
      if (known.get(model) === tokens) return;
      known.set(model, tokens);
      memory.save(Object.fromEntries(known));
    },
  };
}
