// Makes docs/pictures/*.png, light and dark: the board, a review, the queue and the inbox of the dashboard while scripted agents
// work in a scratch repository for about a minute. Nothing on them is made up: it is what `copse serve` shows of that run.
//
//   npm exec -c "node scripts/web/build.mjs && node scripts/pictures/dashboard.ts"
//
// Needs chromium. Fails when a picture has less to show than it should, or more than 150 KB.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Page } from 'playwright-core';

import { openBrowser } from '../../test/support/server/browser.ts';
import { makeScene, root } from './scene.ts';
import { sceneFiles, titles } from './watch-scene.ts';

const PAUSE_SECONDS = 4;
const CHECK_SECONDS = 9;
const LONGEST_MS = 180_000;
/** So often nothing works and nothing lands. */
const SETTLED_LOOKS = 4;
const MOST_BYTES = 150_000;
const SIZE = { width: 1300, height: 660 } as const;
const folder = path.join(root, 'docs', 'pictures');

/** Beside the eight of the recorded terminal: work that lands. */
const further = {
  ivy: 'Parse a list of readings',
  jon: 'Format dates as ISO 8601',
  kim: 'Average over a day',
  lea: 'Name the weather station',
} as const;

const gus = String.raw`. agents/common.sh
copse phase working
say 'Reading src/greet.js'
cat > src/history.js <<'END'
import { greet } from './greet.js';

/** The readings of a day, the latest first. */
export function readingsOf(day, readings) {
  const begin = new Date(day).setUTCHours(0, 0, 0, 0);
  const end = begin + 86_400_000;
  return readings
    .filter(({ at }) => at >= begin && at < end)
    .toSorted((one, other) => other.at - one.at);
}

export function headline(day, readings) {
  const [latest] = readingsOf(day, readings);
  if (latest === undefined) return greet() + ' Nothing was measured.';
  return greet() + ' It is ' + latest.celsius.toFixed(1) + ' °C.';
}
END
cat > src/station.js <<'END'
export const station = {
  name: 'Roof',
  metres: 112,
  everyMinutes: 10,
};
END
cat > test/history.test.js <<'END'
import assert from 'node:assert/strict';
import test from 'node:test';

import { readingsOf } from '../src/history.js';

test('a day has its own readings, the latest first', () => {
  const noon = Date.UTC(2026, 10, 18, 12);
  const readings = [noon - 86_400_000, noon, noon + 60_000].map((at) => ({ at, celsius: 7 }));
  assert.deepEqual(readingsOf(noon, readings).map(({ at }) => at), [noon + 60_000, noon]);
});
END
say 'Running the tests'
commit 'feat(history): the readings of a day'
finish 'readingsOf() gives the readings of a day, the latest first'
`;

const scene = makeScene(files(), { ...titles, gus: 'List the readings of a day', ...further });
const { repository, copse, env, run } = scene;
const browser = await openBrowser();
const children: ChildProcess[] = [];
try {
  addWaiting();
  const pictures = await taken();
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of pictures) {
    if (bytes.length > MOST_BYTES) throw new Error(`${name} has ${bytes.length} bytes`);
    writeFileSync(path.join(folder, name), bytes);
    console.log(`docs/pictures/${name}: ${bytes.length} bytes`);
  }
} finally {
  await browser.close();
  for (const child of children) await end(child);
  scene.remove();
}

function files(): Readonly<Record<string, string>> {
  const given = sceneFiles(PAUSE_SECONDS);
  const settings = JSON.parse(given['copse.yml'] ?? '') as {
    readonly agents: Record<string, object>;
    readonly landing: object;
    readonly policy: object;
  };
  const agent = (name: string) => ({
    command: ['sh', `agents/${name}.sh`],
    env: { PAUSE: String(PAUSE_SECONDS) },
  });
  return {
    ...given,
    'copse.yml': JSON.stringify({
      ...settings,
      agents: {
        ...settings.agents,
        ...Object.fromEntries(Object.keys(further).map((name) => [name, agent(name)])),
      },
      landing: { ...settings.landing, checks: { unit: `sleep ${CHECK_SECONDS}` } },
      policy: { ...settings.policy, max_agents: 12 },
    }),
    'test/.gitkeep': '',
    'agents/gus.sh': gus,
    ...Object.fromEntries(
      Object.keys(further).map((name, index) => [`agents/${name}.sh`, quick(name, 1 + (index % 3) * 2)]),
    ),
  };
}

function quick(name: string, steps: number): string {
  return `. agents/common.sh
copse phase working
${Array.from({ length: steps }, (_, step) => `say 'Step ${step + 1} of ${steps}'`).join('\n')}
echo "export const ${name} = true;" > src/${name}.js
commit 'feat: what ${name} was asked for'
finish 'Done as asked'
`;
}

/** What waits for others, and for an agent that is busy. */
function addWaiting(): void {
  const { tasks } = JSON.parse(run(copse, 'list', '--json')) as {
    readonly tasks: readonly { readonly id: string; readonly title: string }[];
  };
  const idOf = (title: string) => tasks.find((task) => task.title === title)?.id ?? '';
  run(copse, 'add', 'Write the release notes', '--agent', 'ivy', '--depends', idOf(titles.eve));
  run(copse, 'add', 'Publish 1.0', '--agent', 'jon', '--depends', idOf(titles.dan), '--priority', 'p5');
}

/** Of each page the moment with the most to see; the review as soon as there is one. */
async function taken(): Promise<ReadonlyMap<string, Buffer>> {
  const address = await serve();
  start('orchestrate');
  const context = await browser.newContext({ viewport: SIZE });
  await context.addInitScript({ content: "localStorage.setItem('copse.looked', 'yes')" });
  const [board, queue, inbox] = [await context.newPage(), await context.newPage(), await context.newPage()];
  await board.goto(`${address.origin}/board${address.hash}`);
  await board.locator('article').first().waitFor();
  for (const [page, name] of [
    [queue, 'queue'],
    [inbox, 'inbox'],
  ] as const)
    await page.goto(`${address.origin}/${name}`);
  const found = new Map<string, { readonly score: number; readonly shots: readonly Shot[] }>();
  const keep = async (page: Page, name: string, score: number) => {
    if (score <= (found.get(name)?.score ?? 0)) return;
    found.set(name, { score, shots: await shotsOf(page, name) });
  };
  const until = Date.now() + LONGEST_MS;
  for (let rest = SETTLED_LOOKS; rest > 0 && Date.now() < until;) {
    const counts = await board.locator('section > h2 > span').allInnerTexts();
    const [needs = 0, ready = 0, working = 0, landing = 0, done = 0] = counts.map(Number);
    const wanted = [
      [needs, 4],
      [ready, 2],
      [working, 3],
      [landing, 3],
      [done, 3],
    ] as const;
    await keep(
      board,
      'board',
      wanted.reduce((sum, [count, most]) => sum + Math.min(count, most) / most, 0),
    );
    await keep(queue, 'queue', await queue.locator('[data-ending]').count());
    await keep(inbox, 'inbox', needs);
    const review = board.locator('[data-status="in_review"] [data-card]').first();
    if (!found.has('review') && (await review.isVisible()))
      await keep(
        await reviewPage(await context.newPage(), address, await review.getAttribute('href')),
        'review',
        1,
      );
    if (working + landing === 0 && done > 0) rest -= 1;
    await sleep(500);
  }
  for (const name of ['board', 'queue', 'inbox', 'review'])
    if (!found.has(name)) throw new Error(`There was nothing to see on the page ${name}`);
  return new Map([...found.values()].flatMap(({ shots }) => shots));
}

type Shot = readonly [name: string, bytes: Buffer];

async function shotsOf(page: Page, name: string): Promise<readonly Shot[]> {
  const shots: Shot[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    shots.push([`${name}-${colorScheme}.png`, await page.screenshot()]);
  }
  return shots;
}

async function reviewPage(page: Page, address: URL, href: string | null): Promise<Page> {
  await page.goto(`${address.origin}${href}?part=changes`);
  await page.getByText('86_400_000').first().waitFor();
  // Until a worker has coloured the lines.
  await sleep(2_000);
  return page;
}

async function serve(): Promise<URL> {
  const child = start('serve', '--port', '0');
  let printed = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  for (;;) {
    const [address] = /http:\/\/\S+#code=\S+$/m.exec(printed) ?? [];
    if (address !== undefined) return new URL(address);
    if (child.exitCode !== null) throw new Error(`copse serve ended: ${printed}`);
    await once(child.stdout ?? child, 'data');
  }
}

function start(...argv: readonly string[]): ChildProcess {
  const child = spawn(copse, argv, { cwd: repository, env, stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout?.resume();
  children.push(child);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || !child.kill('SIGINT')) return;
  await once(child, 'exit');
}
