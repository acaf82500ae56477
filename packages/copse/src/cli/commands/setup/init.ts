import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { type DetectedRuntime, detectAgents } from '../../../compose/run/agents.ts';
import { requireRepository } from '../../../compose/open.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../failure.ts';
import type { Invocation } from '../../invocation.ts';

interface Options {
  readonly dryRun?: boolean;
}

/** Writes a copse.yml for the installed agent programs. An existing file is never overwritten. */
export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const { output } = cli;
  const { configFolder } = requireRepository(cli);
  const file = path.join(configFolder, 'copse.yml');
  const found = await detectAgents(cli, configFolder);
  const text = proposal(found.filter(({ place, problem }) => place !== null && problem === null));
  if (options.dryRun) {
    await output.raw(text);
    return;
  }
  try {
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    fail(
      'wrong_status',
      `${file} already exists and was not changed.`,
      'copse init --dry-run (prints the proposal)',
    );
  }
  output.line(`Wrote ${shown(file)}. Edit it as you like, and commit it.`);
  output.line();
  output.line('Next:');
  output.line('  copse add "Say hello in the README"');
  output.line('  copse orchestrate --until-idle');
}

function proposal(installed: readonly DetectedRuntime[]): string {
  const [first] = installed;
  const agents =
    first === undefined
      ? [
          '# No agent program was found (copse agents detect). Any program can be one:',
          '# agents:',
          '#   mine:',
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
    '# Settings of Copse for this repository. Every key is optional; copse config lists all of them.',
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
