/** Lists the conflicts of a merge for the task that resolves it: by file, the lines that both sides changed. */

import { defaultPolicy } from '../../kernel/policy.ts';
import type { CommitId } from '../../kernel/ids.ts';
import type { FileConflict } from '../ports/merging.ts';
import { type MergeEngine, openTargetMerger } from './engine.ts';
import { loadBranch } from './branch.ts';
import { type Objects, TreeView } from '../../git/objects.ts';
import { utf8 } from '../../git/output.ts';

export interface ConflictLimits {
  readonly files: number;
  readonly bytesPerFile: number;
}

export function listConflicts(
  engine: MergeEngine,
  onto: CommitId,
  head: CommitId,
  { files, bytesPerFile }: ConflictLimits,
): Promise<readonly FileConflict[]> {
  return engine.use(async () => {
    const { objects } = engine;
    const [branch, target] = await Promise.all([loadBranch(objects, onto, head), objects.commit(onto)]);
    const merger = await openTargetMerger(engine, { target: target.tree, paths: branch.own });
    const merged = await merger.merge(onto, head);
    if (merged === undefined || merged.kind === 'clean') return [];
    const view = new TreeView(objects, merged.tree);
    return Promise.all(
      merged.files.slice(0, files).map(async (bytes): Promise<FileConflict> => {
        const file = utf8(bytes);
        const said = merged.conflicts.find(({ paths }) => paths.includes(file));
        const kind = /\((.+)\)/.exec(said?.type ?? '')?.[1] ?? 'contents';
        const content = await textAt(objects, view, bytes);
        const hunks = content === undefined ? null : hunksOf(content, onto, head, bytesPerFile);
        return { file, kind, message: said?.message ?? `CONFLICT (${kind}): ${file}`, hunks };
      }),
    );
  });
}

const MOST_BYTES = defaultPolicy.resolving.fileBytes;

async function textAt(objects: Objects, view: TreeView, file: string): Promise<string | undefined> {
  const entry = await view.find(file);
  if (!entry?.mode.startsWith('100')) return undefined;
  const fact = await objects.facts(entry.id);
  if (fact === undefined || fact.size > MOST_BYTES) return undefined;
  const content = await objects.blob(entry.id);
  return content.includes(0) ? undefined : content.toString();
}

/** Lines shown around a conflict. */
const CONTEXT = 3;

/** Null when there are none. Markers name the two commits, because other lines of the file may look like markers. */
function hunksOf(text: string, onto: CommitId, head: CommitId, mostBytes: number): string | null {
  const lines = text.split('\n');
  const parts: string[] = [];
  let [shownTo, left] = [0, mostBytes];
  for (let at = 0; at < lines.length; at += 1) {
    if (!isMarker(lines[at], '<', onto)) continue;
    const end = lines.findIndex((line, below) => below > at && isMarker(line, '>', head));
    if (end === -1) break;
    const from = Math.max(shownTo, at - CONTEXT);
    shownTo = Math.min(lines.length, end + 1 + CONTEXT);
    const part = `${from > 0 ? `@@ line ${from + 1} @@\n` : ''}${lines.slice(from, shownTo).join('\n')}\n`;
    at = end;
    const bytes = Buffer.byteLength(part);
    if (bytes > left) {
      parts.push(`${cut(part, left)}\n… the rest is too long to show\n`);
      break;
    }
    parts.push(part);
    left -= bytes;
  }
  return parts.length === 0 ? null : parts.join('');
}

/** Seven signs, or as many as an attribute demands; then a space, the commit and possibly a path. */
function isMarker(line: string | undefined, sign: '<' | '>', commit: CommitId): boolean {
  if (line?.startsWith(sign.repeat(2)) !== true) return false;
  const label = line.slice(line.lastIndexOf(sign, line.indexOf(' ')) + 2).trimEnd();
  return label === commit || label.startsWith(`${commit}:`);
}

/** Whole lines. */
function cut(text: string, bytes: number): string {
  const most = Buffer.from(text).subarray(0, bytes).toString();
  return most.slice(0, Math.max(0, most.lastIndexOf('\n')));
}
