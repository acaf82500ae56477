/** Installed agent programs, and Copse's choice without configuration: `copse agents detect`, `copse init`. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { answer, copse, git, newArea, newRepository, printed } from '../../support/cli.ts';

const area = newArea();
let machines = 0;

/** A machine with these programs and no others, but for git and what scripts need. */
function machineWith(programs: Readonly<Record<string, string>>) {
  machines += 1;
  const bin = path.join(area, `bïn ${machines}`);
  mkdirSync(bin);
  for (const name of ['git', 'sh', 'sleep']) {
    const place = execFileSync('which', [name], { encoding: 'utf8' }).trim();
    symlinkSync(place, path.join(bin, name));
  }
  for (const [name, script] of Object.entries(programs))
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { cwd: newRepository(area), env: { PATH: bin } };
}

interface Detected {
  readonly runtime: string;
  readonly place: string | null;
  readonly version: string | null;
  readonly problem: string | null;
  readonly install: string;
}

test('detect says what is installed, which version, whether it starts, and how to get the rest', async () => {
  const at = machineWith({
    claude: 'echo "2.1.325 (Claude Code)"',
    codex: 'echo "no such library" >&2; exit 127',
  });
  const { runtimes } = await answer<{ runtimes: readonly Detected[] }>(['agents', 'detect'], at);
  const found = Object.fromEntries(runtimes.map((one) => [one.runtime, one]));
  expect(found['claude']).toMatchObject({ version: '2.1.325', problem: null });
  expect(found['codex']).toMatchObject({
    version: null,
    problem: '`--version` ended with 127: no such library',
  });
  expect(found['gemini']).toMatchObject({
    place: null,
    install: 'npm install --global @google/gemini-cli',
  });
  const text = await printed(['agents', 'detect'], at);
  expect(text).toContain('✓ claude     2.1.325');
  expect(text).toContain('✗ codex      `--version` ended with 127: no such library');
  expect(text).toContain('Without agents in copse.yml, Copse uses claude. To choose: copse init');
});

test('without an agent program no agent is configured, and a custom command is offered', async () => {
  const at = machineWith({});
  expect(await printed(['agents', 'detect'], at)).toContain('copse orchestrate --command "./my-agent.sh"');
  expect(await printed(['init', '--dry-run'], at)).toContain('# No agent program was found');
  await printed(['add', 'Wait'], at);
  const { stdout } = await copse(['orchestrate', '--dry-run'], at);
  expect(stdout).not.toContain('claude');
});

test('init proposes working agents, only once, and writes a valid copse.yml', async () => {
  const at = machineWith({ claude: 'echo 2.1.325', codex: 'echo codex-cli 0.166.0', gemini: 'exit 1' });
  const proposed = await printed(['init', '--dry-run'], at);
  const init = await printed(['init'], at);
  expect(init).toContain('copse orchestrate --until-idle');
  expect(init).toContain('copse.yml. Commit it. After each change of it: copse config accept\n');
  const written = readFileSync(path.join(at.cwd, 'copse.yml'), 'utf8');
  expect(written).toBe(proposed);
  expect(written).toMatch(/^agents:\n {2}claude:\n {4}runtime: claude\n/m);
  expect(written).toContain('  codex:\n    runtime: codex\n');
  expect(written).not.toContain('gemini');
  expect(await printed(['config', 'check'], at)).toBe('copse.yml is valid.\n');
  writeFileSync(path.join(at.cwd, 'copse.yml'), '# mine\n');
  const again = await copse(['init'], at);
  expect(again).toMatchObject({ code: 4, stdout: '' });
  expect(again.stderr).toContain('copse.yml already exists and was not changed.');
  expect(readFileSync(path.join(at.cwd, 'copse.yml'), 'utf8')).toBe('# mine\n');
});

// setting: agents.<name>.runtime
test('an agent whose program is missing is named with the way to get it, and is not used', async () => {
  const at = machineWith({});
  writeFileSync(path.join(at.cwd, 'copse.yml'), 'agents: { ada: { runtime: codex }, bo: {} }\n');
  git(at.cwd, 'add', '--all');
  git(at.cwd, 'commit', '--quiet', '--message=agents');
  const { unusable, agents } = await answer<{ unusable: readonly { reason: string }[]; agents: object[] }>(
    ['agents'],
    at,
  );
  expect(agents).toEqual([]);
  expect(unusable.map(({ reason }) => reason)).toEqual([
    'Agent ada needs the program codex, which is not installed: npm install --global @openai/codex.',
    expect.stringContaining('The agent bo has neither a runtime nor a command'),
  ]);
});
