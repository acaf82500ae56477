/**
 * `- [ ]` lists of the repository, as the target branch has them: an uncommitted line of a person is not read, and its file is
 * never written. What is ticked becomes a commit; landing it is the queue's matter.
 */

import path from 'node:path';

import { type BranchName, type CommitId, brand } from '../../kernel/ids.ts';
import { defaultPolicy } from '../../kernel/policy.ts';
import { identityEnv } from '../../git/identity.ts';
import { entries } from '../../git/output.ts';
import { type TrustedDir, git, gitLine } from '../../git/process.ts';
import { withScratch } from '../../git/worktrees/place.ts';
import { type Area, areaMatches, parseArea } from '../../tasks/rules/areas/areas.ts';
import type { KnownItem, Source, SourceProblem, SourceRead, TickOrder, Ticked } from '../port.ts';
import {
  type IdentifiedEntry,
  type ListEntry,
  fileOfItem,
  identify,
  parseList,
  withTicks,
} from '../rules/markdown.ts';
import type { SeenItem, SourceSettings } from '../rules/source.ts';

export interface MarkdownOptions {
  readonly settings: SourceSettings;
  readonly files: readonly string[];
  readonly dir: TrustedDir;
  /** Undefined: there is no branch yet. */
  readonly target: () => Promise<{ readonly branch: BranchName; readonly tip: CommitId } | undefined>;
}

export function markdownSource(options: MarkdownOptions): Source {
  const { settings } = options;
  const read = (known: readonly KnownItem[]) => trying(() => readLists(options, known));
  return {
    ...settings,
    read,
    async readOne(id) {
      const found = await read([]);
      return found.kind === 'failed'
        ? found
        : { kind: 'read', item: found.items.find((item) => item.id === id) };
    },
    letIn: async () => ({ kind: 'known', by: null }),
    tick: (order) => trying(() => tick(options, order)),
  };
}

async function trying<T>(work: () => Promise<T>): Promise<T | SourceProblem> {
  try {
    return await work();
  } catch (error) {
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error), until: null };
  }
}

async function readLists(
  options: MarkdownOptions,
  known: readonly KnownItem[],
): Promise<SourceRead | SourceProblem> {
  const target = await options.target();
  if (target === undefined)
    return { kind: 'failed', reason: 'The repository has no commit yet.', until: null };
  const found = await listFiles(options, target.tip);
  const items: SeenItem[] = [];
  for (const file of found) items.push(...itemsIn(await readList(options.dir, file, known)));
  const where = `${target.branch} at ${target.tip.slice(0, 10)}`;
  const notes =
    found.length === 0
      ? [`No file of ${where} matches ${options.files.join(', ')}.`]
      : [`Read ${found.map((file) => file.path).join(', ')} of ${where}.`];
  return { kind: 'read', items, notes };
}

interface ListFile {
  readonly path: string;
  readonly mode: string;
  readonly blob: string;
}

/** Regular files only: a link may lead anywhere. */
async function listFiles({ dir, files }: MarkdownOptions, commit: CommitId): Promise<readonly ListFile[]> {
  const areas = files.flatMap((file): readonly Area[] => {
    const parsed = parseArea(file);
    return parsed.kind === 'accepted' ? [parsed.area] : [];
  });
  const listed = await git(dir, ['ls-tree', '-r', '-z', '--full-tree', commit]);
  const found = entries(listed).flatMap((line): readonly ListFile[] => {
    const [, mode = '', blob = '', name = ''] = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    const file = Buffer.from(name, 'latin1').toString();
    const isList =
      mode.startsWith('100') &&
      /\.(md|markdown)$/i.test(file) &&
      Buffer.from(file).toString('latin1') === name;
    return isList && areas.some((area) => areaMatches(area, file)) ? [{ path: file, mode, blob }] : [];
  });
  return found.slice(0, defaultPolicy.sources.mostFiles);
}

interface ReadList {
  readonly text: string;
  readonly entries: readonly IdentifiedEntry[];
}

async function readList(dir: TrustedDir, file: ListFile, known: readonly KnownItem[]): Promise<ReadList> {
  const size = Number(await gitLine(dir, ['cat-file', '-s', file.blob]));
  const most = defaultPolicy.sources.mostFileBytes;
  if (size > most) throw new Error(`${file.path} has ${size} bytes, and Copse reads at most ${most}.`);
  // Bytes as characters: what is not ticked is written as it was read.
  const text = (await git(dir, ['cat-file', 'blob', file.blob])).toString('latin1');
  const own = known.filter(({ item }) => fileOfItem(item) === file.path);
  return { text, entries: identify(file.path, listIn(file, Buffer.from(text, 'latin1').toString()), own) };
}

function listIn({ path: file }: ListFile, text: string): readonly ListEntry[] {
  try {
    return parseList(text);
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function itemsIn({ entries: all }: ReadList): readonly SeenItem[] {
  return all.map(({ id, title, body, isTicked, children }) => ({
    id,
    title,
    body,
    url: null,
    author: null,
    isClosed: isTicked,
    dependsOn: children.flatMap((child) => all[child]?.id ?? []),
  }));
}

async function tick(options: MarkdownOptions, { items, known, message }: TickOrder): Promise<Ticked> {
  const { dir } = options;
  const target = await options.target();
  if (target === undefined) return { kind: 'unchanged' };
  const ids = new Set(items.map(({ item }) => item));
  // A box is ticked by the title that its task was given, and no other.
  const byTitle = known.map((item) => ({ ...item, isWaiting: false }));
  const changed: string[] = [];
  for (const file of await listFiles(options, target.tip)) {
    const { text, entries: all } = await readList(dir, file, byTitle);
    const lines = new Set(all.filter(({ id, isTicked }) => ids.has(id) && !isTicked).map(({ line }) => line));
    if (lines.size === 0) continue;
    const input = Buffer.from(withTicks(text, lines), 'latin1');
    const blob = await gitLine(dir, ['hash-object', '-w', '-t', 'blob', '--stdin'], { input, isRaw: true });
    changed.push(`${file.mode} ${blob}\t${file.path}`);
  }
  if (changed.length === 0) return { kind: 'unchanged' };
  const tree = await withScratch(dir, async (scratch) => {
    const index = path.join(scratch, 'index');
    await git(dir, ['read-tree', target.tip], { index });
    const input = changed.map((line) => `${line}\0`).join('');
    await git(dir, ['update-index', '-z', '--index-info'], { index, input });
    return gitLine(dir, ['write-tree'], { index });
  });
  const env = await identityEnv(dir);
  const argv = ['commit-tree', tree, '-p', target.tip, '-F', '-'];
  const commit = brand<CommitId>(await gitLine(dir, argv, { env, input: message.replaceAll('\0', '') }));
  return { kind: 'ticked', commit, onto: target.tip, target: target.branch };
}
