/**
 * The demo as data: a small project, a plan, seven tasks and the settings. The agents (agents.ts) cause the crash, the
 * conflict and the question; everything else is the product.
 */

import { agentFiles } from './agents.ts';

export const agentNames = ['ada', 'ben', 'cleo', 'dan'] as const;

export const plan = {
  title: 'Thermo 1.0',
  body: 'A small library that reads, converts and announces temperatures.\nEach part is a file of its own in src/, and src/index.js has them all.\n',
} as const;

type Key = 'parse' | 'empty' | 'name' | 'polite' | 'convert' | 'index' | 'notes';

export interface DemoTask {
  readonly key: Key;
  /** Agents recognise their task by its branch, whose name comes from the title. */
  readonly title: string;
  readonly body: string;
  readonly agent: (typeof agentNames)[number];
  readonly priority: `p${1 | 2 | 3 | 4 | 5}`;
  readonly areas: readonly string[];
  readonly after: readonly Key[];
}

/** Each after its dependencies. */
export const tasks: readonly DemoTask[] = [
  {
    key: 'parse',
    title: 'Read a temperature from text',
    body: 'parse("20.5 °C") gives { value: 20.5, unit: "C" }, in src/parse.js.\n',
    agent: 'ada',
    priority: 'p5',
    areas: ['src/parse.js'],
    after: [],
  },
  {
    key: 'name',
    title: 'Greet people by name',
    body: 'greet("Kelvin") gives "Hello, Kelvin!", in src/greet.js.\n',
    agent: 'ben',
    priority: 'p4',
    areas: [],
    after: [],
  },
  {
    key: 'polite',
    title: 'Greet people politely',
    body: 'greet() says "Good day" and not "Hello", in src/greet.js.\n',
    agent: 'cleo',
    priority: 'p4',
    areas: [],
    after: [],
  },
  {
    key: 'convert',
    title: 'Convert Celsius to Fahrenheit',
    body: 'toFahrenheit(20) gives 68, in src/convert.js.\n',
    agent: 'dan',
    priority: 'p4',
    areas: ['src/convert.js'],
    after: [],
  },
  {
    key: 'empty',
    title: 'Refuse empty text',
    body: 'parse("") must throw and say why.\n',
    agent: 'ada',
    priority: 'p4',
    areas: ['src/parse.js'],
    after: ['parse'],
  },
  {
    key: 'index',
    title: 'Export everything from index.js',
    body: 'Users of the library import src/index.js and nothing else.\n',
    agent: 'ben',
    priority: 'p3',
    areas: ['src/**'],
    after: ['parse', 'convert'],
  },
  {
    key: 'notes',
    title: 'Write the release notes',
    body: 'NOTES.md lists what landed, one line for each change.\n',
    agent: 'cleo',
    priority: 'p2',
    areas: ['NOTES.md'],
    after: ['empty', 'name', 'polite', 'index'],
  },
];

/** The answer to the question of an agent. */
export const answer = 'Keep one decimal.';

const PROJECT: Readonly<Record<string, string>> = {
  'README.md': `# Thermo

Temperatures for people, in a few lines of JavaScript.

\`copse demo\` created this repository. The four programs in agents/ are its agents, copse.yml says
how to start them, and check.sh must pass before their work lands.
`,
  'src/greet.js': `export function greet() {
  return 'Hello!';
}
`,
  'check.sh': `# Must succeed before work counts as finished, and again with the newest main before it lands.
for file in src/*.js; do
  grep -q '^export ' "$file" || { echo "$file exports nothing"; exit 1; }
  if grep -q '^<<<<<<<' "$file"; then echo "$file has conflict markers"; exit 1; fi
done
`,
};

export function projectFiles(pauseMs: number): Readonly<Record<string, string>> {
  return { ...PROJECT, ...agentFiles, 'copse.yml': settings(pauseMs) };
}

function settings(pauseMs: number): string {
  const agents = agentNames.map(
    (name) => `  ${name}:
    runtime: command
    command: [sh, agents/${name}.sh]
    env:
      GIT_AUTHOR_NAME: ${name}
      GIT_AUTHOR_EMAIL: ${name}@demo.invalid
      DEMO_PAUSE: '${(pauseMs / 1_000).toFixed(3)}'
    limits:
      time: 2m
`,
  );
  return `# The four agents of the demo: any program can be one.
agents:
${agents.join('')}
finish:
  accept: [sh check.sh]

landing:
  target: main
  checks:
    exports: sh check.sh

# Faster and smaller limits than the defaults, for the demo only.
policy:
  max_agents: 4
  poll_interval: 1s
  first_backoff: 1s
  max_backoff: 4s
  min_free_memory: 64MB
  min_free_disk: 32MB
`;
}

/** Set in the repository, so that the machine's git settings do not affect the agents' commits. */
export const gitSettings: Readonly<Record<string, string>> = {
  'user.name': 'Copse demo',
  'user.email': 'demo@demo.invalid',
  'commit.gpgSign': 'false',
  'core.hooksPath': '/dev/null',
  'core.autocrlf': 'false',
  'core.excludesFile': '/dev/null',
  'core.fsmonitor': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
};
