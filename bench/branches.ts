/** Branches to land, in a repository of any kind: each has three commits, and together they can all land. */

import { spawn, spawnSync } from 'node:child_process';

import { run } from './commands.ts';

export const COMMITS_PER_BRANCH = 3;

/** So many files are changed by several branches, at lines so far apart that nothing conflicts. */
export const SHARED_FILES = 20;
const LINES_APART = 10;

/**
 * Every commit changes one line of one file. The first of each branch does so in a file that other branches change as well,
 * so that there is something to merge; the others have theirs for themselves. Returns the tips.
 */
export async function makeBranches(repository: string, count: number): Promise<readonly string[]> {
  const linesNeeded = Math.ceil(count / SHARED_FILES) * LINES_APART;
  const files = textFilesOf(repository, SHARED_FILES + count * (COMMITS_PER_BRANCH - 1), linesNeeded);
  // Newer than what they begin from, as ordinary branches are.
  const began = Number(run(['git', 'log', '-1', '--format=%ct', 'main'], repository)) + 1_000;
  const git = spawn('git', ['fast-import', '--quiet'], {
    cwd: repository,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => git.once('close', resolve));
  for (let branch = 0; branch < count; branch += 1)
    for (let commit = 0; commit < COMMITS_PER_BRANCH; commit += 1) {
      const isShared = commit === 0;
      const own = SHARED_FILES + branch * (COMMITS_PER_BRANCH - 1) + commit - 1;
      const file = files[isShared ? branch % SHARED_FILES : own]!;
      const lines = file.content.split('\n');
      lines[isShared ? Math.floor(branch / SHARED_FILES) * LINES_APART : 0] = `// by branch ${branch}`;
      const content = lines.join('\n');
      const who = `Task ${branch} <task@example.invalid> ${began + branch * 10 + commit} +0000`;
      const from = commit === 0 ? 'from refs/heads/main^0\n' : '';
      git.stdin.write(
        `commit refs/heads/task-${branch}\ncommitter ${who}\ndata 9\nchange ${commit}\n\n${from}` +
          `M 100644 inline ${file.name}\ndata ${Buffer.byteLength(content)}\n${content}\n`,
      );
    }
  git.stdin.end();
  if ((await ended) !== 0) throw new Error('git fast-import failed');
  return Array.from({ length: count }, (_, at) =>
    run(['git', 'rev-parse', '--verify', `refs/heads/task-${at}`], repository).trim(),
  );
}

interface TextFile {
  readonly name: string;
  readonly content: string;
}

const FILE_BYTES = { least: 2_000, most: 100_000 } as const;
const MOST_OUTPUT_BYTES = 1024 ** 3;

/** From everywhere in the tree of main, with at least so many lines. */
function textFilesOf(repository: string, count: number, lines: number): readonly TextFile[] {
  const all = ask(repository, ['ls-tree', '-r', '-l', '-z', 'main'])
    .toString()
    .split('\0')
    .flatMap((line) => {
      const [, id = '', bytes = '', name = ''] = /^100644 blob (\w+) +(\d+)\t(\S+)$/.exec(line) ?? [];
      return Number(bytes) >= FILE_BYTES.least && Number(bytes) <= FILE_BYTES.most ? [{ id, name }] : [];
    });
  const step = Math.max(1, Math.floor(all.length / (count * 4)));
  const some = all.filter((_, at) => at % step === 0);
  const output = ask(repository, ['cat-file', '--batch'], some.map(({ id }) => `${id}\n`).join(''));
  const found: TextFile[] = [];
  let from = 0;
  for (const { name } of some) {
    const end = output.indexOf('\n', from);
    const bytes = Number(output.toString('latin1', from, end).split(' ')[2]);
    const content = output.toString('utf8', end + 1, end + 1 + bytes);
    from = end + 1 + bytes + 1;
    const isText = !content.includes('\0') && !content.includes('\uFFFD') && !content.includes('\r');
    if (isText && content.split('\n').length > lines) found.push({ name, content });
  }
  if (found.length < count)
    throw new Error(`${repository} has ${found.length} text files with ${lines} lines; needed are ${count}.`);
  const every = found.length / count;
  return Array.from({ length: count }, (_, at) => found[Math.floor(at * every)]!);
}

function ask(cwd: string, argv: readonly string[], input = ''): Buffer {
  const { status, stdout, stderr, error } = spawnSync('git', argv, {
    cwd,
    input,
    maxBuffer: MOST_OUTPUT_BYTES,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`git ${argv.join(' ')} ended with ${status}: ${stderr.toString()}`);
  return stdout;
}
