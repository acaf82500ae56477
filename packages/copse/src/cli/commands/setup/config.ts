import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import type { CheckedConfig } from '../../../operations/setup/config-check.ts';
import type { Cli, Invocation } from '../../invocation.ts';
import { tellPending } from '../../pending.ts';
import { printProse } from '../../screen/screen.ts';

interface Options {
  readonly json?: boolean;
  readonly yes?: boolean;
}

export async function run({ cli, words, options }: Invocation<Options>): Promise<void> {
  const [what = 'show'] = words;
  switch (what) {
    case 'schema':
      return schema(cli);
    case 'check':
      await check(cli, options);
      return tellPending(cli);
    case 'pending':
      return pending(cli, options);
    case 'accept': {
      const { acceptPending } = await import('./accept.ts');
      return acceptPending(cli, options);
    }
    case 'accept-remotes':
      return acceptRemotes(cli, options);
    case 'show':
      await show(cli, options);
      return tellPending(cli);
    default:
      fail('invalid', `copse config has no command ${JSON.stringify(what)}.`, 'copse config --help');
  }
}

async function schema(cli: Cli): Promise<void> {
  const { act, view } = await import('../../../operations/setup/config-schema.ts');
  cli.output.json(view(await act()));
}

async function check(cli: Cli, options: Options): Promise<void> {
  const { act, view } = await import('../../../operations/setup/config-check.ts');
  const checked = await withAccess(cli, act);
  if (options.json) return cli.output.json(view(checked));
  cli.output.line(foundText(checked));
  for (const one of checked.withoutEffect) cli.output.line(shown(one));
}

function foundText({ isAbsent, isAccepted, hasOther }: CheckedConfig): string {
  if (isAbsent) return isAccepted ? 'There is no copse.yml.' : 'There is no copse.yml: the defaults apply.';
  return hasOther
    ? 'The copse.yml of the main checkout is valid. The copse.yml of this worktree differs, and is valid too. Copse uses it after it landed and you ran: copse config accept'
    : 'copse.yml is valid.';
}

async function pending(cli: Cli, options: Options): Promise<void> {
  const { act, view } = await import('../../../operations/setup/config-pending.ts');
  const { showChanges, unchangedText } = await import('./accept.ts');
  const found = await withAccess(cli, act);
  if (options.json) return cli.output.json(view(found));
  showChanges(cli, found);
  if (found.changes.length === 0) cli.output.line(unchangedText(found));
  else await tellPending(cli);
}

async function acceptRemotes(cli: Cli, options: Options): Promise<void> {
  const { act, view } = await import('../../../operations/setup/config-accept-remotes.ts');
  const remotes = await withAccess(cli, act);
  if (options.json) return cli.output.json(view(remotes));
  if (remotes.length === 0) return cli.output.line('This repository has no remotes.');
  for (const { name, url } of remotes) cli.output.line(`${shown(name)} is ${shown(url)}`);
}

async function show(cli: Cli, options: Options): Promise<void> {
  const { act, view } = await import('../../../operations/setup/config-show.ts');
  const rows = await withAccess(cli, act);
  if (options.json) return cli.output.json(view(rows));
  const width = Math.max(...rows.map(({ key }) => key.length));
  for (const { key, value, from } of rows) {
    // A list is broken after a comma.
    const text = cli.output.isTerminal && Array.isArray(value) ? value.join(', ') : String(value);
    const line = `${key.padEnd(width)}  ${shown(text)}`;
    printProse(cli.output, from === 'default' ? cli.output.style('dim', line) : line, width + 2);
  }
}
