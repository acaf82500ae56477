/**
 * Adds files and URIs to a task as its results.
 *
 * A person names any file. An agent names files of its own folders: its worktree, or the folder of a task without one. Its
 * paths lead through no link, so that it cannot add a file that it cannot read itself. URIs are only text.
 */

import type { NodeId, TaskId } from '../../kernel/ids.ts';
import { checkTitle, shown } from '../../kernel/text.ts';
import { type Artifact, checkUri, refuseTooMany } from '../../tasks/rules/ledger.ts';
import { addResult } from '../../tasks/act/artifacts.ts';
import { invalid } from '../../tasks/act/definition.ts';
import { refuseForeignTask } from '../../tasks/act/own-task.ts';
import type { Context, Outcome } from '../../board/context.ts';
import type { BoardReader } from '../../board/port.ts';
import { type WorkspaceContext, workspaceOf } from '../../workspaces/act/context.ts';
import type { ArtifactSource, Artifacts } from '../ports/runners.ts';
import type { Report, ReportedArtifact } from '../rules/session/report.ts';
import { type ReportContext, reportFolder } from './report.ts';

export interface ArtifactContext extends Context, Pick<WorkspaceContext, 'node' | 'home' | 'root'> {
  readonly artifacts: Artifacts;
}

export type ArtifactInput =
  | { readonly uri: string; readonly title: string | null }
  | {
      /** Absolute for a person. */
      readonly file: string;
      readonly title: string | null;
      /** The folder in which an agent's relative path begins. */
      readonly from?: string | null;
    };

export async function addArtifact(
  context: ArtifactContext,
  task: TaskId,
  input: ArtifactInput,
): Promise<Outcome<Artifact>> {
  const title = input.title === null ? null : checkTitle(input.title);
  if (title?.kind === 'refused') return invalid(title.reason, HELP);
  const named = { title: title?.title ?? null };
  if ('uri' in input) {
    const uri = checkUri(input.uri);
    if (uri.kind === 'refused') return invalid(uri.reason, HELP);
    return addResult(context, task, { kind: 'uri', address: uri.text, ...named });
  }
  const foreign = await refuseForeignTask(context, task);
  if (foreign) return foreign;
  if ((await context.board.get('task', task)) === undefined)
    return addResult(context, task, { kind: 'file', address: '', ...named });
  const known = await context.board.list('artifact', { task });
  const source = await sourceOf(context, task, input);
  const taken = context.artifacts.take(task, source, (bytes) => refuseTooMany(known, bytes));
  if (taken.kind === 'refused')
    return invalid(`${shortened(input.file)} was not added. ${taken.reason}`, HELP);
  const { name, bytes, sha256 } = taken;
  const content = { name, bytes, sha256, node: context.node };
  return addResult(context, task, { kind: 'file', address: `sha256:${sha256}`, content, ...named });
}

const HELP = 'copse artifact add --help';
const SHORT = 100;

/** Names of agents can be of any length. */
function shortened(file: string): string {
  const text = shown(file);
  return text.length > SHORT ? `${text.slice(0, SHORT)}…` : text;
}

async function sourceOf(
  context: ArtifactContext,
  task: TaskId,
  { file, from = null }: Extract<ArtifactInput, { file: string }>,
): Promise<ArtifactSource> {
  if (context.by.kind !== 'session') return { kind: 'any', file };
  const workspace = await workspaceOf(context, task);
  const worktree = workspace?.worktree?.path ?? null;
  const own = reportFolder(context, task, worktree);
  const checkout = workspace?.strategy === 'static' ? [context.root] : [];
  return { kind: 'own', folders: [own, ...checkout], from, file };
}

/** Those of a report. Returns one sentence for each that was not added. */
export async function addReported(
  context: ArtifactContext,
  task: TaskId,
  report: Pick<Report, 'artifacts'> | undefined,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const reported of report?.artifacts ?? []) {
    const added = await addArtifact(context, task, inputOf(reported));
    if (added.kind === 'refused') problems.push(added.refusal.reason);
  }
  return problems;
}

/** Before `copse finish` looks at the task: an agent may use the report for artifacts, and the command to finish. */
export async function addReportedHere(context: ReportContext, task: TaskId): Promise<void> {
  const worktree = (await workspaceOf(context, task))?.worktree?.path ?? null;
  const seen = context.reports.read(reportFolder(context, task, worktree));
  // When its process has ended, the gate says which of them could not be added.
  if (seen?.kind === 'report') await addReported(context, task, seen.report);
}

function inputOf({ file, uri, title }: ReportedArtifact): ArtifactInput {
  return uri === undefined ? { file: file ?? '', title: title ?? null } : { uri, title: title ?? null };
}

/** Why the content cannot be had here, as one sentence: which machine has it, or that it is gone. */
export async function machineText(
  { board, node }: { readonly board: BoardReader; readonly node: NodeId },
  { id, content }: Pick<Artifact, 'id' | 'content'>,
  because: 'missing' | 'changed',
): Promise<string> {
  const what = `The content of ${id}${content === undefined ? '' : ` (${shown(content.name)})`}`;
  if (because === 'changed') return `${what} was changed since it was added, so Copse does not use it.`;
  if (content === undefined || content.node === node) return `${what} is no longer on this machine.`;
  const { name } = (await board.get('node', content.node)) ?? { name: 'an unknown machine' };
  return `${what} is on the machine ${shown(name)} (${content.node}), which added it.`;
}
