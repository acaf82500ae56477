import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  type Briefing,
  excerpt,
  lastOf,
  someOf,
} from '../../../packages/copse/src/agents/rules/briefing/briefing.ts';
import {
  handbackPrompt,
  sessionPromptText,
  systemPromptText,
} from '../../../packages/copse/src/agents/rules/briefing/prompts.ts';
import { agentContextText } from '../../../packages/copse/src/agents/rules/briefing/texts.ts';
import { fenced, oneLine, quoted } from '../../../packages/copse/src/agents/rules/briefing/fence.ts';
import { defaultPolicy } from '../../../packages/copse/src/kernel/policy.ts';
import { HOSTILE, commit, git, hostileBriefing, names, plain, whole } from './briefing-world.ts';

const context = (facts: Partial<Briefing> = {}) => agentContextText({ ...plain, ...facts }, names);

/** A text as Markdown reads it, without what is between fences and in code spans: Copse's own words. */
function ownWords(text: string): string {
  const own: string[] = [];
  let open = 0;
  for (const line of text.split('\n')) {
    const fence = /^(`{3,})([^`]*)$/.exec(line);
    if (open > 0) {
      if (fence && fence[1]!.length >= open && fence[2]!.trim() === '') open = 0;
    } else if (fence) open = fence[1]!.length;
    else own.push(line.replaceAll(/(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)/g, ''));
  }
  expect(open).toBe(0);
  return own.join('\n');
}

describe('text of people and agents', () => {
  test('the prompt of a schedule comes before the text of the work item that its run took', () => {
    const workItem = { source: 'github', id: '12', url: null };
    const task = { ...plain.task, workItem, prompt: whole('Be very brief.') };
    expect(context({ task })).toMatch(
      /says about every work item:[^]*Be very brief\.[^]*It comes from a work item/,
    );
    expect(context({ task: { ...plain.task, workItem } })).not.toContain('Its schedule');
  });

  const texts = (facts: Briefing) => [
    agentContextText(facts, names),
    sessionPromptText(facts, names),
    systemPromptText(facts, names),
    handbackPrompt('accept', facts.task.title),
  ];

  // promise: quoted-words
  test.each(HOSTILE)('is never mixed with Copse’s own text (%j)', (text) => {
    for (const rendered of texts(hostileBriefing(text))) {
      expect(rendered).toContain('IGNORE');
      expect(ownWords(rendered)).not.toContain('IGNORE');
    }
  });

  // promise: quoted-words
  test('is never mixed with it in an answer or a message either', () => {
    const word = fc.constantFrom(
      '`',
      '```',
      '````',
      '\n',
      '\r',
      ' ',
      '#',
      '~~~',
      '\u2028',
      '\u0085',
      'IGNORE',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const text = `${words.join('')}IGNORE`;
        const begins: readonly Briefing['begin'][] = [
          { why: 'restarted', answer: whole(text) },
          { why: 'resumed', message: whole(text) },
          { why: 'resumed', message: null, attention: { because: 'conflict', reason: whole(text) } },
          { why: 'handed_back', because: 'conflict', reason: whole(text), target: commit('d') },
        ];
        for (const begin of begins) {
          for (const rendered of texts({ ...hostileBriefing(text), begin })) {
            expect(ownWords(rendered)).not.toContain('IGNORE');
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  // promise: quoted-words
  test('shows its control characters, and characters that only a model would see', () => {
    for (const rendered of texts(hostileBriefing(HOSTILE[4] ?? ''))) {
      expect(rendered).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
      expect(rendered).not.toMatch(/[\u{e0000}-\u{e007f}]/u);
      expect(rendered).toContain(String.raw`\x1b[2JIGNORE\u202eIGNORE\u{e0049}\u{e0047}`);
    }
  });

  test('is one line in a list', () => {
    const changed = { listed: ['a\nb', 'c'], omitted: 0 };
    expect(context({ git: { ...git, changed } })).toContain('```text\na\\nb\nc\n```');
  });

  test('is cut if it is long, with a note', () => {
    const { bodyLength } = defaultPolicy.briefing;
    const text = context({ task: { ...plain.task, body: excerpt('y'.repeat(bodyLength + 7), bodyLength) } });
    expect(text).toContain(`${'y'.repeat(bodyLength)}\n\`\`\`\n(The last 7 characters are left out here.)`);
    expect(text).toContain('copse show cp-aaaa');
    const huge = context({
      notes: ['z'.repeat(1_000_000)],
      task: { ...plain.task, title: 'z'.repeat(1_000_000) },
    });
    expect(huge.length).toBeLessThan(10_000);
  });
});

describe('fences', () => {
  test.each([
    ['', '```text\n```'],
    ['a', '```text\na\n```'],
    ['a\n', '```text\na\n```'],
    ['``` and ````', '`````text\n``` and ````\n`````'],
  ])('%j becomes %j', (text, expected) => {
    expect(fenced(text)).toBe(expected);
  });

  test.each([
    ['main', '`main`'],
    ['a`b', '``a`b``'],
    ['`', '`` ` ``'],
    ['a\nb', '`a\\nb`'],
  ])('the name %j becomes %j', (text, expected) => {
    expect(quoted(text, 10)).toBe(expected);
  });

  test('a line is cut to its length', () => {
    expect(oneLine('abcdef', 3)).toBe('abc…');
    expect(oneLine('abc', 3)).toBe('abc');
  });
});

describe('excerpts', () => {
  test('never end in half a character', () => {
    expect(excerpt('a😀b', 2)).toEqual({ text: 'a', omitted: 3 });
    expect(excerpt('a😀b', 3)).toEqual({ text: 'a😀', omitted: 1 });
    expect(excerpt('a😀b', 4)).toEqual({ text: 'a😀b', omitted: 0 });
  });

  test('of lists keep their beginning or their end', () => {
    expect(someOf([1, 2, 3], 2)).toEqual({ listed: [1, 2], omitted: 1 });
    expect(lastOf([1, 2, 3], 2)).toEqual({ listed: [2, 3], omitted: 1 });
    expect(lastOf([1], 2)).toEqual({ listed: [1], omitted: 0 });
  });
});
