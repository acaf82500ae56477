/** Opens everything that a runner needs for its attempt. */

import { rmSync } from 'node:fs';

import { furnishingGit } from '../../workspaces/files/furnish-git.ts';
import { openMerging } from '../../queue/merge/open.ts';
import { outsideOf } from '../../git/directory/work-tree.ts';
import { processesOfAttempt } from '../../processes/end.ts';
import { closeGroup, openGroup } from '../../processes/cgroup.ts';
import { closeInherited } from '../../processes/inherited.ts';
import { recordProcesses } from '../../processes/start/recorder.ts';
import { attemptFiles, readOrders } from '../../agents/files/attempt-files.ts';
import { openRunners } from '../../agents/files/runners.ts';
import { openArtifacts } from '../../agents/files/artifacts.ts';
import { openSourceMemories } from '../../intake/files/memory.ts';
import { runCommands, runOrFail } from '../../workspaces/files/commands.ts';
import { openContextFiles } from '../../agents/files/context-files.ts';
import { openMemory } from '../../kernel/system/json-file.ts';
import { openReports } from '../../agents/files/report-file.ts';
import type { AttemptContext } from '../../agents/run/context.ts';
import type { Commands } from '../../workspaces/ports/furnishing.ts';
import type { Patience } from '../../board/patient.ts';
import { type Surroundings, openWorkspaces } from '../open.ts';
import { openCommandAsks } from '../inside-attempt.ts';
import { sessionToken } from '../../agents/files/session-token.ts';
import { openSessionCommands } from '../../agents/files/session-commands.ts';
import type { Orders } from '../../agents/ports/runners.ts';
import { checksIn, checksOf } from './checks.ts';
import { forgeOf } from './forge.ts';
import { ownPrograms, programFile, systemTimer } from '../parts.ts';
import { openRadar } from './radar.ts';
import { agentSurroundings, hooksInRunner } from './hooks.ts';
import { resolvingOf } from './resolving.ts';
import type { AttemptSettings } from './run.ts';
import { runtimeOf } from './runtimes.ts';
import { openSandbox } from './sandbox.ts';

export interface AttemptSurroundings extends Surroundings {
  readonly stop: AbortSignal;
  readonly log: (line: string) => void;
  /** Called when the board was away for longer than the lease and its grace. */
  readonly onCutOff: () => void;
  /** Aborts when nothing is to wait for the board any more. */
  readonly hasGivenUp: AbortSignal;
}

export interface OpenAttempt {
  readonly context: AttemptContext;
  readonly orders: Orders;
  close(): Promise<void>;
}

export async function openAttempt(file: string, surroundings: AttemptSurroundings): Promise<OpenAttempt> {
  closeInherited();
  const { orders, settings } = readOrders(file) as {
    readonly orders: Orders;
    readonly settings: AttemptSettings;
  };
  const { agent } = settings;
  const group = openGroup(orders.attempt);
  const { log, onCutOff, hasGivenUp: signal } = surroundings;
  const patience: Patience = {
    signal,
    onAway: (error) => log(`${error.message} Waiting for it.`),
    onBack: (awayMs) => log(`The board is back after ${Math.round(awayMs / 1_000)} s.`),
  };
  // The board may be away just now: another machine has the task when the lease and its grace are over.
  const { durationMs, cutOffLeases } = settings.policy.lease;
  const late = setTimeout(onCutOff, durationMs * cutOffLeases);
  const known = { ...settings, ...(group && { group }), isRunner: true, patience };
  const {
    context: workspaces,
    dir,
    repository,
  } = await openWorkspaces(surroundings, known).finally(() => clearTimeout(late));
  const { home } = workspaces;
  const merging = openMerging(dir, { mainCheckout: repository.configFolder });
  const files = attemptFiles(home, orders.attempt);
  const self = await workspaces.occupancy.identify(process.pid);
  const recorder = self && recordProcesses({ file: files.processes, around: self, group });
  // Until there is a record, no other process knows of the group.
  await recorder?.look().catch(() => {});
  const runners = openRunners({
    home,
    program: [process.execPath],
    environment: surroundings.env,
    processesOf: async (attempt, record) => {
      // Set-up has no mark of the attempt: what it left is known by the record.
      if (attempt === orders.attempt) await recorder?.look().catch(() => {});
      return processesOfAttempt(attempt, record);
    },
  });
  const { session, token, attempt } = orders;
  const mayTake = outsideOf(repository);
  const { env } = surroundings;
  const sandbox = await openSandbox(agent, {
    repository,
    root: workspaces.root,
    worktreeFolder: workspaces.worktreeFolder,
    attempt,
    env,
    mayTake,
  });
  const environment = agentSurroundings(surroundings, agent, { programs: ownPrograms(home), mayTake });
  const serverToken = sessionToken(home, { session, token });
  const commands: Commands = {
    // Accept commands and hooks start in files of the agent, so they run in its sandbox, with its environment.
    run: (lines) => {
      const isAccept = lines.name === 'accept';
      if (sandbox === null) return runCommands({ ...lines, isWhole: isAccept, group });
      const run = isAccept ? runCommands : runOrFail;
      return run({ ...lines, isWhole: true, group, confined: { sandbox, attempt } });
    },
  };
  const context: AttemptContext = {
    ...workspaces,
    by: { kind: 'session', session, token },
    clock: systemTimer,
    machine: { freeMemoryBytes: () => null },
    merging,
    resolving: resolvingOf(dir, agent.landing, {
      policy: settings.policy,
      confined: checksIn({ landing: agent.landing, agents: [agent] }, repository, workspaces, surroundings),
    }),
    radar: openRadar(repository, dir),
    forge: forgeOf(dir, { kind: agent.landing.forge, env: surroundings.env, policy: settings.policy }),
    // A runner runs none: they are the queue's.
    checks: checksOf(dir, workspaces, { env, sandbox: null }),
    commands,
    hooks: hooksInRunner(commands, environment, sandbox, home),
    artifacts: openArtifacts(home),
    runners,
    agents: [agent],
    // A runner looks at none: they are the orchestrator's.
    sources: [],
    sourceMemories: openSourceMemories(home),
    landing: agent.landing,
    finish: agent.finish,
    agent,
    runtime: await runtimeOf(agent, {
      root: workspaces.root,
      home,
      attempt: orders.attempt,
      onStart: (process) => recorder?.add(process),
      group,
      sandbox,
      mayTake,
    }),
    reports: openReports(),
    asked: openCommandAsks(orders.attempt),
    sessionCommands: openSessionCommands({
      program: [process.execPath, programFile('cli')],
      environment: surroundings.env,
    }),
    checkoutMemory: openMemory(dir.home, 'main-checkout'),
    contextFiles: openContextFiles({
      git: furnishingGit(dir),
      gitDirOf: (worktree) => workspaces.git.gitDirOf(worktree),
      home,
    }),
    pid: process.pid,
    environment: { ...environment, ...(serverToken !== undefined && { COPSE_SERVER_TOKEN: serverToken }) },
    stop: surroundings.stop,
    log,
    onCutOff,
  };
  return {
    context,
    orders,
    async close() {
      recorder?.stop();
      sandbox?.close();
      if (group !== undefined) await closeGroup(group);
      // Last: until here a successor has to know which processes to end.
      if ((await runners.processesOf(orders.attempt)).length === 0) await runners.forget(orders.attempt);
      else rmSync(files.orders, { force: true });
      await merging.close();
      await Promise.all([context.git.close(), context.board.close()]);
    },
  };
}
