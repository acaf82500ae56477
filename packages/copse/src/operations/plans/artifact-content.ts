import { machineText } from '../../agents/act/artifacts.ts';
import type { ArtifactId } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { shown } from '../../kernel/text.ts';
import type { Artifact } from '../../tasks/rules/ledger.ts';
import type { Access } from '../access.ts';
import { fail } from '../failure.ts';
import { requireArtifact } from '../find.ts';

interface Input {
  readonly artifact: string;
  /** The byte to read on from. */
  readonly after?: number | undefined;
}

interface ContentPage {
  readonly artifact: ArtifactId;
  /** Of the whole content. */
  readonly bytes: number;
  readonly page: Uint8Array;
  /** Null: this is the last page. */
  readonly next: number | null;
}

export async function act(access: Access, { artifact: text, after = 0 }: Input): Promise<ContentPage> {
  const { artifact, content } = await readContent(access, text);
  const page = content.subarray(after, after + defaultPolicy.artifacts.pageBytes);
  const end = after + page.length;
  return { artifact: artifact.id, bytes: content.length, page, next: end < content.length ? end : null };
}

export function view({ artifact, bytes, page, next }: ContentPage) {
  return { artifact, bytes, content: Buffer.from(page).toString('base64'), next };
}

/** All of it, if this machine has it unchanged. */
export async function readContent(
  access: Access,
  text: string,
): Promise<{ readonly artifact: Artifact; readonly content: Uint8Array }> {
  return access.board(async ({ board }) => {
    const artifact = await requireArtifact(board, text);
    refuseOthers(artifact);
    const read = await access.here.readArtifact(artifact);
    if (read.kind === 'read') return { artifact, content: read.content };
    const { id } = artifact;
    const node = access.here.node();
    const isElsewhere =
      read.kind === 'missing' && artifact.content !== undefined && artifact.content.node !== node;
    return fail(
      'not_found',
      await machineText({ board, node }, artifact, read.kind),
      isElsewhere ? `copse artifact get ${id} # on that machine` : `copse artifact show ${id}`,
    );
  });
}

function refuseOthers({ id, kind, address }: Artifact): void {
  if (kind === 'commit')
    fail('wrong_status', `${id} is the commit ${address}: git has it.`, `git show ${address}`);
  if (kind === 'uri')
    fail(
      'wrong_status',
      `${id} is an address, which Copse never opens: ${shown(address)}`,
      `copse artifact show ${id}`,
    );
}
