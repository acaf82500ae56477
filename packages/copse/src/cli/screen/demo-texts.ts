/** What the demo prints before and after the run. */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { agentNames, tasks } from '../../demo/scenario.ts';
import { type DemoLeftovers, type Summary, summaryRows } from '../../demo/summary.ts';
import { isProgram } from '../../kernel/system/find-program.ts';
import { shown } from '../../kernel/text.ts';
import type { Cli } from '../invocation.ts';
import { shellWord } from '../../kernel/shell.ts';
import { wrapped } from './screen.ts';

export function printPrologue({ output }: Cli, folder: string): void {
  output.line(
    `${output.style('bold', 'Copse demo')}: ${tasks.length} tasks, ${agentNames.length} scripted agents, one real git repository.`,
  );
  output.line(
    output.style('dim', `It needs no API key and no network. Everything happens in ${shown(folder)}`),
  );
  output.line();
}

export interface Epilogue {
  readonly folder: string;
  readonly history: readonly string[];
  readonly summary: Summary;
  readonly leftovers: DemoLeftovers;
}

export function printEpilogue(cli: Cli, { folder, history, summary, leftovers }: Epilogue): void {
  const { output } = cli;
  const heading = (text: string) => {
    output.line();
    output.line(output.style('bold', text));
  };
  const { tasks: all, landed, nothingToDo, durationMs } = summary;
  heading('History of main');
  for (const line of history) output.line(`  ${shown(line)}`.trimEnd());
  const seconds = Math.round(durationMs / 1_000);
  heading(
    `${landed + nothingToDo} of ${all} tasks done in ${seconds} s: what happened, and why no work was lost`,
  );
  const rows = summaryRows(summary, leftovers);
  const width = Math.max(...rows.map(([what]) => what.length));
  for (const [what, why] of rows) {
    const line = `  ${output.style('green', what.padEnd(width))}  ${why}`;
    for (const part of wrapped(line, output.columns() - 1, width + 4)) output.line(part);
  }
  heading('Look around');
  const link = launcherToLink(cli);
  if (link !== undefined) {
    output.line('  To call copse by its name:');
    output.line(`    ln -s ${shellWord(link)} ~/.local/bin/copse`);
    output.line('  Then:');
  }
  output.line(`  cd ${shellWord(folder)}`);
  output.line('  copse list; copse events; git log -p; cat agents/ada.sh');
  heading('Next, in your own repository');
  for (const command of nextCommands) output.line(`  ${command}`);
  output.line();
  output.line(output.style('dim', `To delete the demo: rm -rf ${shellWord(folder)}`));
}

const nextCommands = [
  'copse doctor',
  'copse add "Describe a task"',
  `copse orchestrate --command 'your-agent "$(cat "$COPSE_PROMPT_FILE")"'`,
] as const;

/** This clone's launcher, if `copse` is not in PATH. */
function launcherToLink({ env }: Cli): string | undefined {
  const folders = (env['PATH'] ?? '').split(path.delimiter).filter(path.isAbsolute);
  if (folders.some((folder) => existsSync(path.join(folder, 'copse')))) return undefined;
  // It is at the top of the clone, above the sources as above the bundle.
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!isProgram(path.join(folder, 'copse'))) {
    if (path.dirname(folder) === folder) return undefined;
    folder = path.dirname(folder);
  }
  return path.join(folder, 'copse');
}
