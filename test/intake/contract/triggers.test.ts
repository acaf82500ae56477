/** Requests to triggers: a genuine one counts once, any other is refused without a word about why. */

import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { receiveRequest } from '../../../packages/copse/src/intake/act/triggers.ts';
import type { TriggerDefinition, TriggerRequest } from '../../../packages/copse/src/intake/rules/trigger.ts';
import { openSignatures } from '../../../packages/copse/src/intake/signatures/verify.ts';
import { secret, usual } from '../../support/intake/triggers.ts';
import { contextOf, engines, newPlace } from '../../support/board/boards.ts';
import { newArea } from '../../support/cli.ts';

const folder = newArea();
writeFileSync(path.join(folder, 'secret.txt'), `${secret}\n`);
const signatures = openSignatures({
  env: { HOOK_SECRET: secret },
  folder,
  homeFolder: folder,
  onProblem: () => {},
});

const triggers: readonly TriggerDefinition[] = [
  usual,
  { ...usual, name: 'from-github', type: 'github', secret: { file: 'secret.txt' } },
  { ...usual, name: 'from-gitlab', type: 'gitlab', secret: { file: '~/secret.txt' } },
  { ...usual, name: 'wakes', type: 'github', prompt: null, workSource: 'github' },
  { ...usual, name: 'no-secret', secret: { variable: 'NOT_SET' } },
  { ...usual, name: 'by-hand', secret: null },
];

function hmac(key: string, ...parts: readonly string[]): string {
  return `sha256=${createHmac('sha256', key).update(parts.join('')).digest('hex')}`;
}

function request(headers: Record<string, string>, body = '{"ref":"main"}'): TriggerRequest {
  return { headers, body: Buffer.from(body) };
}

function genuine(name: string, id = 'd-1', body = `{"number":"${id}"}`, key = secret): TriggerRequest {
  if (name === 'from-gitlab') return request({ 'x-gitlab-token': key, 'x-gitlab-event-uuid': id }, body);
  if (name === 'from-github' || name === 'wakes')
    return request({ 'x-hub-signature-256': hmac(key, body), 'x-github-delivery': id }, body);
  return request({ 'x-copse-signature': hmac(key, `${id}.`, body), 'x-copse-delivery': id }, body);
}

const refusal = {
  kind: 'refused',
  refusal: {
    code: 'unauthorized',
    reason: 'Unauthorized.',
    next: ['Check the secret of the trigger on both sides.'],
  },
};

// promise: request-genuine-once
describe.each(engines)('a request on %s', (engine) => {
  // setting: triggers.<name>.type, triggers.<name>.secret_variable, triggers.<name>.secret_file
  it.each(['deploy', 'from-github', 'from-gitlab'])(
    'to %s starts one task, also when its sender repeats it',
    async (name) => {
      await using place = await newPlace(engine);
      const [one, other] = [contextOf(await place.open()), contextOf(await place.open())];
      const send = (context: typeof one, sent: TriggerRequest) =>
        receiveRequest(context, { triggers }, signatures, { name, request: sent });
      const answers = await Promise.all([one, other, one, other].map((at) => send(at, genuine(name))));
      const kinds = answers.map((answer) => (answer.kind === 'done' ? answer.value.kind : answer.kind));
      expect(kinds.toSorted()).toEqual(['replayed', 'replayed', 'replayed', 'started']);
      expect(await send(one, genuine(name, 'd-2'))).toMatchObject({ value: { kind: 'started' } });
      const tasks = await one.board.tasks({ order: 'urgent' });
      expect(tasks.map(({ agent, origin }) => [agent, origin?.kind])).toEqual([
        ['coder', 'trigger'],
        ['coder', 'trigger'],
      ]);
    },
  );

  it.each(['created', 'recorded'] as const)(
    'that is cut off after "%s" counts when it is sent again',
    async (last) => {
      await using place = await newPlace(engine);
      const context = contextOf(await place.open());
      const of = { name: 'deploy', request: genuine('deploy') };
      const onStep = (step: string) => {
        if (step === last) throw new Error('killed');
      };
      await expect(receiveRequest(context, { triggers }, signatures, { ...of, onStep })).rejects.toThrow(
        'killed',
      );
      expect(await context.board.tasks({ order: 'urgent' })).toEqual([]);
      expect(await receiveRequest(context, { triggers }, signatures, of)).toMatchObject({
        value: { kind: 'started' },
      });
    },
  );
});

// promise: request-genuine-once
describe('a request', () => {
  const bodyOfOne = '{"number":"d-1"}';
  it.each<[string, string, TriggerRequest]>([
    ['with a wrong secret', 'deploy', genuine('deploy', 'd-1', bodyOfOne, 'wrong')],
    ['of GitHub with a wrong secret', 'from-github', genuine('from-github', 'd-1', bodyOfOne, 'wrong')],
    ['of GitLab with a wrong token', 'from-gitlab', genuine('from-gitlab', 'd-1', bodyOfOne, 'wrong')],
    ['with another body', 'deploy', { ...genuine('deploy'), body: Buffer.from('{}') }],
    ['of GitHub with another body', 'from-github', { ...genuine('from-github'), body: Buffer.from('{}') }],
    [
      'with the id of another delivery',
      'deploy',
      { ...genuine('deploy'), headers: { ...genuine('deploy').headers, 'x-copse-delivery': 'd-9' } },
    ],
    ['without a signature', 'deploy', request({ 'x-copse-delivery': 'd-1' })],
    ['without an id', 'from-gitlab', request({ 'x-gitlab-token': secret })],
    ['with an id that is no id', 'from-gitlab', genuine('from-gitlab', 'a/../b')],
    ['to a trigger whose secret is not set', 'no-secret', genuine('no-secret', 'd-1', bodyOfOne, '')],
    ['with the stand-in for a missing secret', 'no-secret', genuine('no-secret', 'd-1', bodyOfOne, 'none')],
    ['to a trigger for commands only', 'by-hand', genuine('by-hand')],
    ['to no trigger', 'unknown', genuine('deploy')],
  ])('%s is refused, and nothing else is said', async (_, name, sent) => {
    await using place = await newPlace('sqlite');
    const context = contextOf(await place.open());
    expect(await receiveRequest(context, { triggers }, signatures, { name, request: sent })).toEqual(refusal);
    expect(await context.board.lastEvent()).toBe(0);
  });

  it('of GitHub with a body that came before is a replay, also under another id, which is not signed', async () => {
    await using place = await newPlace('sqlite');
    const context = contextOf(await place.open());
    const name = 'from-github';
    const send = (sent: TriggerRequest) =>
      receiveRequest(context, { triggers }, signatures, { name, request: sent });
    expect(await send(genuine(name, 'd-1', bodyOfOne))).toMatchObject({ value: { kind: 'started' } });
    expect(await send(genuine(name, 'd-2', bodyOfOne))).toMatchObject({ value: { kind: 'replayed' } });
  });

  // setting: triggers.<name>.work_source
  it('to a trigger with a source only wakes it: what the source says decides', async () => {
    await using place = await newPlace('sqlite');
    const context = contextOf(await place.open());
    const of = { name: 'wakes', request: genuine('wakes') };
    expect(await receiveRequest(context, { triggers }, signatures, of)).toMatchObject({
      value: { kind: 'woken', source: 'github' },
    });
    expect(await context.board.tasks({ order: 'urgent' })).toEqual([]);
    expect((await context.board.list('delivery')).map(({ source }) => source)).toEqual(['github', 'github']);
  });
});
