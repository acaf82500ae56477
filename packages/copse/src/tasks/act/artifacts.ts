/** Records the results of a task: what Copse itself makes, and what agents and people add. */

import { decided } from '../../kernel/decision.ts';
import { type ArtifactId, type CommitId, type TaskId, brand, drawId } from '../../kernel/ids.ts';
import { type Artifact, type ArtifactEvent, refuseTooMany } from '../rules/ledger.ts';
import { type Change, type Context, type Outcome, change } from '../../board/context.ts';
import { invalid } from './definition.ts';
import { refuseForeignTask } from './own-task.ts';

export type NewArtifact = Pick<Artifact, 'kind' | 'address' | 'title' | 'content'>;

/** Within a transaction. One that the task has already is not recorded again. */
export async function recordArtifact(
  change: Change,
  { random }: Pick<Context, 'random'>,
  task: TaskId,
  made: NewArtifact & Pick<Artifact, 'session'>,
): Promise<Artifact> {
  const known = await change.board.list('artifact', { task });
  const same = known.find((one) => isSame(one, made));
  if (same !== undefined) return same;
  const artifact = { id: brand<ArtifactId>(drawId('ar-', random)), task, at: change.at, ...made };
  await change.apply(decided<ArtifactEvent>({ type: 'artifact.added', ...artifact }));
  return artifact;
}

/** The commit that brought the task to its target. */
export async function recordLandedCommit(
  change: Change,
  context: Pick<Context, 'random'>,
  task: TaskId,
  commit: CommitId,
): Promise<void> {
  await recordArtifact(change, context, task, { kind: 'commit', address: commit, title: 'what landed' });
}

/** Of an agent or a person. A session adds to its own task only, while it holds it. */
export async function addResult(
  context: Context,
  task: TaskId,
  made: NewArtifact,
): Promise<Outcome<Artifact>> {
  const foreign = await refuseForeignTask(context, task);
  if (foreign) return foreign;
  return change(context, async (change) => {
    await change.requireMine(task);
    const known = await change.board.list('artifact', { task });
    const isKept = known.some(
      ({ content }) => content !== undefined && content.sha256 === made.content?.sha256,
    );
    const full = refuseTooMany(known, isKept ? 0 : (made.content?.bytes ?? 0));
    if (full !== undefined && !known.some((one) => isSame(one, made)))
      change.refuse(invalid(full, `copse artifact list ${task}`));
    const session = context.by.kind === 'session' ? context.by.session : null;
    return recordArtifact(change, context, task, { ...made, session });
  });
}

/** On another machine the content may be gone, so a file counts as another one there. */
function isSame(one: Artifact, made: NewArtifact): boolean {
  return (
    one.kind === made.kind &&
    one.address === made.address &&
    (one.kind !== 'commit' || one.title === made.title) &&
    one.content?.name === made.content?.name &&
    one.content?.node === made.content?.node
  );
}
