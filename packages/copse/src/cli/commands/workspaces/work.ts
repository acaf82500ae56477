import { type Choice, type Existing, type Worked, work } from '../../../workspaces/act/work.ts';
import type { WorkspaceContext } from '../../../workspaces/act/context.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { formatPriority } from '../../../tasks/rules/priority.ts';
import type { TaskSummary } from '../../../tasks/rules/task.ts';
import { counted, shown } from '../../../kernel/text.ts';
import { workView } from '../../../operations/views/workspace-views.ts';
import { canAsk, choose } from '../../ask.ts';
import { fail, orFail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { shellWord } from '../../../kernel/shell.ts';
import { withProgress } from '../../screen/progress.ts';
import { fields } from '../../screen/render.ts';
import { requireTaskId } from '../../../operations/find.ts';
import { tendLater } from './tend-later.ts';
import { refuseElsewhere, withWorkspaces } from '../../with-workspaces.ts';

interface Options {
  readonly resume?: boolean;
  readonly reset?: boolean;
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const asked = choiceFrom(options);
  await withWorkspaces(cli, async (context) => {
    const [word] = words;
    const id =
      word === undefined ? await pickTask(cli, context, options) : await requireTaskId(context.board, word);
    await refuseElsewhere(context, id);
    const done = id && (await workOn(cli, context, id, asked, options));
    if (!done) {
      cli.output.note('Nothing was changed.');
    } else if (options.json) {
      cli.output.json(workView(done.task.id, done.workspace));
    } else {
      print(cli, done);
    }
    if (done && !done.workspace.reused && done.workspace.branch !== null) {
      await tendLater(cli, context, context.git.countFiles(done.workspace.path));
    }
  });
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

type Done = Extract<Worked, { kind: 'worked' }>;

/** Undefined when the person cancelled. */
async function workOn(
  cli: Cli,
  context: WorkspaceContext,
  id: TaskId,
  choice: Choice | undefined,
  options: Options,
): Promise<Done | undefined> {
  const told = {
    doing: `Creating the worktree of ${id}`,
    stopped: `Stopped. To complete the worktree: copse work ${id}`,
  };
  const worked = orFail(await withProgress(cli, told, () => work(context, id, choice)));
  if (worked.kind === 'worked') return worked;
  const { existing } = worked;
  if (!canAsk(cli, options)) {
    return fail(
      'wrong_status',
      describe(id, existing),
      `copse work ${id} --resume`,
      `copse work ${id} --reset # rescues its contents first`,
    );
  }
  const chosen = await choose(describe(id, existing), [
    { value: 'resume', label: 'Resume: continue in it' },
    { value: 'reset', label: 'Reset: start over from the base; its contents are rescued first' },
    { value: 'cancel', label: 'Cancel: change nothing' },
  ]);
  if (chosen === undefined || chosen === 'cancel') return undefined;
  return workOn(cli, context, id, chosen, options);
}

function describe(id: TaskId, { path, crashes, uncommitted, ownCommits }: Existing): string {
  const facts = [
    ...(uncommitted === 0 ? [] : [counted(uncommitted, 'uncommitted change')]),
    ...(ownCommits === 0 ? [] : [`${counted(ownCommits, 'commit')} of its own`]),
    ...(uncommitted + ownCommits === 0 ? ['no changes'] : []),
    ...(crashes === 0 ? [] : [counted(crashes, 'crash', 'es')]),
  ];
  return `${id} already has a worktree (${facts.join(', ')}): ${shown(path)}`;
}

function print({ output }: Cli, { task, workspace }: Done): void {
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
    [`copse pause ${id}`, 'gives it up for now; the worktree stays'],
    [`copse finish ${id}`, 'checks your commits and passes them on to land'],
  ]);
  for (const command of commands) output.line(`    ${command}`);
}
