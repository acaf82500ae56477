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

/** Proposes a copse.yml from the agent programs that are installed. Copse needs none, so nothing is overwritten. */
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
      `There is a copse.yml already, and it stays as it is: ${file}`,
      'copse init --dry-run, to see what would be proposed',
    );
  }
  output.line(`Wrote ${shown(file)}. It is yours: change what you like, and commit it.`);
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
    '# What Copse does in this repository. Every key is optional; copse config shows them all with their values.',
    '',
    '# Who works, in the order of preference.',
    ...agents,
    '',
    '# finish:',
    '#   accept: [npm test]        # has to pass before work counts as finished',
    '# landing:',
    '#   policy: review            # a person lets each task land, instead of auto',
    '',
  ].join('\n');
}

const details = [
  '    # model: …',
  '    # permissions: accept_edits   # ask, accept_edits, all, or { allow: [...] }',
  '    # limits: { time: 1h, dollars: 5 }',
];
