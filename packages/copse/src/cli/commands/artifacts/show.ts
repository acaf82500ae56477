import { machineText } from '../../../agents/act/artifacts.ts';
import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { time } from '../../../kernel/time.ts';
import type { Access } from '../../../operations/access.ts';
import { act, view } from '../../../operations/plans/artifact-show.ts';
import type { Artifact } from '../../../tasks/rules/ledger.ts';
import type { Invocation } from '../../invocation.ts';
import { fields } from '../../screen/render.ts';

interface Options {
  readonly json?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  await withAccess(cli, async (access) => {
    const artifact = await act(access, { artifact: words[0] ?? '' });
    if (options.json) return cli.output.json(view(artifact));
    const { id, task, kind, address, title, content, at } = artifact;
    const rows = fields([
      ['artifact', id],
      ['task', task],
      ['kind', kind],
      ['title', title && shown(title)],
      ['name', content ? shown(content.name) : null],
      ['size', content ? `${content.bytes} bytes` : null],
      ['sha256', content?.sha256 ?? null],
      ['address', kind === 'file' ? null : shown(address)],
      ['content', await whereText(access, artifact)],
      ['added by', byText(artifact)],
      ['added at', time(at)],
    ]);
    for (const row of rows) cli.output.line(row);
  });
}

async function whereText(access: Access, artifact: Artifact): Promise<string | null> {
  if (artifact.kind !== 'file' && artifact.kind !== 'patch') return null;
  const { kind } = await access.here.readArtifact(artifact);
  if (kind === 'read') return `on this machine, unchanged: copse artifact get ${artifact.id}`;
  const node = access.here.node();
  return access.board(({ board }) => machineText({ board, node }, artifact, kind));
}

function byText({ session }: Artifact): string {
  if (session === undefined) return 'Copse';
  return session === null ? 'a person' : `session ${session}`;
}
