import type { NoticeChannel } from '../notices/port.ts';
import { bellChannel } from './bell.ts';
import { desktopChannel } from './desktop.ts';
import { webhookChannel } from './webhook.ts';

export interface NotifyOptions {
  readonly desktop: boolean;
  readonly bell: boolean;
  readonly webhook?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Undefined without a terminal. */
  readonly ring: (() => void) | undefined;
  readonly sendMs: number;
  readonly sendAgainMs: number;
}

/** The channels that copse.yml asks for and this machine has. */
export function openChannels(options: NotifyOptions): readonly NoticeChannel[] {
  const { desktop, bell, webhook, environment, ring, sendMs, sendAgainMs } = options;
  return [
    desktop ? desktopChannel({ environment, platform: process.platform, timeoutMs: sendMs }) : undefined,
    bell && ring ? bellChannel(ring) : undefined,
    webhook ? webhookChannel(webhook, { timeoutMs: sendMs, againMs: sendAgainMs }) : undefined,
  ].filter((channel) => channel !== undefined);
}
