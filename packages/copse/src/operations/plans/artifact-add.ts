import path from 'node:path';

import { type ArtifactInput, addArtifact } from '../../agents/act/artifacts.ts';
import { FOR_SESSION, sessionFrom } from '../../board/rules/author.ts';
import type { Artifact } from '../../tasks/rules/ledger.ts';
import type { Access } from '../access.ts';
import { withReport } from '../agents/reporting.ts';
import { fail, orFail } from '../failure.ts';
import { artifactView } from '../views/views.ts';

interface Input {
  readonly task?: string | undefined;
  /** On the machine of the board's clone. */
  readonly file?: string | undefined;
  readonly uri?: string | undefined;
  readonly title?: string | undefined;
}

export async function act(access: Access, input: Input): Promise<Artifact> {
  const { task, title = null } = input;
  const source = sourceOf(access, input);
  return withReport(access, task, async (context, about) =>
    orFail(await addArtifact(context, about.task, { ...source, title })),
  );
}

export function view(artifact: Artifact) {
  return artifactView(artifact);
}

function sourceOf(access: Access, { file, uri }: Input) {
  if (uri !== undefined && file === undefined) return { uri };
  if (file === undefined || uri !== undefined)
    return fail('invalid', 'An artifact is a file or a URI.', 'copse artifact add --help');
  return fileOf(access, file);
}

/** A runner runs the command of its agent in another folder, and gets whole paths. */
function fileOf(
  { env, here }: Access,
  file: string,
): Omit<Extract<ArtifactInput, { file: string }>, 'title'> {
  if (sessionFrom(env) === undefined) return { file: path.resolve(here.folder(), file) };
  return { file, from: env[FOR_SESSION] === undefined ? here.folder() : null };
}
