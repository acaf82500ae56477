import { describe, expect, test } from 'vitest';

import { agentInstructionsText } from '../../../packages/copse/src/agents/rules/briefing/agent-instructions.ts';
import type { Briefing } from '../../../packages/copse/src/agents/rules/briefing/briefing.ts';
import {
  handbackPrompt,
  sessionPromptText,
  systemPromptText,
} from '../../../packages/copse/src/agents/rules/briefing/prompts.ts';
import { agentContextText } from '../../../packages/copse/src/agents/rules/briefing/texts.ts';
import {
  type AgentName,
  type LedgerEntryId,
  type SessionId,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';
import { handbackReasons } from '../../../packages/copse/src/tasks/rules/task.ts';
import { commit, git, hostileBriefing, id, names, plain, whole } from './briefing-world.ts';

const context = (facts: Partial<Briefing> = {}) => agentContextText({ ...plain, ...facts }, names);
const prompt = (facts: Partial<Briefing> = {}) => sessionPromptText({ ...plain, ...facts }, names);
const system = (facts: Partial<Briefing> = {}) => systemPromptText({ ...plain, ...facts }, names);

describe('an agent is told', () => {
  const traces: Partial<Briefing> = {
    git: { ...git, commits: { listed: [{ id: commit('c'), subject: 'feat: half' }], omitted: 0 } },
  };
  test.each<[string, Partial<Briefing>, string]>([
    ['that it is the first attempt', {}, 'This is the first attempt at this task.'],
    ['that an earlier attempt left something', traces, 'An earlier attempt worked on this task'],
    ['that the last attempt crashed', { begin: { why: 'retried', crashes: 1 } }, 'crashed (once so far)'],
    ['how often', { begin: { why: 'retried', crashes: 2 } }, 'crashed (2 times so far)'],
    [
      'the answer to its question',
      { begin: { why: 'restarted', answer: whole('Both.') } },
      '```text\nBoth.\n```',
    ],
    ['that it was restarted', { begin: { why: 'restarted', answer: null } }, 'a person restarted it'],
    [
      'what a reviewer says',
      { begin: { why: 'resumed', message: whole('Shorter.') } },
      '```text\nShorter.\n```',
    ],
    [
      'what a person had to look at',
      {
        begin: {
          why: 'resumed',
          message: null,
          attention: { because: 'conflict', reason: whole('In a.ts.') },
        },
      },
      'it conflicts with what landed meanwhile.\n\n```text\nIn a.ts.\n```',
    ],
    ['that it may continue', { begin: { why: 'resumed', message: null } }, 'asks you to continue.'],
    [
      'why it was handed back',
      { begin: { why: 'handed_back', because: 'conflict', reason: whole('a.ts'), target: commit('d') } },
      'it conflicts with what landed meanwhile. The target was at dddddddddddd then.\n\n```text\na.ts\n```',
    ],
  ])('%s, in the prompt and in the context', (_, facts, expected) => {
    expect(prompt(facts)).toContain(expected);
    expect(context(facts)).toContain(expected);
  });

  test.each(handbackReasons)('what to do after a handback because of %s, and to finish again', (because) => {
    const text = handbackPrompt(because, 'the reason');
    expect(text).toContain('```text\nthe reason\n```');
    expect(text).toContain('copse finish');
    expect(prompt({ begin: { why: 'handed_back', because, reason: whole('r'), target: null } })).toContain(
      text.split('\n\n')[0]!.replace(/^The task is not finished yet: (.*) Copse found:$/, '$1'),
    );
  });

  test.each([
    [0, null],
    [1, 'crashed once before this attempt. 1 more attempt may follow this one.'],
    [2, 'crashed 2 times before this attempt. If this attempt crashes too, the task fails.'],
  ])('about %i crashes, and what to do about them', (count, expected) => {
    const text = context({ crashes: { count, limit: 3 } });
    if (expected === null) expect(text).not.toContain('## Crashes');
    else {
      expect(text).toContain(expected);
      expect(text).toContain('small steps');
    }
  });

  test('after a crash, about the files or commits of earlier attempts, if there are any', () => {
    const after = (left: Partial<typeof git>) =>
      context({ crashes: { count: 1, limit: 3 }, git: { ...git, ...left } });
    const [files, commits] = ['files of the last attempt are still', 'commits of earlier attempts are on'];
    const untracked = { listed: ['half.txt'], omitted: 0 };
    const made = { listed: [{ id: commit('c'), subject: 'feat: half' }], omitted: 0 };
    expect(after({ untracked, commits: made })).toContain(files);
    expect(after({ commits: made })).toContain(commits);
    expect(after({ commits: made })).not.toContain(files);
    for (const text of [files, commits]) expect(after({})).not.toContain(text);
  });

  test('the prompt names the file to read first', () => {
    expect(sessionPromptText(plain, { ...names, context: '/else where/AGENT_CONTEXT.md' })).toContain(
      'Read `/else where/AGENT_CONTEXT.md` first',
    );
  });
});

describe('the context', () => {
  test('has the ledger by kind, handovers first', () => {
    const entry = (kind: 'learning' | 'decision' | 'handoff' | 'crash', of = 'cp-aaaa') => ({
      id: brand<LedgerEntryId>(`le-${kind}`),
      task: id(of),
      session: kind === 'decision' ? null : brand<SessionId>('se-0'),
      kind,
      text: whole(`the ${kind}`),
      at: plain.at,
    });
    const listed = [entry('learning', 'cp-bbbb'), entry('decision'), entry('crash'), entry('handoff')];
    const text = context({ ledger: { listed, omitted: 4 } });
    const order = ['the handoff', 'the crash', 'the decision', 'the learning'].map((one) =>
      text.indexOf(one),
    );
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).not.toContain(-1);
    expect(text).toContain('By session se-0 about cp-bbbb, 2026-01-02T00:00:00.000Z:');
    expect(text).toContain('By a person, 2026-');
    expect(text).toContain('(4 more older entries: `copse ledger list --task cp-aaaa`)');
  });

  test('has the state of git, and what to do if it is unusual', () => {
    expect(context()).toContain(
      'On the branch `cp-aaaa/do-it`, at aaaaaaaaaaaa. It began from `main`, at bbbbbbbbbbbb.',
    );
    expect(context()).toContain('Nothing is uncommitted.');
    const off = context({
      git: { ...git, branch: null, operation: 'rebase', untracked: { listed: ['n'], omitted: 0 } },
    });
    expect(off).toContain('HEAD is detached');
    expect(off).toContain('switch to it first');
    expect(off).toContain('A `rebase` is in progress');
    expect(off).not.toContain('Nothing is uncommitted.');
  });

  test('marks running tasks whose areas may overlap', () => {
    const far = {
      id: id('cp-cccc'),
      title: 'Far',
      status: 'landing',
      agent: null,
      areas: [],
      meets: null,
    } as const;
    const near = {
      ...far,
      id: id('cp-bbbb'),
      title: 'Near',
      status: 'in_progress',
      agent: brand<AgentName>('other'),
      areas: ['src/**'],
      meets: ['src/a', 'src/**'],
    } as const;
    const text = context({ nearby: { listed: [near, far], omitted: 0 } });
    expect(text).toContain('! cp-bbbb in_progress by other [src/**] Near');
    expect(text).toContain('  cp-cccc landing [no areas named] Far');
    expect(context({ nearby: { listed: [far], omitted: 0 } })).not.toContain('may touch the same files');
    expect(context()).toContain('No other task is running.');
  });

  test('names the branches that change the same files, how, and what to do about it', () => {
    const files = ['a', 'b', 'c', 'd', 'e', 'f'];
    const collision = {
      id: id('cp-bbbb'),
      title: 'Other',
      status: 'in_review',
      how: 'conflict',
      files: { listed: files, omitted: 2 },
    } as const;
    const text = context({ collisions: { listed: [collision], omitted: 3 } });
    expect(text).toContain('conflict cp-bbbb in_review in a, b, c, d, e and 3 more: Other');
    expect(text).toContain('Keep your change small there');
    expect(text).toContain(`(3 more branches: \`copse radar ${plain.task.id}\`)`);
    expect(context()).not.toContain('change the same files');
  });

  test('has the rules, the commands and the steps of finishing', () => {
    const text = context({ task: { ...plain.task, accept: ['npm test'], isConventionRequired: true } });
    for (const expected of [
      'Work only inside this worktree: `/r/.worktrees/cp-aaaa`',
      'Never touch the main checkout (`/r`)',
      'Commit everything that belongs to the task before you finish',
      'Write conventional commits',
      'Others are refused.',
      'trailer `Task: cp-aaaa`',
      '```text\nnpm test\n```',
      'copse finish --no-changes',
      'copse stuck --reason',
      'write `.copse/session.json` instead',
    ])
      expect(text).toContain(expected);
    expect(context()).not.toContain('Others are refused.');
  });

  test('says if there is no worktree, and then offers no report file', () => {
    const environment = { ...plain.environment, COPSE_WORKSPACE_STRATEGY: 'none' };
    const facts = { ...plain, git: null, environment };
    const text = agentContextText(facts, { ...names, report: null });
    expect(text).toContain('This task has no worktree. Change nothing in the repository (`/r`).');
    expect(text).not.toContain('## Git');
    expect(text).not.toContain('session.json');
    expect(text).not.toContain('git status');
    const inCheckout = { ...environment, COPSE_WORKSPACE_STRATEGY: 'static' };
    expect(agentContextText({ ...facts, environment: inCheckout }, names)).toContain(
      'in the checkout itself (`/r`)',
    );
  });
});

test('the system prompt has every variable and every rule', () => {
  const text = system({ environment: { ...plain.environment, COPSE_PORT: '4100' } });
  expect(text).toContain(
    '```text\nCOPSE_TASK_ID=cp-aaaa\nCOPSE_REPO_ROOT=/r\nCOPSE_WORKSPACE_STRATEGY=git_worktree\nCOPSE_PORT=4100\n```',
  );
  expect(text).toContain('Never touch the main checkout');
  expect(text).toContain('Task: cp-aaaa');
});

test('the same facts give the same texts', () => {
  const facts = hostileBriefing('x');
  expect(agentContextText(facts, names)).toBe(agentContextText(structuredClone(facts), names));
  expect(agentInstructionsText()).toBe(agentInstructionsText());
});
