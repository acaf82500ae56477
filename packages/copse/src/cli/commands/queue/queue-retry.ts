import { withAccess } from '../../../compose/operations/access.ts';
import { anyOf, shown } from '../../../kernel/text.ts';
import { act, view } from '../../../operations/queue/retry.ts';
import { loadOtherNodes } from '../../../machines/act/nodes.ts';
import type { Access } from '../../../operations/access.ts';
import { waitText } from '../../../explain/rules/queue.ts';
import { type PausedLanding, loadPaused } from '../../../queue/act/paused.ts';
import type { Landing } from '../../../queue/rules/landing.ts';
import { printSteps } from '../../after/next-steps.ts';
import type { Invocation } from '../../invocation.ts';

export async function run({ cli, words, options }: Invocation<{ readonly json?: boolean }>): Promise<void> {
  await withAccess(cli, async (access) => {
    const landings = await act(access, { tasks: words });
    const { output } = cli;
    if (options.json) return output.json(view(landings));
    for (const { task, target } of landings)
      output.line(`${output.style('cyan', 'Queued')} ${task} to land on ${shown(target)}`);
    const paused = await pausedOf(access, landings);
    if (paused !== undefined) {
      output.line(output.style('dim', `    It waits: ${shown(waitText(paused.reason))}.`));
      return printSteps(output, [paused.resume]);
    }
    const leader = await leaderOf(access);
    if (leader !== null) {
      output.line(output.style('dim', `    ${leader} lands it.`));
      return printSteps(output, ['copse queue --watch']);
    }
    output.line(output.style('dim', '    No orchestrator is running here.'));
    printSteps(output, [`copse merge ${landings.map(({ task }) => task).join(' ')}`]);
  });
}

/** A pause that keeps one of them from landing. */
async function pausedOf(access: Access, landings: readonly Landing[]): Promise<PausedLanding | undefined> {
  return access.board(async ({ board }) => {
    for (const landing of landings) {
      const paused = await loadPaused(board, landing);
      if (paused !== undefined) return paused;
    }
    return undefined;
  });
}

/** Null: no orchestrator runs, here or on another machine. */
async function leaderOf(access: Access): Promise<string | null> {
  const { here } = access;
  if (await here.isOrchestrated()) return 'A running orchestrator';
  const others = await access.board((context) =>
    loadOtherNodes(context.board, here.node(), context.policy.nodes),
  );
  return others.length === 0 ? null : `An orchestrator on ${shown(anyOf(others.map(({ name }) => name)))}`;
}
