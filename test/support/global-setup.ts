import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';

import type { TestProject } from 'vitest/node';

import { startPostgres } from './board/postgres.ts';
import { quickFork } from './quick-fork/quick-fork.ts';
import { scratchFolder } from './scratch.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string;
    /** For what the tests of several files share. */
    sharedFolder: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres({ durable: false });
  const sharedFolder = await mkdtemp(path.join(scratchFolder(), 'copse-tests-'));
  project.provide('postgresUrl', server.url);
  project.provide('sharedFolder', sharedFolder);
  quickFork(sharedFolder);
  return async () => {
    await server.stop();
    await rm(sharedFolder, { recursive: true, force: true });
  };
}
