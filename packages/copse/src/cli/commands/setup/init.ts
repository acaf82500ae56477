import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { type DetectedRuntime, detectAgents } from '../../../compose/run/agents.ts';
import { acceptAtFirst, acceptConfig, loadPending } from '../../../compose/accepted.ts';
import { type Repository, requireRepository } from '../../../compose/open.ts';
import { shown } from '../../../kernel/text.ts';
import { canAsk, confirm } from '../../ask.ts';
import { hasBase } from '../../../compose/on-demand.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { showChanges } from './accept.ts';

interface Options {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/**
 * Asks once whether to use the set-up files that the repository has, then writes a copse.yml for the installed agent
 * programs. An existing file is never overwritten.
 */
export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const { output } = cli;
  const repository = requireRepository(cli);
  const { configFolder } = repository;
  const file = path.join(configFolder, 'copse.yml');
  const found = await detectAgents(cli, configFolder);
  const installed = found.filter(({ place, problem }) => place !== null && problem === null);
  const text = proposal(installed);
  if (options.dryRun) {
    await output.raw(text);
    return;
  }
  await trustFiles(cli, repository, options);
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    fail(
      'wrong_status',
      `${file} already exists and was not changed.`,
      'copse init --dry-run # to see the proposal',
    );
  }
  await acceptConfig(repository, text);
  output.line(`Wrote ${shown(file)}. Commit it. After each change of it: copse config accept`);
  output.line();
  output.line('Next:');
  if (!(await hasBase(cli))) output.line('  git add copse.yml && git commit --message="Set Copse up"');
  output.line('  copse add "Say hello in the README"');
  if (installed.length === 0) output.line('  copse agents detect');
  output.line('  copse orchestrate --until-idle');
  if (installed.length === 0)
    output.line('No agent is installed; copse agents detect says how to install one.');
}

/** One question about all files at the first use. Those that a person does not agree to count as absent. */
async function trustFiles(cli: Cli, repository: Repository, options: Options): Promise<void> {
  const pending = await loadPending(repository);
  if (!pending.isFirst) return;
  if (pending.changes.length > 0) {
    cli.output.line('This repository has files that decide what Copse runs, fetches or copies:');
    cli.output.line();
    showChanges(cli, pending);
  }
  const isAsked = pending.changes.length > 0 && options.yes !== true && canAsk(cli, {});
  const isAgreed = !isAsked || (await confirm('Use these files?'));
  if (!isAgreed) cli.output.line('Copse uses none of them. To accept them later: copse config accept');
  await acceptAtFirst(repository, pending, { isAgreed });
}

function proposal(installed: readonly DetectedRuntime[]): string {
  const [first] = installed;
  const agents =
    first === undefined
      ? [
          '# No agent program was found (copse agents detect). Any program can be one:',
          '# agents:',
          '#   my-agent:',
          '#     command: ./my-agent.sh',
        ]
      : [
          'agents:',
          ...installed.flatMap(({ runtime }) => [
            `  ${runtime}:`,
            `    runtime: ${runtime}`,
            ...(runtime === first.runtime ? details : []),
          ]),
        ];
  return [
    '# Settings of Copse for this repository. Every key is optional; copse config schema has all of them.',
    '',
    '# Agents, the preferred one first.',
    ...agents,
    '',
    '# finish:',
    '#   accept: [npm test]        # must pass before work counts as finished',
    '# landing:',
    '#   policy: review            # a person approves each landing (default: auto)',
    '',
  ].join('\n');
}

const details = [
  '    # model: …',
  '    # permissions: accept_edits   # ask, accept_edits, all, or { allow: [...] }',
  '    # limits: { time: 1h, dollars: 5 }',
];
