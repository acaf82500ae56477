/** The files through which an agent of the simulation is told and reports. */

import { mergeReport, parseReport } from '../../packages/copse/src/agents/rules/session/report.ts';
import type { ContextFiles, Reports } from '../../packages/copse/src/agents/ports/runners.ts';
import type { ReportFile, Surroundings } from './ports.ts';
import type { Process } from './world.ts';

export function reportsFor({ world, reports, changed }: Surroundings, process: Process): Reports {
  const fileOf = (folder: string): ReportFile => {
    const known = reports.get(folder) ?? { text: '', watchers: new Set() };
    reports.set(folder, known);
    return known;
  };
  return {
    watch: (folder, on) => {
      const file = fileOf(folder);
      let last = '';
      const look = (): void => {
        if (file.text === last) return;
        last = file.text;
        const seen = parseReport(file.text);
        if (seen !== undefined) on(seen);
      };
      const watcher = (): void => world.post(process, 'sees a report', look);
      file.watchers.add(watcher);
      watcher();
      return {
        stop: () => {
          file.watchers.delete(watcher);
          look();
        },
      };
    },
    read: (folder) => parseReport(fileOf(folder).text),
    write: (folder, report) => writeReport(of(folder), mergeReport(of(folder).text, report)),
    clear: (folder) => {
      changed(process, `cleared the report in ${folder}`);
      fileOf(folder).text = '';
    },
  };
  function of(folder: string): ReportFile {
    return fileOf(folder);
  }
}

export function writeReport(file: ReportFile, text: string): void {
  file.text = text;
  for (const watcher of file.watchers) watcher();
}

export function contextFilesFor({ world, changed }: Surroundings, process: Process): ContextFiles {
  const call = <T>(name: string, effect: () => T): Promise<T> => world.call(process, name, effect);
  return {
    choose: (_, worktree) =>
      call('choose context files', () => {
        const at = (file: string) => ({ root: worktree ?? '/', file });
        const names = {
          context: 'c',
          facts: 'f',
          prompt: 'p',
          instructions: 'i',
          report: '.copse/session.json',
        };
        return { context: at('c'), facts: at('f'), prompt: at('p'), instructions: at('i'), names, notes: [] };
      }),
    write: ({ prompt }) =>
      call('write context files', () => changed(process, `wrote the context in ${prompt.root}`)),
    place: (_, name) => call('place a file to import', () => name),
  };
}
