import { withAccess } from '../../../compose/operations/access.ts';
import { shown } from '../../../kernel/text.ts';
import { fail } from '../../../operations/failure.ts';
import { act, view } from '../../../operations/setup/doctor.ts';
import { printStep } from '../../after/next-steps.ts';
import { stepLines } from '../../../kernel/shell.ts';
import type { Invocation } from '../../invocation.ts';
import { printProse } from '../../screen/screen.ts';

interface Options {
  readonly json?: boolean;
}

/** The column of what was found. */
const FOUND_AT = 13;

export async function run({ cli, options }: Invocation<Options>): Promise<void> {
  const checks = await withAccess(cli, act);
  if (options.json) cli.output.json(view(checks));
  else {
    for (const { name, state, found, remedy } of checks) {
      const [colour, mark] = marks[state];
      const lines = shown(found).replaceAll('\n', `\n${' '.repeat(FOUND_AT)}`);
      printProse(
        cli.output,
        `${cli.output.style(colour, mark)} ${name.padEnd(FOUND_AT - 3)} ${lines}`,
        FOUND_AT,
      );
      for (const line of remedy ? stepLines(remedy) : []) printStep(cli.output, line);
    }
  }
  if (!options.json && checks.some(({ state }) => state === 'missing'))
    cli.output.line(cli.output.style('dim', 'Lines with – are optional.'));
  const bad = checks.filter(({ state }) => state === 'problem').length;
  if (bad > 0)
    fail(
      'unhealthy',
      `${bad} of ${checks.length} checks failed.`,
      'copse doctor # after you fix the lines with ✗',
    );
}

const marks = { fine: ['green', '✓'], missing: ['yellow', '–'], problem: ['red', '✗'] } as const;
