/** A change whose patch has 54,000 lines, in the changes of its task: until it is drawn, and what drawing it leaves behind. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Page } from 'playwright-core';

import { heapMegabytes, newBrowser, visit } from '../../browser/pages.ts';
import { launcher, newRepository, run } from '../../commands.ts';
import { type Bench, type Result, type Row, inMs, median } from '../../row.ts';
import { serve } from '../../serving.ts';

const FILES = 150;
/** With three lines around each block: 360 lines of patch in a file. */
const BLOCKS = 20;
const CHANGED = 6;
/** What the library alone needs of a script for such a patch, and what it leaves in the page. */
const GOALS = { drawnMs: 59, nodes: 1_177, megabytes: 20 } as const;

export const browserDiff: Row = {
  name: 'browser-diff',
  timeoutMs: 300_000,
  async measure(bench) {
    const { repository, task, lines } = await repositoryWithChange(bench);
    const serving = await serve(bench, repository);
    const browser = await newBrowser(bench);
    const drawn: Drawn[] = [];
    for (let turn = -1; turn < (bench.isQuick ? 3 : 9); turn += 1) {
      const page = await visit(browser, serving, `/tasks/${task}?part=timeline`);
      const one = await openChanges(page);
      if (turn >= 0) drawn.push(one);
      await page.context().close();
    }
    await serving.stop();
    const of = (what: keyof Drawn) => median(drawn.map((one) => one[what]));
    const beside = { against: `${lines.toLocaleString('en')} lines of patch`, limit: null };
    return [
      {
        ...beside,
        what: 'a large change in a browser, from its text to its first lines',
        measured: `${inMs(of('firstMs'))}; from the click ${inMs(of('openedMs'))}`,
        figure: of('firstMs'),
        goal: { atMost: GOALS.drawnMs, unit: 'ms' },
        why: 'Drawing waits for the worker that colours lines and its grammars, which start with the first change.',
      },
      {
        ...beside,
        what: 'all its pages of a megabyte, together',
        measured: inMs(of('drawnMs')),
        figure: of('drawnMs'),
        goal: { atMost: GOALS.drawnMs, unit: 'ms' },
        why: 'The library copies each line (about 2 µs) and lays its view out again with each page.',
      },
      {
        ...beside,
        what: 'nodes that it has in the page',
        measured: `${of('nodes')}`,
        figure: of('nodes'),
        goal: { atMost: GOALS.nodes, unit: '' },
      },
      {
        ...beside,
        what: 'heap that it keeps',
        measured: `${of('megabytes').toFixed(1)} MB`,
        figure: of('megabytes'),
        goal: { atMost: GOALS.megabytes, unit: 'MB' },
      },
    ] satisfies readonly Result[];
  },
};

interface Drawn {
  readonly firstMs: number;
  /** From the end of the last answer with text to the frame with its lines, for all pages of the patch together. */
  readonly drawnMs: number;
  readonly openedMs: number;
  readonly nodes: number;
  readonly megabytes: number;
}

async function openChanges(page: Page): Promise<Drawn> {
  await page.getByRole('tab', { name: 'Changes' }).waitFor();
  const beforeMegabytes = await heapMegabytes(page);
  const beganMs = performance.now();
  await page.getByRole('tab', { name: 'Changes' }).click();
  const firstMs = await untilDrawn(page);
  let drawnMs = firstMs;
  const openedMs = performance.now() - beganMs;
  const more = page.getByRole('button', { name: 'Read more of the patch' });
  while (await more.isVisible()) {
    await more.click();
    drawnMs += await untilDrawn(page);
  }
  return {
    firstMs,
    drawnMs,
    openedMs,
    nodes: await nodesOfDiff(page),
    megabytes: (await heapMegabytes(page)) - beforeMegabytes,
  };
}

/** As much of a browser as the code below uses. */
interface PageScope {
  readonly document: Tree;
  requestAnimationFrame(run: () => void): void;
}

interface Tree {
  readonly shadowRoot?: Tree | null;
  readonly textContent: string | null;
  querySelector(selector: string): Tree | null;
  querySelectorAll(selector: string): Iterable<Tree>;
}

/** Since the end of the answer that a page of the patch was in. What is left to read says which page is drawn. */
function untilDrawn(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const scope = globalThis as unknown as PageScope & { copseLeft?: string | null };
    const { document } = scope;
    const [before, { port1, port2 }] = [scope.copseLeft, new MessageChannel()];
    const left = () => document.querySelector('[class*="moreFiles"]')?.textContent ?? '';
    const isDrawn = () =>
      Array.from(document.querySelectorAll('diffs-container')).some(({ shadowRoot }) =>
        shadowRoot?.querySelector('[data-line]'),
      ) && left() !== before;
    for (;;) {
      await new Promise<void>((resolve) => {
        port2.addEventListener('message', () => resolve(), { once: true });
        port2.start();
        scope.requestAnimationFrame(() => port1.postMessage(null));
      });
      if (!isDrawn()) continue;
      scope.copseLeft = left();
      const answers = performance
        .getEntriesByType('resource')
        .filter(({ name }) => /\/review\b/.test(name)) as unknown as readonly {
        readonly responseEnd: number;
      }[];
      return performance.now() - (answers.at(-1)?.responseEnd ?? Number.NaN);
    }
  });
}

function nodesOfDiff(page: Page): Promise<number> {
  return page.evaluate(() => {
    const count = (tree: Tree): number =>
      Array.from(tree.querySelectorAll('*')).reduce(
        (sum, { shadowRoot }) => sum + 1 + (shadowRoot ? count(shadowRoot) : 0),
        0,
      );
    const { document } = globalThis as unknown as PageScope;
    const diff = document.querySelector('[aria-label="Differences"]');
    return diff === null ? 0 : count(diff);
  });
}

/** A task that a person works on, with one commit. */
async function repositoryWithChange(bench: Bench) {
  const repository = await newRepository(bench);
  const git = (cwd: string, ...argv: readonly string[]) =>
    run(['git', '-c', 'user.name=Bench', '-c', 'user.email=bench@example.invalid', ...argv], cwd);
  writeFiles(repository, 'before');
  git(repository, 'add', '--all');
  git(repository, 'commit', '--quiet', '--message=chore: begin');
  const added = JSON.parse(run([launcher, 'add', 'Change much', '--json'], repository)) as { id: string };
  run([launcher, 'work', added.id], repository);
  const worktree = path.join(repository, '.worktrees', added.id);
  writeFiles(worktree, 'after');
  git(worktree, 'commit', '--quiet', '--all', '--message=feat: change much');
  const lines = run(['sh', '-c', 'git diff --no-color HEAD^ HEAD | wc -l'], worktree);
  return { repository, task: added.id, lines: Number(lines) };
}

function writeFiles(folder: string, word: string): void {
  for (let file = 0; file < FILES; file += 1) {
    const blocks = Array.from({ length: BLOCKS }, (_, block) => [
      ...Array.from({ length: CHANGED }, (_, line) => changedLine(word, file, block * CHANGED + line)),
      ...Array.from({ length: 7 }, (_, line) => `  // Kept ${block}.${line}, as it was written at first.`),
    ]);
    const name = path.join(folder, 'src', `part-${file % 10}`, `file-${file}.ts`);
    mkdirSync(path.dirname(name), { recursive: true });
    writeFileSync(name, `${blocks.flat().join('\n')}\n`);
  }
}

function changedLine(word: string, file: number, line: number): string {
  return `export const ${word}_${line} = { part: ${file}, text: '${word} the change', sum: ${file * line} };`;
}
