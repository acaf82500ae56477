/** Limits that end a turn: what a session used, and how full the context of its model is. */

import path from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import type { AttemptContext } from '../../../packages/copse/src/agents/run/context.ts';
import { SessionRecorder } from '../../../packages/copse/src/agents/run/session-recorder.ts';
import { effectiveAgent, policyFrom } from '../../../packages/copse/src/config/effective.ts';
import { configFrom } from '../../../packages/copse/src/config/load.ts';
import { brand } from '../../../packages/copse/src/kernel/ids.ts';
import { newArea } from '../../support/cli.ts';
import { startSession } from '../../support/records/sessions.ts';
import { Project, newProject } from '../../support/workspaces/workspaces.ts';

const area = newArea();
let project: Project;
beforeAll(async () => {
  project = await Project.open(newProject(path.join(area, 'limits')));
});
afterAll(() => project[Symbol.asyncDispose]());

/** A session of an agent with these settings of copse.yml, and the limit that it reached, or null. */
async function recorderWith(limits: object, numbers: object = {}) {
  const config = await configFrom({ agents: { coder: { runtime: 'claude', limits } }, policy: numbers });
  const { task, session, attempt, token } = await startSession(project, await project.addTask());
  const recorder = await SessionRecorder.open(
    {
      ...project.context,
      by: { kind: 'session', session, token },
      agent: effectiveAgent(config, 'coder'),
      policy: policyFrom(config),
      log: (line: string) => expect.fail(line),
    } as unknown as AttemptContext,
    { task, session, attempt, token, agent: brand('coder'), conversation: null, begin: { why: 'claimed' } },
  );
  const reached = async () => {
    await recorder.settled();
    return Promise.race([recorder.limitReached(new AbortController().signal), Promise.resolve(null)]);
  };
  return { recorder, reached };
}

const usage = (used: object) => ({
  type: 'usage' as const,
  usage: { input: 0, cached: 0, output: 0, dollars: null, ...used },
});

// setting: agents.<name>.limits.tokens
test('tokens above limits.tokens end the session', async () => {
  const { recorder, reached } = await recorderWith({ tokens: 1_000 });
  recorder.on(usage({ input: 600, output: 400 }));
  expect(await reached()).toBeNull();
  recorder.on(usage({ output: 1 }));
  expect(await reached()).toMatchObject({
    kind: 'over_budget',
    reason: expect.stringContaining('limits.tokens'),
  });
});

// setting: agents.<name>.limits.dollars
test('dollars above limits.dollars end the session', async () => {
  const { recorder, reached } = await recorderWith({ dollars: 2 });
  recorder.on(usage({ output: 1, dollars: 2 }));
  expect(await reached()).toBeNull();
  recorder.on(usage({ output: 1, dollars: 0.01 }));
  expect(await reached()).toMatchObject({
    kind: 'over_budget',
    reason: expect.stringContaining('limits.dollars'),
  });
});

// setting: policy.context_handoff
test('a context that stays above policy.context_handoff is handed to a successor', async () => {
  const { recorder, reached } = await recorderWith({}, { context_handoff: '40%' });
  for (const share of [0.39, 0.39, 0.4]) recorder.on({ type: 'context', share });
  expect(await reached()).toBeNull();
  recorder.on({ type: 'context', share: 0.4 });
  expect(await reached()).toEqual({ kind: 'context_full' });
});
