import { describe, expect, test } from 'vitest';

import { sessionContextText } from '../../../packages/copse/src/agents/run/briefing/session-context.ts';
import { HOSTILE, hostileBriefing, names } from '../rules/briefing-world.ts';

describe('the document for programs', () => {
  test('keeps its version and its fields', () => {
    const document = JSON.parse(sessionContextText(hostileBriefing('x'), names)) as Record<string, unknown>;
    expect(document['version']).toBe(1);
    expect(Object.keys(document).toSorted()).toEqual([
      'agent',
      'attempt',
      'begin',
      'collisions',
      'crashes',
      'dependencies',
      'environment',
      'files',
      'git',
      'imports',
      'ledger',
      'nearby',
      'notes',
      'plan',
      'resultFolder',
      'session',
      'task',
      'version',
      'writtenAt',
    ]);
    expect(document).toMatchObject({
      writtenAt: '2026-01-02T00:00:00.000Z',
      task: {
        id: 'cp-aaaa',
        title: 'x',
        body: { text: 'x', omittedCharacters: 0 },
        priority: 'p3',
        accept: ['x'],
      },
      begin: { why: 'handed_back', handback: { because: 'accept', reason: { text: 'x' }, target: null } },
      ledger: { listed: [{ kind: 'learning', at: '2026-01-02T00:00:00.000Z' }, {}, {}, {}], omitted: 3 },
      git: { branch: 'x', changed: { listed: ['x'], omitted: 1 }, rescues: { listed: [{ ref: 'x' }] } },
      collisions: { listed: [{ how: 'conflict', files: { listed: ['x'], omitted: 1 } }], omitted: 1 },
      crashes: { count: 2, limit: 3 },
      files: names,
    });
  });

  test.each(HOSTILE)('holds every text exactly, without raw control characters (%j)', (text) => {
    const written = sessionContextText(hostileBriefing(text), names);
    expect(written).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
    expect(JSON.parse(written)).toMatchObject({ task: { title: text, body: { text } }, notes: [text] });
  });
});
