import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';

import { hasCode } from './error-code.ts';

/** Follows no link. Read-only folders, as in some package caches, are made writable first. */
export async function removeTree(place: string): Promise<void> {
  try {
    await rm(place, { recursive: true, force: true, maxRetries: RETRIES });
  } catch (error) {
    if (!hasCode(error, 'EACCES', 'EPERM')) throw error;
    makeWritable(place);
    await rm(place, { recursive: true, force: true });
  }
}

/** A process that is about to end may still write into it. */
const RETRIES = 5;

function makeWritable(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeWritable(path.join(folder, entry.name));
  }
}
