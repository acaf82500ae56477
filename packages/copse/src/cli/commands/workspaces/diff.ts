import { isUtf8 } from 'node:buffer';

import { type TaskDiff, diffTask } from '../../../workspaces/act/diff.ts';
import { openDiffTool, showInPager, usualDiffTool } from '../../../compose/on-demand.ts';
import { diffView } from '../../../operations/views/workspace-views.ts';
import { fileLines, sizeText } from '../../../explain/changes.ts';
import type { TaskId } from '../../../kernel/ids.ts';
import { patchForReader } from '../../screen/diff-text.ts';
import { requireTaskHere } from './task-here.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import type { WorkspaceContext } from '../../../workspaces/act/context.ts';
import { stop, withWorkspaces, withWorkspacesOf } from '../../with-workspaces.ts';
import { isPerson } from '../../../board/rules/author.ts';

interface Options {
  readonly stat?: boolean;
  readonly nameOnly?: boolean;
  readonly tool?: string | true;
  readonly uncommitted?: boolean;
  readonly json?: boolean;
}

type Found = Extract<TaskDiff, { kind: 'found' }>;

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  requireOneForm(cli, options);
  await withWorkspaces(cli, async (context) => {
    const task = await requireTaskHere(context, cli, words[0]);
    await withWorkspacesOf(cli, context, task, (there) => showDiff(cli, there, task, options));
  });
}

async function showDiff(cli: Cli, context: WorkspaceContext, task: TaskId, options: Options): Promise<void> {
  const withoutPatch = [options.stat, options.nameOnly, options.tool].some(Boolean);
  const found = await diffTask(context, task, {
    includeUncommitted: options.uncommitted ?? false,
    withoutPatch,
  });
  if (found.kind === 'refused') stop(found, 'not_found');
  if (options.tool !== undefined) await openInTool(cli, found, options.tool);
  else await print(cli, task, found, options);
}

function requireOneForm(cli: Cli, { stat, nameOnly, tool, uncommitted, json }: Options): void {
  const given = [stat && '--stat', nameOnly && '--name-only', tool && '--tool'].filter(Boolean);
  if (given.length > 1) fail('invalid', `Give ${given.join(' or ')}, not both.`, 'copse diff --help');
  if (tool === undefined) return;
  // The tool runs with the rights of the person, outside of any sandbox.
  if (!isPerson(cli.env)) fail('not_this_session', 'Only a person may open a diff tool.', 'copse diff');
  if (json || uncommitted)
    fail('invalid', `--tool does not go with ${json ? '--json' : '--uncommitted'}.`, 'copse diff --help');
  if (tool !== true && !/^\w[\w.-]{0,63}$/.test(tool))
    fail('invalid', `--tool needs the name of a diff tool.`, 'git difftool --tool-help (lists them)');
}

async function openInTool(cli: Cli, { from, head, diff }: Found, wanted: string | true): Promise<void> {
  if (diff.files.length === 0) return cli.output.note('The branch has no changes.');
  const tool = wanted === true ? await usualDiffTool(cli) : wanted;
  if (tool === undefined || !/^\w[\w.-]{0,63}$/.test(tool)) {
    return fail(
      'not_found',
      'Your git settings name no diff tool.',
      'copse diff --tool vimdiff',
      'git config --global diff.tool vimdiff',
    );
  }
  const code = await openDiffTool({ from, to: head, tool }, cli);
  if (code !== 0)
    fail('unavailable', `The diff tool ${tool} ended with exit code ${code}.`, 'git difftool --tool-help');
}

async function print(cli: Cli, task: TaskId, found: Found, options: Options): Promise<void> {
  const { diff } = found;
  const { output } = cli;
  if (options.json) {
    const patch = !options.stat && !options.nameOnly && isUtf8(diff.patch) ? diff.patch.toString() : null;
    output.json(diffView(task, found, patch));
  } else if (options.nameOnly) {
    for (const { path } of diff.files) output.line(plainName(path));
  } else if (options.stat) {
    for (const line of fileLines(diff.files)) output.line(line);
    output.line(sizeText(diff));
  } else {
    await printPatch(cli, diff.patch);
  }
}

/** On the person's terminal in their pager; a session has none to answer. */
export async function printPatch(cli: Cli, patch: Buffer): Promise<void> {
  const text = patchForReader(patch, cli.output);
  const canPage = cli.output.isTerminal && text.length > 0 && isPerson(cli.env);
  const isPaged = canPage && (await showInPager(text.toString(), cli));
  if (!isPaged) await cli.output.raw(text);
}

/** One line for each name, as a JSON text where it has control characters or begins like one. */
function plainName(name: string): string {
  return /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]|^"/.test(name) ? JSON.stringify(name) : name;
}
