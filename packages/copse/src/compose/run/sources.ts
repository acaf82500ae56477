/** Opens the sources of copse.yml. */

import type { TrustedDir } from '../../git/process.ts';
import type { SourceDefinition } from '../../intake/act/settings.ts';
import { commandSource } from '../../intake/command/source.ts';
import { githubTracker } from '../../intake/forges/github.ts';
import { gitlabTracker } from '../../intake/forges/gitlab.ts';
import { Paced } from '../../intake/forges/paced.ts';
import { trackerSource } from '../../intake/forges/tracker.ts';
import { linearApi, linearLimit } from '../../intake/linear/api.ts';
import { linearSource } from '../../intake/linear/source.ts';
import { markdownSource } from '../../intake/markdown/source.ts';
import type { Source, SourceMemories } from '../../intake/port.ts';
import type { SourceSettings } from '../../intake/rules/source.ts';
import { baseBranchOf, findNewestBase } from '../../workspaces/act/newest-base.ts';
import type { WorkspaceContext } from '../../workspaces/act/context.ts';
import { runCommands } from '../../workspaces/files/commands.ts';
import type { Config } from '../../config/schema.ts';
import type { SourceConfig } from '../../config/sources.ts';
import { forgeRemote } from '../../review/forges/forge-remote.ts';
import { type KnownForge, apiFor, findPlace } from '../../review/forges/open.ts';
import type { Repository } from '../open.ts';
import { systemTimer } from '../parts.ts';

export interface SourcesSurroundings {
  readonly dir: TrustedDir;
  readonly repository: Repository;
  readonly workspaces: WorkspaceContext;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly memories: SourceMemories;
  readonly forge: Config['landing']['forge'];
}

export function sourcesOf(
  sources: readonly SourceDefinition[],
  around: SourcesSurroundings,
): readonly Source[] {
  return sources.map((definition) => open(definition, around));
}

function open({ name, config, drawnBy }: SourceDefinition, around: SourcesSurroundings): Source {
  const settingsAt = (place: string) => settingsOf(name, config, { place, drawnBy });
  const { dir, repository, workspaces } = around;
  const { git, target } = workspaces;
  switch (config.type) {
    case 'markdown':
      return markdownSource({
        settings: settingsAt(config.files.join(', ')),
        files: config.files,
        dir,
        target: async () => {
          const branch = await baseBranchOf(git, target, undefined);
          const base = branch && (await findNewestBase(git, branch));
          return base && { branch: base.branch, tip: base.commit };
        },
      });
    case 'command':
      return commandSource({
        settings: settingsAt(config.command),
        command: config.command,
        timeoutMs: config.timeout,
        commands: { run: runCommands },
        home: repository.home,
      });
    case 'github': {
      const paced = pacedFor(name, around, 'github');
      const repository = () => repositoryOf(config.repo, around);
      const place = config.repo ?? 'the repository of the remote';
      const tracker = githubTracker({ paced, repository, label: config.label });
      return trackerSource(settingsAt(`${place}, label ${config.label}`), tracker);
    }
    case 'gitlab': {
      const paced = pacedFor(name, around, 'gitlab');
      const project = () => repositoryOf(config.project, around);
      const place = config.project ?? 'the project of the remote';
      const tracker = gitlabTracker({ paced, project, label: config.label });
      return trackerSource(settingsAt(`${place}, label ${config.label}`), tracker);
    }
    case 'linear': {
      const { team, label } = config;
      const settings = settingsAt(`team ${team}, label ${label}`);
      const { memories, env: environment } = around;
      const { timeoutMs } = workspaces.policy.pullRequest;
      const api = async () => linearApi({ environment, timeoutMs });
      const paced = new Paced({ source: name, clock: systemTimer, memories, limitIn: linearLimit, api });
      return linearSource({ settings, paced, team, label });
    }
    default:
      throw new Error(`A source cannot be ${String(config satisfies never)}`);
  }
}

function pacedFor(source: string, around: SourcesSurroundings, kind: KnownForge['kind']): Paced {
  const { env: environment, memories, workspaces } = around;
  const { timeoutMs } = workspaces.policy.pullRequest;
  return new Paced({
    source,
    clock: systemTimer,
    memories,
    api: () => {
      const found = remoteOf(around);
      // A source on another host than the remote is on the public one.
      const host = 'kind' in found && found.kind === kind ? found.place.host : null;
      return apiFor({ environment, timeoutMs }, { kind, place: { host, owner: '', name: '' } });
    },
  });
}

function remoteOf({ dir, workspaces, forge: kind }: SourcesSurroundings) {
  const remote = forgeRemote(dir, workspaces.policy.workspace.fetchTimeoutMs);
  return findPlace({ remote, kind });
}

function repositoryOf(given: string | undefined, around: SourcesSurroundings) {
  if (given !== undefined) {
    const slash = given.lastIndexOf('/');
    return { owner: given.slice(0, slash), name: given.slice(slash + 1) };
  }
  const found = remoteOf(around);
  return 'kind' in found ? found.place : { reason: `${found.reason} Or set the repository of the source.` };
}

function settingsOf(
  name: string,
  config: SourceConfig,
  own: Pick<SourceSettings, 'place' | 'drawnBy'>,
): SourceSettings {
  return {
    ...own,
    name,
    type: config.type,
    intervalMs: config.interval,
    onClosed: config.on_closed,
    onlyFrom: ('only_from' in config ? config.only_from : undefined) ?? null,
    hasComments: 'status_comments' in config && config.status_comments,
    hasLabels: 'status_labels' in config && config.status_labels,
  };
}
