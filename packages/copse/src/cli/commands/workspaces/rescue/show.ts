import { shown } from '../../../../kernel/text.ts';
import { ignoredView, rescueView } from '../../../../operations/views/workspace-views.ts';
import { ignoredText } from '../../../../explain/changes.ts';
import type { Invocation } from '../../../invocation.ts';
import { age } from '../../../../explain/rules/amounts.ts';
import { fields } from '../../../screen/render.ts';
import { requireRescue } from './require-rescue.ts';
import { withWorkspaces } from '../../../with-workspaces.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withWorkspaces(cli, async (context) => {
    const rescue = await requireRescue(context, words[0] ?? '');
    const changes = await context.rescues.changes(rescue);
    const trashed = (await context.trash.list()).find(({ record }) => record.rescue === rescue.ref);
    const ignored = trashed ? await context.git.ignored(trashed) : { count: 0, first: [] };
    if (options.json) {
      cli.output.json({ ...rescueView(rescue), changes, ignored: ignoredView(ignored) });
      return;
    }
    const { ref, task, why, at, branch, head, commit } = rescue;
    cli.output.line(shown(ref));
    const rows = fields([
      ['task', task],
      ['why', `${why}, ${age(at, context.clock.now())} ago`],
      ['branch', branch && shown(branch)],
      ['head', head],
      ['commit', commit],
    ]);
    for (const row of rows) cli.output.line(`    ${row}`);
    if (changes.length > 0) cli.output.line();
    for (const { path, change } of changes) cli.output.line(`    ${change.padEnd(8)}  ${shown(path)}`);
    cli.output.line();
    const left = ignoredText(ignored);
    if (trashed && left !== undefined) {
      const until = new Date(trashed.record.at + context.policy.maintenance.trashAgeMs);
      const day = until.toISOString().slice(0, 10);
      cli.output.line(`Ignored by git, so only in the trash, until ${day} at least: ${left}`);
      cli.output.line(`To bring back the removed worktree with them: copse undo ${task} --worktree`);
    }
    cli.output.line(`To put it back into its worktree: copse rescue restore ${shortName(ref)}`);
    cli.output.line(`To see every line: git show ${commit}`);
  });
}

/** Task and time, which no two rescues share. */
function shortName(ref: string): string {
  return shown(ref.split('/').slice(-2).join('/'));
}
