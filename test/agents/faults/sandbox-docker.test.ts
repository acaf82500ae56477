/** The command line of `sandbox: docker`. No container is started here: what Docker makes of it is not tested. */

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import {
  type DockerRequest,
  dockerArguments,
  dockerProblem,
} from '../../../packages/copse/src/agents/sandbox/docker.ts';
import { requireRepository } from '../../../packages/copse/src/compose/open.ts';
import { openSandbox } from '../../../packages/copse/src/compose/run/sandbox.ts';
import { effectiveAgent } from '../../../packages/copse/src/config/effective.ts';
import { configFrom } from '../../../packages/copse/src/config/load.ts';
import { type AttemptId, brand } from '../../../packages/copse/src/kernel/ids.ts';
import { newArea, newRepository, plainEnv } from '../../support/cli.ts';

const program = {
  argv: ['sh', '-c', 'echo "$1"', 'sh', '--privileged'] as const,
  folder: '/w/tree',
  attempt: brand<AttemptId>('at-1'),
};
const request: DockerRequest = {
  docker: '/usr/bin/docker',
  hide: ['/r/.copse'],
  name: 'copse-at-1-1',
  image: 'some/image:1',
  user: '1000:1000',
  read: ['/r'],
  write: ['/w/tree'],
  keep: ['/w/tree/.git'],
  elsewhere: [],
  variables: ['COPSE_TOKEN', 'PATH', 'SSH_AUTH_SOCK'],
  hasTerminal: false,
};

it('the program and its arguments come after the image, so Docker takes none of them as an option', () => {
  expect(dockerArguments(program, request).slice(-6)).toEqual(['some/image:1', ...program.argv]);
});

it('readable, writable and kept paths are mounts at the same path', () => {
  const mounts = dockerArguments(program, request).filter((word) => word.startsWith('--mount='));
  expect(mounts).toEqual([
    '--mount=type=bind,source=/r,target=/r,readonly',
    '--mount=type=tmpfs,target=/r/.copse',
    '--mount=type=bind,source=/w/tree,target=/w/tree',
    '--mount=type=bind,source=/w/tree/.git,target=/w/tree/.git,readonly',
  ]);
});

// promise: sandbox-objects
it('the objects that it sees are a store of its own, with those of the repository beside it, read-only', () => {
  const elsewhere = [
    { source: '/s/new', target: '/r/.git/objects', isWritable: true },
    { source: '/r/.git/objects', target: '/s/repository', isWritable: false },
  ];
  const mounts = dockerArguments(program, { ...request, elsewhere }).filter((word) => word.includes('/s/'));
  expect(mounts).toEqual([
    '--mount=type=bind,source=/s/new,target=/r/.git/objects',
    '--mount=type=bind,source=/r/.git/objects,target=/s/repository,readonly',
  ]);
});

it('a path with commas or quotes stays one path', () => {
  const mounts = dockerArguments(program, {
    ...request,
    read: ['/a,readonly=false,"b"'],
    write: [],
    keep: [],
  });
  expect(mounts).toContain(
    '--mount=type=bind,"source=/a,readonly=false,""b""","target=/a,readonly=false,""b""",readonly',
  );
});

it('variables are passed by name without their values, except those that only make sense outside', () => {
  const words = dockerArguments(program, request);
  expect(words.filter((word) => word.startsWith('--env'))).toEqual(['--env=COPSE_TOKEN']);
});

it('there is a terminal only if one was asked for', () => {
  expect(dockerArguments(program, request)).not.toContain('--tty');
  expect(dockerArguments(program, { ...request, hasTerminal: true })).toContain('--tty');
});

// setting: agents.<name>.docker.enabled, agents.<name>.docker.image, agents.<name>.docker.env
// setting: agents.<name>.sandbox_write, agents.<name>.sandbox_read
it('an agent gets the image, the variables and the places that its settings say', async () => {
  const area = newArea();
  const cwd = newRepository(area);
  const [home, bin] = [path.join(area, 'home'), path.join(area, 'bin')];
  for (const folder of ['home/.ssh', 'home/opened', 'bin'])
    mkdirSync(path.join(area, folder), { recursive: true });
  writeFileSync(path.join(bin, 'docker'), '#!/bin/sh\n', { mode: 0o755 });
  const docker = { enabled: true, image: 'some/image:2', env: { COLOUR: 'green' } };
  const own = { command: 'true', docker, sandbox_write: ['~/opened'], sandbox_read: ['~/.ssh'] };
  const agent = effectiveAgent(await configFrom({ agents: { own } }), 'own') ?? expect.fail();
  const env = { ...plainEnv, HOME: home, PATH: [bin, process.env['PATH']].join(path.delimiter) };
  const { attempt } = program;
  const worktreeFolder = path.join(cwd, '.worktrees');
  const repository = requireRepository({ cwd, env });
  const around = { repository, root: cwd, worktreeFolder, attempt, env, mayTake: () => true };
  const environment: Record<string, string> = { COPSE_TASK_ID: 'cp-a1b2', HOME: home, PATH: env.PATH };
  const sandbox = (await openSandbox(agent, around)) ?? expect.fail();
  const wrapped = sandbox.wrap({ argv: ['true'], folder: cwd, environment, attempt });
  sandbox.close();
  expect(wrapped.argv.slice(-2)).toEqual(['some/image:2', 'true']);
  expect([wrapped.argv[0], wrapped.environment['COLOUR']]).toEqual([path.join(bin, 'docker'), 'green']);
  expect(wrapped.argv).toContain('--env=COLOUR');
  const bound = wrapped.argv.filter((word) => word.startsWith('--mount=type=bind') && word.includes(home));
  expect(bound).toEqual([
    `--mount=type=bind,source=${home}/.ssh,target=${home}/.ssh,readonly`,
    `--mount=type=bind,source=${home}/opened,target=${home}/opened`,
  ]);
});

it('is not available when Docker does not answer', async () => {
  const found = () => '/usr/bin/docker';
  const fine = () => Promise.resolve(null);
  expect(await dockerProblem(found, () => Promise.resolve('no daemon'))).toBe(
    'Docker does not answer: no daemon',
  );
  expect(await dockerProblem(() => undefined, fine)).toContain('outside of the repository');
  expect(await dockerProblem(found, fine)).toBeNull();
});
