import { acceptRemotes } from '../../../compose/on-demand.ts';
import { requireRepository } from '../../../compose/open.ts';
import { readPower } from '../../../compose/accepted.ts';
import { configJsonSchema } from '../../../config/problems/describe.ts';
import { flattenConfig } from '../../../config/problems/flatten.ts';
import { type ParsedConfig, parseConfig } from '../../../config/parse.ts';
import type { Config } from '../../../config/schema.ts';
import { renderProblem } from '../../../config/problems/problems.ts';
import { readYaml } from '../../../config/problems/read.ts';
import { missingSettings, settingsWithoutEffect } from '../../../config/problems/without-effect.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { printProse } from '../../screen/screen.ts';
import { tellPending } from '../../pending.ts';
import { acceptPending } from './accept.ts';

interface Options {
  readonly json?: boolean;
  readonly yes?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [what = 'show'] = words;
  switch (what) {
    case 'schema':
      cli.output.json(configJsonSchema());
      return;
    case 'check':
      await check(cli, options);
      await tellPending(cli);
      return;
    case 'accept':
      await acceptPending(cli, options);
      return;
    case 'accept-remotes':
      await accept(cli, options);
      return;
    case 'show':
      show(cli, options);
      await tellPending(cli);
      return;
    default:
      fail('invalid', `copse config has no command ${JSON.stringify(what)}.`, 'copse config --help');
  }
}

/** Mistakes that the schema cannot see fail it; settings that have no effect are only named. */
async function check(cli: Cli, options: Options): Promise<void> {
  const { config, text } = requireValid(cli, 'present');
  const reading = readYaml(text);
  const wrong = [
    ...missingSettings(config, reading, 'copse.yml').map(renderProblem),
    ...(await intakeProblems(config)),
  ];
  if (wrong.length > 0) fail('invalid', wrong.join('\n'), 'correct it, then: copse config check');
  const withoutEffect = settingsWithoutEffect(config, reading, 'copse.yml').map(renderProblem);
  if (options.json) {
    cli.output.json({ ok: true, ...(withoutEffect.length > 0 && { withoutEffect }) });
    return;
  }
  cli.output.line(isAbsent(cli) ? 'There is no copse.yml: the defaults apply.' : 'copse.yml is valid.');
  for (const one of withoutEffect) cli.output.line(shown(one));
}

/** What only the library for cron expressions can tell. */
async function intakeProblems({ agents, sources }: Config): Promise<readonly string[]> {
  const { scheduleProblems, sourceProblems } = await import('../../../compose/run/schedule-problems.ts');
  return [...(await scheduleProblems({ agents })), ...sourceProblems({ agents, sources })];
}

async function accept(cli: Cli, options: Options): Promise<void> {
  const remotes = [...(await acceptRemotes(cli))].map(([name, url]) => ({ name, url }));
  if (options.json) cli.output.json({ remotes });
  else if (remotes.length === 0) cli.output.line('This repository has no remotes.');
  else for (const { name, url } of remotes) cli.output.line(`${shown(name)} is ${shown(url)}`);
}

function show(cli: Cli, options: Options): void {
  const rows = flattenConfig(requireValid(cli, 'accepted').written);
  if (options.json) {
    cli.output.json({ settings: rows });
    return;
  }
  const width = Math.max(...rows.map(({ key }) => key.length));
  for (const { key, value, from } of rows) {
    // A list is broken after a comma.
    const text = cli.output.isTerminal && Array.isArray(value) ? value.join(', ') : String(value);
    const line = `${key.padEnd(width)}  ${shown(text)}`;
    printProse(cli.output, from === 'default' ? cli.output.style('dim', line) : line, width + 2);
  }
}

function isAbsent(cli: Cli): boolean {
  return readPower(requireRepository(cli), 'present').read('copse.yml').kind === 'absent';
}

/** Without a copse.yml, the defaults. */
function requireValid(
  cli: Cli,
  which: 'present' | 'accepted',
): Extract<ParsedConfig, { kind: 'valid' }> & { readonly text: string } {
  const found = readPower(requireRepository(cli), which).read('copse.yml');
  if (found.kind === 'unclear')
    fail('invalid', 'copse.yml exists but cannot be read.', 'check that it is a file with read permission');
  const text = found.kind === 'text' ? found.text : '';
  const parsed = parseConfig(text, { file: 'copse.yml' });
  if (parsed.kind === 'valid') return { ...parsed, text };
  return fail(
    'invalid',
    parsed.problems.map(renderProblem).join('\n'),
    'correct it, then: copse config check',
  );
}
