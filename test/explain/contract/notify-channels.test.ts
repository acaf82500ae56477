/** What reaches people by each way, and what becomes of it when it does not. */

import path from 'node:path';

import { describe, expect, it, test } from 'vitest';

import { openChannels } from '../../../packages/copse/src/explain/channels/open.ts';
import { type TaskId, brand, timestamp } from '../../../packages/copse/src/kernel/ids.ts';
import type { Notice } from '../../../packages/copse/src/explain/rules/notice.ts';
import { newArea } from '../../support/cli.ts';
import { newDesktop, newWebhook } from '../../support/agents/notices.ts';

const area = newArea();
const never = new AbortController().signal;

const about = {
  kind: 'stuck',
  task: brand<TaskId>('cp-1'),
  title: '-n <b>Which</b>',
  reason: 'Why?',
  command: 'copse why cp-1',
  at: timestamp(0),
} as const;

const notice: Notice = {
  headline: 'cp-1 is stuck: -n <b>Which</b>',
  text: String.raw`-i \n <a href="x">it</a> & "go"; $(touch x)`,
  command: 'copse why cp-1',
  isUrgent: true,
  about: [about],
};

const options = {
  desktop: false,
  bell: false,
  environment: {},
  ring: undefined,
  sendMs: 2_000,
  sendAgainMs: 10,
};

const channelOf = (given: Partial<Parameters<typeof openChannels>[0]>) => {
  const [channel, ...others] = openChannels({ ...options, ...given });
  expect(others).toEqual([]);
  return channel;
};

describe.skipIf(process.platform === 'darwin')('the desktop', () => {
  const on = (environment: Readonly<Record<string, string>>, sendMs = 5_000) =>
    channelOf({ desktop: true, environment, sendMs });

  it('shows texts as they are: no option, no markup, no escape', async () => {
    const desktop = newDesktop(area, 'plain');
    expect(await on(desktop.env)?.send(notice, never)).toEqual({ kind: 'sent' as const });
    expect(await on(desktop.env)?.send({ ...notice, isUrgent: false, text: '' }, never)).toEqual({
      kind: 'sent',
    });
    expect(desktop.shown()).toEqual([
      [
        '--app-name=Copse',
        '--urgency=critical',
        '--',
        'Copse: cp-1 is stuck: -n <b>Which</b>',
        String.raw`-i \\n &lt;a href="x"&gt;it&lt;/a&gt; &amp; "go"; $(touch x)` + '\ncopse why cp-1',
      ],
      [
        '--app-name=Copse',
        '--urgency=normal',
        '--',
        'Copse: cp-1 is stuck: -n <b>Which</b>',
        'copse why cp-1',
      ],
    ]);
  });

  it('is not available without a program, without a display, or with a relative folder in PATH', () => {
    const { env } = newDesktop(area, 'there');
    expect(on(env)).toBeDefined();
    const { DISPLAY: display = '', PATH: search = '' } = env;
    expect(on({ PATH: search })).toBeUndefined();
    expect(on({ PATH: search, WAYLAND_DISPLAY: 'wayland-0' })).toBeDefined();
    const relative = path.relative(process.cwd(), search.split(':', 1)[0] ?? '');
    expect(on({ PATH: `.::${relative}`, DISPLAY: display })).toBeUndefined();
    expect(on({ PATH: area, DISPLAY: display })).toBeUndefined();
  });

  test.each([
    ['fails', 'echo "no bus" >&2; exit 1', 'notify-send could not show a notification: no bus'],
    ['says nothing', 'exit 7', 'exit code 7'],
    ['hangs', 'exec sleep 60', 'it took too long'],
  ])('that %s is reported with its reason', async (name, then, reason) => {
    const desktop = newDesktop(area, name, then);
    const sent = await on(desktop.env, 1_500)?.send(notice, never);
    expect(sent).toEqual({ kind: 'failed' as const, reason: expect.stringContaining(reason) });
  });

  it('is ended when the announcement is cancelled', async () => {
    const desktop = newDesktop(area, 'given up', 'exec sleep 60');
    const givenUp = new AbortController();
    const sending = on(desktop.env, 60_000)?.send(notice, givenUp.signal);
    givenUp.abort();
    expect(await sending).toMatchObject({ kind: 'failed' });
  });
});

it('the bell rings if there is a terminal', async () => {
  let rings = 0;
  const bell = channelOf({ bell: true, ring: () => (rings += 1) });
  expect(await bell?.send(notice, never)).toEqual({ kind: 'sent' as const });
  expect(rings).toBe(1);
  expect(channelOf({ bell: true })).toBeUndefined();
  expect(channelOf({ ring: () => {} })).toBeUndefined();
});

describe('a webhook', () => {
  const secrets = /T0KEN|s3cret|pass/;
  const at = (port: number) => `http://ada:pass%20word@127.0.0.1:${port}/hooks/T0KEN?key=s3cret`;

  it('gets JSON with a text for people, and a password as a header', async () => {
    const webhook = await newWebhook(204);
    expect(await channelOf({ webhook: at(webhook.port) })?.send(notice, never)).toEqual({
      kind: 'sent' as const,
    });
    expect(webhook.received).toMatchObject([
      {
        path: '/hooks/T0KEN?key=s3cret',
        headers: {
          'content-type': 'application/json',
          authorization: `Basic ${Buffer.from('ada:pass word').toString('base64')}`,
        },
        body: {
          kind: 'stuck',
          // No chat program takes a part of it for a call or a link.
          text: `${notice.headline}\n${notice.text}\n${notice.command}`
            .replaceAll('<', '‹')
            .replaceAll('>', '›'),
          isUrgent: true,
          about: [{ ...about, at: '1970-01-01T00:00:00.000Z' }],
        },
      },
    ]);
    await channelOf({ webhook: at(webhook.port) })?.send({ ...notice, about: [about, about] }, never);
    expect(webhook.received[1]?.body).toMatchObject({ kind: 'several' });
  });

  it('gets no headline and no text that calls a person or has an address', async () => {
    const webhook = await newWebhook(204);
    const said = 'cp-1 is stuck: <!channel> @ann https://evil.example.invalid/x';
    await channelOf({ webhook: at(webhook.port) })?.send({ ...notice, headline: said, text: said }, never);
    const { headline, text } = webhook.received[0]?.body ?? {};
    for (const one of [headline, text]) {
      expect(one).toContain('cp-1 is stuck');
      expect(one).not.toMatch(/<!channel>|@ann|:\/\//);
    }
  });

  test.each<[what: string, statuses: readonly number[], asked: number, reason: string | null]>([
    ['is down for a moment', [503, 204], 2, null],
    ['is busy for a moment', [429, 204], 2, null],
    ['stays down', [500], 2, 'it answered 500'],
    ['does not know it', [404], 1, 'it answered 404'],
    ['leads elsewhere', [302], 1, 'it answered 302'],
    ['does not answer', [0], 2, 'it did not answer within 0.5 s'],
  ])('that %s is retried once if that could help, and reported without its secrets', async (...row) => {
    const [, statuses, asked, reason] = row;
    const webhook = await newWebhook(...statuses);
    const sent = await channelOf({ webhook: at(webhook.port), sendMs: 500 })?.send(notice, never);
    expect(webhook.received.map(({ path }) => path)).toEqual(
      Array.from({ length: asked }, () => '/hooks/T0KEN?key=s3cret'),
    );
    const told = `The webhook at http://127.0.0.1:${webhook.port}/… was not notified: ${reason}.`;
    expect(sent).toEqual(
      reason === null ? { kind: 'sent' as const } : { kind: 'failed' as const, reason: told },
    );
    expect(JSON.stringify(sent)).not.toMatch(secrets);
  });

  // promise: passwords-hidden
  it('that is unreachable is reported without its secrets', async () => {
    // Nobody listens on the port of discard.
    const sent = await channelOf({ webhook: at(9) })?.send(notice, never);
    expect(sent).toMatchObject({
      kind: 'failed' as const,
      reason: expect.stringContaining('it cannot be reached'),
    });
    expect(JSON.stringify(sent)).not.toMatch(secrets);
  });

  it('is abandoned when the announcement is cancelled', async () => {
    const webhook = await newWebhook(0);
    const givenUp = new AbortController();
    const sending = channelOf({ webhook: at(webhook.port), sendMs: 60_000 })?.send(notice, givenUp.signal);
    givenUp.abort();
    expect(await sending).toMatchObject({ kind: 'failed' });
  });
});
