/** Long lines on a terminal: broken between words, continued below their text; in a pipe they stay whole. */

import { afterAll, beforeAll, expect, test } from 'vitest';

import { answer, copse, newArea } from '../../support/cli.ts';
import { type Scene, endAgents, newScene } from '../../support/agents/scripted-agents.ts';
import { widthOfText } from '../../../packages/copse/src/cli/screen/screen.ts';

const area = newArea();
afterAll(() => endAgents(area));

const LONG =
  'Run all tests of the repository again and write down which of them failed, how often, and since which commit';
const QUESTION = 'Which of the two versions do I use for the next release?';
const terminal = { columns: 80, rows: 24 };
const schedules = { nightly: { type: 'cron', cron: '0 6 * * 1-5', prompt: LONG } };

let scene: Scene;
let job: string;
let task: string;
let orchestrated: string;

beforeAll(async () => {
  scene = newScene(area, {
    agents: {
      worker: { command: ['sh', '-c', `copse stuck --reason "${QUESTION}"`, 'first'], schedules },
      other: { runtime: 'codex', command: undefined },
    },
    sections: { notifications: { events: ['stuck', 'needs_attention', 'failed', 'review', 'landed'] } },
  });
  const started = await answer<{ readonly job: string; readonly task: { readonly id: string } }>(
    ['schedule', 'run', 'nightly'],
    scene.at,
  );
  [job, task] = [started.job, started.task.id];
  ({ stdout: orchestrated } = await copse(['orchestrate', '--until-idle'], { ...scene.at, terminal }));
});

test('the last list of orchestrate breaks lines between words', () => {
  expect(orchestrated).toContain('Idle: ');
  expectWrapped(orchestrated.slice(orchestrated.lastIndexOf('Idle: ')), null);
});

test.each([
  ['why', () => ['why', task]],
  ['jobs', () => ['jobs']],
  ['jobs show', () => ['jobs', 'show', job]],
  ['schedule show', () => ['schedule', 'show', 'nightly']],
  ['agents', () => ['agents']],
  ['config', () => ['config']],
  ['doctor', () => ['doctor']],
])('%s breaks lines between words on a terminal only', async (_, argv) => {
  const { stdout: piped } = await copse(argv(), scene.at);
  const { stdout: seen } = await copse(argv(), { ...scene.at, terminal });
  expect(piped.split('\n').some((line) => line.length > 80)).toBe(true);
  expectWrapped(seen, piped);
});

/** With the same words as in a pipe; only a command, which a person copies, may be longer than a line. */
function expectWrapped(seen: string, piped: string | null): void {
  const lines = seen.split('\n');
  const isCommand = (line: string) => /^ *→ [a-z]/.test(line);
  expect(lines.filter((line) => widthOfText(line) > 79 && !isCommand(line))).toEqual([]);
  expect(lines.some((line, index) => /^ {4}/.test(line) && widthOfText(lines[index - 1] ?? '') > 55)).toBe(
    true,
  );
  if (piped === null) return;
  expect(wordsOf(seen)).toEqual(wordsOf(piped));
  const begins = new Set(piped.split('\n').map((line) => line.slice(0, 8)));
  const alone = lines.filter((line) => /^\S/.test(line) && !begins.has(line.slice(0, 8)));
  expect(alone).toEqual([]);
}

/** `a,b` of a list is broken after its comma. Times go on. */
function wordsOf(text: string): readonly string[] {
  return text
    .replaceAll(/\d+ (?:ms|s|min|h)\b|\b\d+[smh]\b|\d+\.\d GB/g, '')
    .replaceAll(',', ', ')
    .split(/\s+/)
    .filter((word) => word !== '');
}
