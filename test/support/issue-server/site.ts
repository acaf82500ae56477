/** A repository whose copse.yml has sources, and commands in it. */

import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { type OpenRun, openRun } from '../../../packages/copse/src/compose/run/run.ts';
import { type RunOptions, answer, git, newRepository, plainEnv } from '../cli.ts';
import { IssueServer } from './server.ts';

export interface SourceSite {
  readonly folder: string;
  readonly at: RunOptions;
  readonly name: string;
}

export interface SiteOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly sections?: Readonly<Record<string, unknown>>;
}

export function newSourceSite(
  area: string,
  source: Readonly<Record<string, unknown>>,
  { env = {}, files = {}, sections = {} }: SiteOptions = {},
): SourceSite {
  const folder = newRepository(area);
  // A command does not start in the repository.
  const { command } = source;
  const own =
    typeof command === 'string' ? { ...source, command: command.replaceAll('{folder}', folder) } : source;
  const config = { sources: { src: own }, ...sections };
  for (const [name, text] of Object.entries({ ...files, 'copse.yml': JSON.stringify(config) }))
    writeFileSync(path.join(folder, name), text);
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message=sources');
  return { folder, at: { cwd: folder, env }, name: 'src' };
}

/** With a server, as copse.yml names it for GitHub or GitLab. */
export async function newIssueSite(
  area: string,
  kind: IssueServer['kind'],
  source: Readonly<Record<string, unknown>> = {},
): Promise<SourceSite & { readonly server: IssueServer }> {
  const server = await IssueServer.start(kind);
  const places = {
    github: { repo: 'octo/trees' },
    gitlab: { project: 'group/sub/trees' },
    linear: { team: 'ENG' },
  };
  const place = places[kind];
  return { ...newSourceSite(area, { type: kind, ...place, ...source }, { env: server.env }), server };
}

export function openSite({ at }: Pick<SourceSite, 'at'>): Promise<OpenRun> {
  return openRun({ cwd: at.cwd, env: { ...plainEnv, ...at.env } }, { asNode: true });
}

export interface ListedTask {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly dependsOn: readonly string[];
  readonly workItem: { readonly id: string; readonly url: string | null } | null;
  readonly origin: object | null;
}

export async function tasksOf({ at }: Pick<SourceSite, 'at'>): Promise<readonly ListedTask[]> {
  return (await answer<{ tasks: readonly ListedTask[] }>(['list', '--all'], at)).tasks;
}
