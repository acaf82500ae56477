import { isPerson } from '../../../board/rules/author.ts';
import { openDiffTool, showInPager, usualDiffTool } from '../../../compose/on-demand.ts';
import { withAccess } from '../../../compose/operations/access.ts';
import { fileLines, sizeText } from '../../../explain/changes.ts';
import { fail } from '../../../operations/failure.ts';
import { type FoundDiff, act, view } from '../../../operations/worktrees/diff.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { patchForReader } from '../../screen/diff-text.ts';

interface Options {
  readonly stat?: boolean;
  readonly nameOnly?: boolean;
  readonly tool?: string | true;
  readonly uncommitted?: boolean;
  readonly json?: boolean;
}

/** A file or a pipe takes as much as there is. */
const WHOLE = { maxFiles: Infinity, maxPatchBytes: Infinity };

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  requireOneForm(cli, options);
  const { stat, nameOnly, tool, uncommitted } = options;
  const withoutPatch = [stat, nameOnly, tool].some(Boolean);
  await withAccess(cli, async (access) => {
    const diff = await act(access, { task: words[0], uncommitted, withoutPatch, ...WHOLE });
    if (tool !== undefined) await openInTool(cli, diff.found, tool);
    else if (options.json) cli.output.json(view(diff));
    else await print(cli, diff.found, options);
  });
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

async function openInTool(cli: Cli, { from, head, diff }: FoundDiff, wanted: string | true): Promise<void> {
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

async function print(cli: Cli, { diff }: FoundDiff, { nameOnly, stat }: Options): Promise<void> {
  const { output } = cli;
  if (nameOnly) {
    for (const { path } of diff.files) output.line(plainName(path));
  } else if (stat) {
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
