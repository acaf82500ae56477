import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { describe, expect, onTestFinished, test } from 'vitest';

import { openReports } from '../../../packages/copse/src/agents/files/report-file.ts';
import { parseReport } from '../../../packages/copse/src/agents/rules/session/report.ts';
import type { ReportSeen } from '../../../packages/copse/src/agents/rules/session/report.ts';
import { newArea } from '../../support/cli.ts';

const area = newArea();
const reports = openReports();
const adapter = fileURLToPath(
  new URL('../../../packages/copse/src/agents/files/report-file.ts', import.meta.url),
);
let worktrees = 0;

function newWorktree({ hasFolder = true } = {}): string {
  worktrees += 1;
  const folder = path.join(area, String(worktrees), `wörk 'tree'\n"${worktrees}"`);
  mkdirSync(hasFolder ? path.join(folder, '.copse') : folder, { recursive: true });
  return folder;
}

function fileOf(worktree: string): string {
  return path.join(worktree, '.copse', 'session.json');
}

function put(worktree: string, text: string): void {
  writeFileSync(fileOf(worktree), text);
}

/** Watches with looks that come when the test says so, besides those that the system's bell brings. */
function watched(worktree: string) {
  const seen: ReportSeen[] = [];
  let poll = (): void => {};
  const stepped = openReports((look) => {
    poll = look;
    return () => (poll = () => {});
  });
  const watch = stepped.watch(worktree, (one) => seen.push(one));
  onTestFinished(() => watch.stop());
  return { seen, poll: () => poll(), stop: () => watch.stop() };
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await sleep(5);
}

const finished = { kind: 'report', report: { status: 'finished' }, ignored: [] };

describe('a watched report', () => {
  test('is reported once at first, and then once for each change', async () => {
    const worktree = newWorktree();
    put(worktree, '{"phase": "planning"}');
    const { seen, poll } = watched(worktree);
    expect(seen).toEqual([{ kind: 'report', report: { phase: 'planning' }, ignored: [] }]);
    poll();
    put(worktree, '{"phase": "planning"}');
    poll();
    expect(seen).toHaveLength(1);
    put(worktree, '{"status": "finished"}');
    poll();
    poll();
    expect(seen.slice(1)).toEqual([finished]);
  });

  test('is reported without waiting for the next poll', async () => {
    const worktree = newWorktree();
    const { seen } = watched(worktree);
    const temporary = path.join(worktree, 'elsewhere.json');
    writeFileSync(temporary, '{"status": "finished"}');
    renameSync(temporary, fileOf(worktree));
    await until(() => seen.length > 0);
    expect(seen).toEqual([finished]);
  });

  test('is found in a folder that is made later, or made again', () => {
    const worktree = newWorktree({ hasFolder: false });
    const { seen, poll } = watched(worktree);
    poll();
    mkdirSync(path.join(worktree, '.copse'));
    put(worktree, '{"status": "finished"}');
    poll();
    rmSync(path.join(worktree, '.copse'), { recursive: true });
    poll();
    mkdirSync(path.join(worktree, '.copse'));
    put(worktree, '{"phase": "working"}');
    poll();
    expect(seen).toEqual([finished, { kind: 'report', report: { phase: 'working' }, ignored: [] }]);
  });

  test('that is written in two halves is no problem', async () => {
    const worktree = newWorktree();
    const { seen, poll } = watched(worktree);
    put(worktree, '');
    poll();
    put(worktree, '{"status": "fini');
    // The bell rings for it as often as it likes, and the next look comes when it is whole.
    await sleep(50);
    put(worktree, '{"status": "finished"}');
    poll();
    expect(seen).toEqual([finished]);
  });

  test('that stays broken is a problem, reported once for each content', () => {
    const worktree = newWorktree();
    const { seen, poll } = watched(worktree);
    for (const text of ['{"status": "fini', '[1, 2]', '"finished"']) {
      put(worktree, text);
      for (let look = 0; look < 4; look += 1) poll();
    }
    expect(seen).toEqual([
      { kind: 'problem', problem: expect.stringContaining('not JSON') },
      { kind: 'problem', problem: expect.stringContaining('one JSON object') },
      { kind: 'problem', problem: expect.stringContaining('one JSON object') },
    ]);
  });

  test.each([
    ['{"status": "finished"}', finished],
    ['{"status"', { kind: 'problem', problem: expect.stringContaining('not JSON') }],
  ])('that is written right before the end is reported: %s', (text, expected) => {
    const worktree = newWorktree();
    const { seen, stop } = watched(worktree);
    put(worktree, text);
    stop();
    expect(seen).toEqual([expected]);
  });

  test('is not reported after the end', () => {
    const worktree = newWorktree();
    const { seen, poll, stop } = watched(worktree);
    stop();
    put(worktree, '{"status": "finished"}');
    poll();
    expect(seen).toEqual([]);
  });
});

describe('a report is read', () => {
  test('with all its fields', () => {
    const worktree = newWorktree();
    const report = {
      phase: 'shipping',
      status: 'stuck',
      noChanges: false,
      reason: 'Wer entscheidet? 林 😀',
      summary: 'a\nb',
      ledger: [{ kind: 'decision', text: 'so' }],
      heartbeat: '2026-01-01',
    };
    put(worktree, `\uFEFF${JSON.stringify({ ...report, other: { deep: [1] } })}\r\n`);
    expect(reports.read(worktree)).toEqual({ kind: 'report', report, ignored: [] });
  });

  test.each([
    ['no file', undefined],
    ['', undefined],
    [' \n', undefined],
    ['null', { kind: 'problem', problem: expect.stringContaining('one JSON object') }],
    ['{}', { kind: 'report', report: {}, ignored: [] }],
    ['{"phase": null, "ledger": null, "noChanges": null}', { kind: 'report', report: {}, ignored: [] }],
    [
      '{"no_changes": true, "heartbeat": 5}',
      { kind: 'report', report: { noChanges: true, heartbeat: '5' }, ignored: [] },
    ],
    [
      '{"status": "done", "summary": "kept"}',
      {
        kind: 'report',
        report: { summary: 'kept' },
        ignored: ['status is "done": it must be one of finished, stuck.'],
      },
    ],
    [
      '{"phase": "complete"}',
      { kind: 'report', report: {}, ignored: [expect.stringContaining('phase is "complete"')] },
    ],
    [
      '{"noChanges": "yes"}',
      { kind: 'report', report: {}, ignored: [expect.stringContaining('true or false')] },
    ],
    [
      '{"reason": {"a": 1}}',
      { kind: 'report', report: {}, ignored: ['reason is an object: it must be text.'] },
    ],
    [
      '{"ledger": {}}',
      { kind: 'report', report: {}, ignored: [expect.stringContaining('ledger must be a list')] },
    ],
    [
      '{"ledger": [{"text": "a"}, 5, {"kind": "rumour", "text": "b"}, {"kind": "learning", "text": " "}]}',
      {
        kind: 'report',
        report: { ledger: [{ kind: 'learning', text: 'a' }] },
        ignored: [expect.stringContaining('ledger[1] is 5'), expect.stringContaining('ledger[2].kind')],
      },
    ],
    ['{"__proto__": {"status": "finished"}}', { kind: 'report', report: {}, ignored: [] }],
  ] as const)('as far as it can be parsed: %s', (text, expected) => {
    const worktree = newWorktree();
    if (text !== 'no file') put(worktree, text);
    expect(reports.read(worktree)).toEqual(expected);
  });

  test('and a ledger that is too long is cut', () => {
    const seen = parseReport(JSON.stringify({ ledger: Array.from({ length: 300 }, () => ({ text: 'a' })) }));
    expect(seen).toMatchObject({ ignored: [expect.stringContaining('300 entries')] });
    expect(seen?.kind === 'report' && seen.report.ledger).toHaveLength(100);
  });

  test('unless it has more than a megabyte, which is a problem', () => {
    const worktree = newWorktree();
    put(worktree, JSON.stringify({ summary: 'x'.repeat(1024 * 1024 - 14) }));
    expect(reports.read(worktree)).toMatchObject({ kind: 'report', report: {} });
    put(worktree, JSON.stringify({ summary: 'x'.repeat(1024 * 1024) }));
    expect(reports.read(worktree)).toEqual({ kind: 'problem', problem: 'It has more than 1048576 bytes.' });
    put(worktree, '['.repeat(1024 * 1024));
    expect(reports.read(worktree)).toEqual({ kind: 'problem', problem: expect.stringContaining('not JSON') });
  });

  // promise: no-link-followed
  test('not through a link of the file or of the folder, and not from a pipe', () => {
    const outside = newWorktree();
    put(outside, '{"status": "finished"}');
    const worktree = newWorktree({ hasFolder: false });
    symlinkSync(path.join(outside, '.copse'), path.join(worktree, '.copse'));
    expect(reports.read(worktree)).toEqual({
      kind: 'problem',
      problem: expect.stringContaining('not a folder'),
    });
    rmSync(path.join(worktree, '.copse'));
    mkdirSync(path.join(worktree, '.copse'));
    symlinkSync(fileOf(outside), fileOf(worktree));
    expect(reports.read(worktree)).toEqual({
      kind: 'problem',
      problem: expect.stringContaining('a symbolic link'),
    });
    rmSync(fileOf(worktree));
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', fileOf(worktree)]);
    expect(reports.read(worktree)).toEqual({ kind: 'problem', problem: 'It is not a file.' });
    rmSync(fileOf(worktree));
    mkdirSync(fileOf(worktree));
    expect(reports.read(worktree)).toEqual({ kind: 'problem', problem: 'It is not a file.' });
  });
});

describe('a report is written', () => {
  test('into a new folder if there is none', () => {
    const worktree = newWorktree({ hasFolder: false });
    reports.write(worktree, { status: 'finished' });
    expect(reports.read(worktree)).toEqual(finished);
    expect(readdirSync(path.join(worktree, '.copse'))).toEqual(['session.json']);
  });

  test('merged into the current report, of any author', () => {
    const worktree = newWorktree();
    put(worktree, '{"phase": "working", "own": 7, "ledger": [{"kind": "learning", "text": "a"}]}');
    reports.write(worktree, { heartbeat: '1', ledger: [{ kind: 'decision', text: 'b' }] });
    expect(JSON.parse(readFileSync(fileOf(worktree), 'utf8'))).toEqual({
      phase: 'working',
      own: 7,
      heartbeat: '1',
      ledger: [
        { kind: 'learning', text: 'a' },
        { kind: 'decision', text: 'b' },
      ],
    });
  });

  test('and a new status drops the fields of the old one', () => {
    const worktree = newWorktree();
    reports.write(worktree, { status: 'stuck', reason: 'why?', phase: 'working' });
    reports.write(worktree, { status: 'finished', noChanges: true });
    expect(reports.read(worktree)).toMatchObject({
      kind: 'report',
      report: { status: 'finished', noChanges: true, phase: 'working' },
    });
    expect(readFileSync(fileOf(worktree), 'utf8')).not.toContain('why?');
  });

  test('in place of a report that cannot be parsed', () => {
    const worktree = newWorktree();
    put(worktree, '{"status"');
    reports.write(worktree, { status: 'finished' });
    expect(reports.read(worktree)).toEqual(finished);
  });

  // promise: no-link-followed
  test('not through a link, neither of the folder nor of the file', () => {
    const outside = newWorktree();
    const worktree = newWorktree({ hasFolder: false });
    symlinkSync(path.join(outside, '.copse'), path.join(worktree, '.copse'));
    expect(() => reports.write(worktree, { status: 'finished' })).toThrow('not a folder');
    expect(readdirSync(path.join(outside, '.copse'))).toEqual([]);
    rmSync(path.join(worktree, '.copse'));
    symlinkSync(path.join(outside, 'nowhere'), path.join(worktree, '.copse'));
    expect(() => reports.write(worktree, { status: 'finished' })).toThrow('not a folder');
    expect(existsSync(path.join(outside, 'nowhere'))).toBe(false);

    const linked = newWorktree();
    put(outside, 'precious');
    symlinkSync(fileOf(outside), fileOf(linked));
    reports.write(linked, { status: 'finished' });
    expect(readFileSync(fileOf(outside), 'utf8')).toBe('precious');
    expect(reports.read(linked)).toEqual(finished);
  });

  test('atomically: a reader never sees half of it', async () => {
    const worktree = newWorktree();
    const script = `const { openReports } = await import(${JSON.stringify(adapter)});
      for (let round = 0; round < 80; round += 1)
        openReports().write(process.argv[1], { summary: String(round % 10).repeat(500_000) });`;
    const writer = spawn(process.execPath, ['--input-type=module', '-e', script, '--', worktree], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const code = new Promise((resolve) => writer.once('exit', resolve));
    let reads = 0;
    for (; writer.exitCode === null; reads += 1) {
      const seen = reports.read(worktree);
      const summary = seen?.kind === 'report' ? seen.report.summary : undefined;
      if (seen) expect(summary).toHaveLength(500_000);
      await setImmediate();
    }
    expect(await code).toBe(0);
    expect(reads).toBeGreaterThan(10);
  });
});

describe('an earlier report', () => {
  test('is removed, and the same report afterwards counts as new', () => {
    const worktree = newWorktree();
    const { seen, poll } = watched(worktree);
    put(worktree, '{"status": "finished"}');
    poll();
    reports.clear(worktree);
    poll();
    expect(reports.read(worktree)).toBeUndefined();
    put(worktree, '{"status": "finished"}');
    poll();
    expect(seen).toEqual([finished, finished]);
  });

  test('may be missing, and nothing behind a link is removed', () => {
    const outside = newWorktree();
    put(outside, 'precious');
    const worktree = newWorktree({ hasFolder: false });
    reports.clear(worktree);
    symlinkSync(path.join(outside, '.copse'), path.join(worktree, '.copse'));
    reports.clear(worktree);
    const linked = newWorktree();
    symlinkSync(fileOf(outside), fileOf(linked));
    reports.clear(linked);
    expect(existsSync(fileOf(linked))).toBe(false);
    expect(readFileSync(fileOf(outside), 'utf8')).toBe('precious');
  });
});
