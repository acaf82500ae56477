/** The files in deploy/ and the guide about several machines name only what there is, and give nodes the time that they need. */

import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import { defaultPolicy } from '../../packages/copse/src/kernel/policy.ts';
import { everyCommand } from '../support/command-tree.ts';

const FILES = [
  'deploy/Dockerfile',
  'deploy/README.md',
  'deploy/compose.yaml',
  'deploy/copse-node',
  'deploy/copse.service',
  'deploy/kubernetes.yaml',
  'docs/guides/several-machines.md',
] as const;

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const commands = new Map(
  everyCommand().flatMap(({ path, command }) =>
    [path, ...command.aliases()].map((name) => [name, command] as const),
  ),
);

interface Use {
  readonly path: string;
  readonly options: readonly string[];
}

/** A line with `copse <words>`: the longest path of words that is a command, and the options after it. */
function usesIn(text: string): readonly Use[] {
  return text.split('\n').flatMap((line) =>
    [...line.matchAll(/(?:^|[\s`"'(])(?:\.\/)?copse((?:[ ][^`&|;]+)?)/g)].flatMap(([, rest = '']) => {
      const words = rest.trim().split(/\s+/);
      const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word));
      const names = words.slice(0, end === -1 ? undefined : end);
      const isPlain = names.length > 0 && names[0] !== '';
      return isPlain
        ? [{ path: names.join(' '), options: words.filter((word) => word.startsWith('--')) }]
        : [];
    }),
  );
}

function commandOf(path: string) {
  const words = path.split(' ');
  for (let count = words.length; count > 0; count -= 1) {
    const found = commands.get(words.slice(0, count).join(' '));
    if (found !== undefined) return found;
  }
  return undefined;
}

function problemsOf({ path, options }: Use): readonly string[] {
  const command = commandOf(path);
  if (command === undefined) return [`copse ${path}`];
  const known = new Set(command.options.map(({ long }) => long));
  return options
    .map((word) => word.replace(/=.*/, '').replace(/[.,:)"'`]+$/, ''))
    .filter((option) => !known.has(option))
    .map((option) => `copse ${path} ${option}`);
}

/** In prose, a command is what stands between backquotes or in a block. */
function codeIn(file: string): string {
  const text = read(file);
  if (!file.endsWith('.md')) return text.replace(/^\s*#.*$/gm, '');
  return [...text.matchAll(/```[a-z]*\n([\s\S]*?)```|`([^`\n]+)`/g)]
    .map(([, block, inline]) => block ?? inline ?? '')
    .join('\n')
    .replace(/#.*$/gm, '');
}

describe('files for deploying nodes', () => {
  it.each(FILES)('%s names only commands and options that there are', (file) => {
    expect(usesIn(codeIn(file)).flatMap(problemsOf)).toEqual([]);
  });

  it('name commands at all, and this test finds a wrong one', () => {
    const all = FILES.flatMap((file) => usesIn(codeIn(file)));
    expect(all.map(({ path }) => path)).toEqual(expect.arrayContaining(['up', 'node drain']));
    expect(usesIn('copse up --node-nam x && copse nodes list').flatMap(problemsOf)).toEqual([
      'copse up --node-nam',
      'copse nodes list',
    ]);
  });

  it('give copse-node only options of `copse up`', () => {
    const lines = ['deploy/compose.yaml', 'deploy/kubernetes.yaml', 'deploy/copse.service'].flatMap((file) =>
      read(file).match(/copse-node[ ,].*--.*/g),
    );
    const options = lines.flatMap((line) =>
      [...(line ?? '').matchAll(/--[a-z][a-z-]*/g)].map(([option]) => option),
    );
    expect(options.length).toBeGreaterThan(2);
    expect(options.flatMap((option) => problemsOf({ path: 'up', options: [option] }))).toEqual([]);
  });

  it('stop a node only after the time that its agents have to finish', () => {
    const drainSeconds = defaultPolicy.nodes.drainMs / 1_000;
    const [secret, deployment] = parseAllDocuments(read('deploy/kubernetes.yaml')).map((one) => {
      expect(one.errors).toEqual([]);
      return one.toJS() as {
        readonly kind: string;
        readonly spec: {
          readonly template: {
            readonly spec: {
              readonly terminationGracePeriodSeconds: number;
              readonly containers: readonly { readonly lifecycle: unknown }[];
            };
          };
        };
      };
    });
    expect([secret?.kind, deployment?.kind]).toEqual(['Secret', 'Deployment']);
    const pod = deployment?.spec.template.spec;
    expect(JSON.stringify(pod?.containers[0]?.lifecycle)).toContain('copse node drain');
    const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as {
      readonly services: Readonly<Record<string, { readonly stop_grace_period?: string }>>;
    };
    expect(Object.keys(services)).toEqual(['board', 'git', 'node-1', 'node-2']);
    const minutes = [
      services['node-1']?.stop_grace_period,
      services['node-2']?.stop_grace_period,
      /^TimeoutStopSec=(.*)in$/m.exec(read('deploy/copse.service'))?.[1],
    ].map((text) => Number(/^(\d+)m$/.exec(text ?? '')?.[1]) * 60);
    for (const seconds of [pod?.terminationGracePeriodSeconds, ...minutes])
      expect(seconds).toBeGreaterThan(drainSeconds + 30);
  });
});
