import { withAccess } from '../../../compose/operations/access.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { shown } from '../../../kernel/text.ts';
import type { Access } from '../../../operations/access.ts';
import { fail } from '../../../operations/failure.ts';
import { requireTaskId } from '../../../operations/find.ts';
import { type WorkedOn, act, existingText, tryWork, view } from '../../../operations/worktrees/work.ts';
import { formatPriority } from '../../../tasks/rules/priority.ts';
import type { TaskSummary } from '../../../tasks/rules/task.ts';
import type { WorkspaceContext } from '../../../workspaces/act/context.ts';
import type { Choice } from '../../../workspaces/act/work.ts';
import { canAsk, choose } from '../../ask.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { withProgress } from '../../screen/progress.ts';
import { fields } from '../../screen/render.ts';
import { tendLater } from './tend-later.ts';

interface Options {
  readonly resume?: boolean;
  readonly reset?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const asked = choiceFrom(options);
  await withAccess(cli, async (access) =>
    access.workspaces(async (context) => {
      const [word] = words;
      const id =
        word === undefined ? await pickTask(cli, context, options) : await requireTaskId(context.board, word);
      const done = id && (await workOn(cli, access, id, asked, options));
      if (!done) {
        cli.output.note('Nothing was changed.');
      } else if (options.json) {
        cli.output.json(view(done));
      } else {
        print(cli, done);
      }
      if (done && !done.workspace.reused && done.workspace.branch !== null) {
        await tendLater(cli, context, context.git.countFiles(done.workspace.path));
      }
    }),
  );
}

function choiceFrom({ resume, reset }: Options): Choice | undefined {
  if (resume && reset) {
    return fail('invalid', 'Give --resume or --reset, not both.', 'copse work --help');
  }
  return resume ? 'resume' : reset ? 'reset' : undefined;
}

const NAMED = 5;

async function pickTask(
  cli: Cli,
  { board, clock }: WorkspaceContext,
  options: Options,
): Promise<TaskId | undefined> {
  const all = await board.tasks({ statuses: ['ready'], order: 'urgent' });
  const now = clock.now();
  const ready = all.filter(({ state }) => state.status !== 'ready' || (state.delay?.until ?? 0) <= now);
  const [first] = ready;
  if (first === undefined) {
    return fail('not_found', 'No task is ready.', 'copse list', 'copse add "…"');
  }
  const label = ({ id, priority, title }: TaskSummary) => `${id}  ${formatPriority(priority)}  ${title}`;
  if (canAsk(cli, options)) {
    const answers = ready.map((task) => ({ value: task.id, label: label(task) }));
    return choose('Which task do you want to work on?', answers);
  }
  const lines = ready.slice(0, NAMED).map((task) => `  ${label(task)}`);
  const more = ready.length > NAMED ? [`  … and ${ready.length - NAMED} more`] : [];
  return fail(
    'invalid',
    ['No task given. These are ready, the most urgent first:', ...lines, ...more].join('\n'),
    `copse work ${first.id}`,
  );
}

/** Undefined when the person cancelled. */
async function workOn(
  cli: Cli,
  access: Access,
  id: TaskId,
  choice: Choice | undefined,
  options: Options,
): Promise<WorkedOn | undefined> {
  const told = {
    doing: `Creating the worktree of ${id}`,
    stopped: `Stopped. To complete the worktree: copse work ${id}`,
  };
  const input = { task: id, existing: choice };
  if (!canAsk(cli, options)) return withProgress(cli, told, () => act(access, input));
  const worked = await withProgress(cli, told, () => tryWork(access, input));
  if (worked.kind === 'worked') return worked;
  const chosen = await choose(existingText(id, worked.existing), [
    { value: 'resume', label: 'Resume: continue in it' },
    { value: 'reset', label: 'Reset: start over from the base; its contents are rescued first' },
    { value: 'cancel', label: 'Cancel: change nothing' },
  ]);
  if (chosen === undefined || chosen === 'cancel') return undefined;
  return workOn(cli, access, id, chosen, options);
}

function print({ output }: Cli, { task, workspace }: WorkedOn): void {
  const { path, branch, base, reused, notes, ports } = workspace;
  const { id } = task;
  output.line(
    `${output.style('green', reused ? 'Resumed the worktree of' : 'Created worktree for')} ${id} ${shown(task.title)}`,
  );
  const on = branch === null ? 'none: HEAD is detached' : shown(branch);
  const rows = fields([
    ['worktree', base && shown(path)],
    ['branch', base && `${on}, from ${shown(base)}`],
    ['ports', ports.length > 0 ? ports.join(', ') : null],
  ]);
  for (const row of rows) output.line(`    ${row}`);
  for (const note of notes) output.line(output.style('yellow', `    ${shown(note)}`));
  output.line();
  output.line(`Start:  cd ${shellWord(path)}`);
  if (base === null) return;
  output.line('Commit your work there. Then:');
  const commands = fields([
    [`copse diff ${id}`, 'shows what it changes'],
    [`copse sync ${id}`, `brings the newest ${shown(base)} into it`],
    [`copse pause ${id}`, 'puts it aside for now; the worktree stays'],
    [`copse finish ${id}`, 'checks your commits and passes them on to land'],
  ]);
  for (const command of commands) output.line(`    ${command}`);
}
