import type { NoticeChannel } from '../notices/port.ts';

/** Rings the terminal; the reason is on its screen. */
export function bellChannel(ring: () => void): NoticeChannel {
  return {
    name: 'bell',
    send: async () => {
      ring();
      return { kind: 'sent' };
    },
  };
}
