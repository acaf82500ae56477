import type { Artifact } from '../../tasks/rules/ledger.ts';
import type { Access } from '../access.ts';
import { requireArtifact } from '../find.ts';
import { artifactView } from '../views/views.ts';

interface Input {
  readonly artifact: string;
}

export async function act(access: Access, input: Input): Promise<Artifact> {
  return access.board(({ board }) => requireArtifact(board, input.artifact));
}

export function view(artifact: Artifact) {
  return artifactView(artifact);
}
