import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { OperationFailed } from '../../../operations/failure.ts';
import { type BegunWait, type OpenWait, act, view } from '../../../operations/queue/merge.ts';
import type { LandingResult } from '../../../queue/act/merge.ts';
import { printSteps } from '../../after/next-steps.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { type LandingView, openLandingView } from '../../screen/landing-view.ts';

interface Options {
  readonly head?: string;
  readonly now?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const open = (wait: BegunWait) => openWait(cli, wait, options);
    const { head, now } = options;
    const merged = await act(access, { tasks: words, head, now, waitSeconds: Infinity, open });
    const { results, failures } = merged;
    if (options.json) cli.output.json(view(merged));
    const [only, ...others] = results;
    if (!options.json && only?.kind === 'landed' && others.length === 0)
      printSteps(cli.output, [`copse undo ${only.task} # to undo it`]);
    const [first, ...further] = failures;
    for (const { reason } of further) cli.output.note(shown(reason));
    if (first !== undefined) throw new OperationFailed(first);
  });
}

/** Ctrl+C ends the wait, and the tasks stay in the queue. */
function openWait(cli: Cli, wait: BegunWait, options: Options): OpenWait {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  const screen = openLandingView(cli, wait.context, wait.landings, options);
  return {
    signal: stop.signal,
    ended: (landed) => tell(cli, wait, screen, landed),
    ledElsewhere: (text) => screen.say([text]),
    async close() {
      await screen.close();
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}

function tell(
  { output }: Cli,
  { context, unaccepted }: BegunWait,
  screen: LandingView,
  landed: LandingResult,
): void {
  if (landed.kind !== 'landed') return;
  const { task, commit, isVerified, notes, promoted } = landed;
  const hasChecks = Object.keys(context.landing.checks).length > 0;
  const why = hasChecks ? 'its checks were skipped' : 'no checks are set';
  const unverified = isVerified ? '' : output.style('yellow', ` (without checks: ${why})`);
  const refusal = unaccepted.get(task);
  screen.say([
    `${output.style('green', 'Landed')} ${task} as ${commit.slice(0, 10)}${unverified}`,
    ...(refusal === undefined
      ? []
      : [output.style('yellow', `    Landed although its a${shown(refusal.slice(1))}`)]),
    ...removedText(landed).map((line) => `    ${line}`),
    ...notes.map((note) => `    ${shown(note)}`),
    ...promoted.map((one) => `    ${one} is ready now`),
  ]);
}

/** Nothing when another leader of the queue landed it: it removes the worktree. */
function removedText({ removed }: Extract<LandingResult, { kind: 'landed' }>): readonly string[] {
  if (!removed?.worktree) return [];
  const { worktree, branch, branchDeleted } = removed;
  const also = branchDeleted && branch !== null ? ` and its branch ${shown(branch)}` : '';
  return [`Removed its worktree ${shown(worktree)}${also}`];
}
