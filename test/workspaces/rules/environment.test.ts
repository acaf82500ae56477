import { expect, test } from 'vitest';

import { agentEnvironment } from '../../../packages/copse/src/workspaces/rules/environment.ts';
import {
  type AgentName,
  type BranchName,
  type SessionId,
  type TaskId,
  brand,
} from '../../../packages/copse/src/kernel/ids.ts';

const facts = {
  task: brand<TaskId>('cp-1'),
  session: brand<SessionId>('se-1'),
  agent: brand<AgentName>('coder'),
  workItem: { source: 'github', id: '42', url: 'https://forge.example/42', title: 'Fix “it”; $(now)' },
  repositoryRoot: '/r',
  strategy: 'git_worktree',
  worktree: {
    path: '/r/.worktrees/cp-1',
    branch: brand<BranchName>('cp-1/fix'),
    baseBranch: brand<BranchName>('main'),
  },
  ports: [4100],
} as const;

test('an agent gets all facts about its work', () => {
  expect(agentEnvironment(facts)).toEqual({
    COPSE_TASK_ID: 'cp-1',
    COPSE_SESSION_ID: 'se-1',
    COPSE_AGENT: 'coder',
    COPSE_WORKTREE_PATH: '/r/.worktrees/cp-1',
    COPSE_WORKTREE_BRANCH: 'cp-1/fix',
    COPSE_WORKTREE_BASE_BRANCH: 'main',
    COPSE_WORK_ITEM_ID: '42',
    COPSE_WORK_ITEM_TITLE: 'Fix “it”; $(now)',
    COPSE_WORK_ITEM_SOURCE: 'github',
    COPSE_WORK_ITEM_URL: 'https://forge.example/42',
    COPSE_REPO_ROOT: '/r',
    COPSE_WORKSPACE_STRATEGY: 'git_worktree',
    COPSE_PORT: '4100',
  });
});

test('unknown values are left out', () => {
  const nothing = { session: null, agent: null, workItem: null, worktree: null, ports: [] };
  expect(agentEnvironment({ ...facts, ...nothing, strategy: 'none' })).toEqual({
    COPSE_TASK_ID: 'cp-1',
    COPSE_REPO_ROOT: '/r',
    COPSE_WORKSPACE_STRATEGY: 'none',
  });
});

test('further ports are numbered', () => {
  expect(agentEnvironment({ ...facts, ports: [4100, 4107, 4109] })).toMatchObject({
    COPSE_PORT: '4100',
    COPSE_PORT_2: '4107',
    COPSE_PORT_3: '4109',
  });
});
