import { remember } from '../../../intake/act/remember.ts';
import { holdSource } from '../../../intake/act/hold.ts';
import { busy, sourceNamed } from '../../../intake/act/one-item.ts';
import { limitedUntil } from '../../../intake/rules/limit.ts';
import { dueReports, reportDue } from '../../../intake/act/report.ts';
import type { DueItem } from '../../../intake/rules/report.ts';
import { type SourceSynced, syncSource } from '../../../intake/act/sync.ts';
import type { Source, SourceProblem } from '../../../intake/port.ts';
import type { RunContext } from '../../../queue/context.ts';
import { LeadSilence } from '../../../queue/lead/leadership.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { age } from '../../../explain/rules/amounts.ts';
import { stepView } from '../../../operations/views/source-views.ts';
import { OperationFailed, fail } from '../../../operations/failure.ts';
import type { Invocation } from '../../invocation.ts';
import type { Output } from '../../output.ts';
import { withRun } from '../../with-run.ts';
import { stepText } from './source-text.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withRun(cli, {}, async (context) => {
    const chosen = words.length === 0 ? context.sources : words.map((name) => requireSource(context, name));
    if (chosen.length === 0) fail('not_found', 'copse.yml has no sources.', 'copse help sources list');
    const views: object[] = [];
    const problems: string[] = [];
    for (const source of chosen) {
      const looked = await look(context, source, options.dryRun ?? false);
      if ('reason' in looked) problems.push(`${source.name}: ${looked.reason}`);
      if (options.json) views.push(viewOf(source, looked));
      else print(cli.output, source, looked, options.dryRun ?? false);
    }
    if (options.json) cli.output.json({ sources: views });
    const [first] = problems;
    if (first !== undefined)
      fail('unavailable', `Not all sources could be read. ${first}`, 'copse sources list');
  });
}

function requireSource(context: RunContext, name: string): Source {
  const found = sourceNamed(context, name);
  if ('kind' in found) throw new OperationFailed(found.refusal);
  return found;
}

interface Looked {
  readonly synced: SourceSynced;
  /** What the source was told, or would be. */
  readonly told: readonly Pick<DueItem, 'item'>[];
  readonly notes: readonly string[];
}

async function look(
  context: RunContext,
  source: Source,
  isTrial: boolean,
): Promise<Looked | { reason: string }> {
  const { clock, policy, sourceMemories } = context;
  const until = limitedUntil(sourceMemories.load(source.name).limit, clock.now());
  if (until !== null) return { reason: `its rate limit ends in ${age(clock.now(), until)}.` };
  const held = await holdSource(
    context,
    source.name,
    async (hold): Promise<Looked | SourceProblem> => {
      const synced = await syncSource(context, source, { isTrial });
      if (synced.kind === 'failed') return synced;
      if (isTrial && synced.problem !== null) return synced.problem;
      if (isTrial) return { synced, told: await dueReports(context, source), notes: synced.notes };
      const reported = await reportDue(context, source, hold);
      if (reported.kind === 'failed') return reported;
      // The other items were dealt with all the same.
      const problem = synced.problem ?? reported.problem;
      if (problem !== null) return problem;
      const notes = [...synced.notes, ...reported.notes];
      return { synced, told: reported.items.map((item) => ({ item })), notes };
    },
    { silence: new LeadSilence(), patienceMs: policy.sources.patienceMs },
  );
  if (held.kind === 'busy') return busy(source.name).refusal;
  const { value } = held;
  remember(context, source.name, 'kind' in value ? value : null, !isTrial);
  return value;
}

function viewOf({ name }: Source, looked: Looked | { readonly reason: string }): object {
  if ('reason' in looked) return { source: name, problem: looked.reason };
  const { synced, told, notes } = looked;
  return {
    source: name,
    seen: synced.seen,
    steps: synced.steps.map(stepView),
    waiting: synced.waiting.map(({ id }) => id),
    told: told.map(({ item }) => item.item),
    notes,
  };
}

function print(
  output: Output,
  { name }: Source,
  looked: Looked | { readonly reason: string },
  isTrial: boolean,
): void {
  if ('reason' in looked) return;
  const { synced, told, notes } = looked;
  const changes = synced.steps.length === 0 ? ', nothing new' : '';
  output.line(`${name}: ${counted(synced.seen, 'item')}${changes}`);
  for (const step of synced.steps) output.line(`  ${stepText(name, step, isTrial)}`);
  for (const { item } of told)
    output.line(
      `  ${isTrial ? 'would tell' : 'told     '} ${shown(`${name}#${item.item}`)} about ${item.task}`,
    );
  for (const note of notes) output.line(`  ${output.style('dim', shown(note))}`);
}
