import type { NoticeChannel } from '../notices/port.ts';

/** Rings whatever terminal there is; what it is about stands on the screen. */
export function bellChannel(ring: () => void): NoticeChannel {
  return {
    name: 'bell',
    send: async () => {
      ring();
      return { sent: true };
    },
  };
}
