import { machineText } from '../../../agents/act/artifacts.ts';
import type { Artifact } from '../../../tasks/rules/ledger.ts';
import { type NodeId } from '../../../kernel/ids.ts';
import { shown } from '../../../kernel/text.ts';
import { time } from '../../../kernel/time.ts';
import type { Board } from '../../../board/port.ts';
import { readArtifact } from '../../../compose/on-demand.ts';
import { nodeHere, requireRepository } from '../../../compose/open.ts';
import { artifactView } from '../../../operations/views/views.ts';
import type { Invocation } from '../../invocation.ts';
import { fields } from '../../screen/render.ts';
import { withBoard } from '../../with-board.ts';
import { requireArtifact } from './artifact-text.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withBoard(cli, async ({ board }) => {
    const artifact = await requireArtifact(board, words[0] ?? '');
    if (options.json) return cli.output.json(artifactView(artifact));
    const { id, task, kind, address, title, content, at } = artifact;
    const node = nodeHere(requireRepository(cli));
    const rows = fields([
      ['artifact', id],
      ['task', task],
      ['kind', kind],
      ['title', title && shown(title)],
      ['name', content ? shown(content.name) : null],
      ['size', content ? `${content.bytes} bytes` : null],
      ['sha256', content?.sha256 ?? null],
      ['address', kind === 'file' ? null : shown(address)],
      ['content', await whereText(board, node, artifact, () => readArtifact(cli, artifact))],
      ['added by', byText(artifact)],
      ['added at', time(at)],
    ]);
    for (const row of rows) cli.output.line(row);
  });
}

async function whereText(
  board: Board,
  node: NodeId,
  artifact: Artifact,
  read: () => Promise<{ readonly kind: 'read' | 'missing' | 'changed' }>,
): Promise<string | null> {
  if (artifact.kind !== 'file' && artifact.kind !== 'patch') return null;
  const { kind } = await read();
  if (kind === 'read') return `on this machine, unchanged: copse artifact get ${artifact.id}`;
  return machineText({ board, node }, artifact, kind);
}

function byText({ session }: Artifact): string {
  if (session === undefined) return 'Copse';
  return session === null ? 'a person' : `session ${session}`;
}
