import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';

import type { Machine } from '../agents/ports/runners.ts';

export const machine: Machine = {
  freeMemoryBytes() {
    // MemAvailable, because `freemem` counts the caches of Linux as used.
    try {
      const [, kilobytes] = /^MemAvailable:\s+(\d+)/m.exec(readFileSync('/proc/meminfo', 'latin1')) ?? [];
      return kilobytes === undefined ? freemem() : Number(kilobytes) * 1024;
    } catch {
      return freemem();
    }
  },
};
