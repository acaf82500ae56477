/** Files of the dashboard, and tokens of pages that are kept. */

import type { RemovedCheck } from './removed-check.ts';

const server = 'server/server.ts';
const files = 'server/web-files.ts';
const READ = "const file = files.get(isPage ? 'index.html' : name);";

export const pages: readonly RemovedCheck[] = [
  {
    check: 'only files that were found in the folder are answered',
    edits: [
      {
        file: files,
        find: READ,
        put: `const found = await readFile(path.join(this.#folder, name)).catch(() => undefined);
    const file = files.get(isPage ? 'index.html' : name) ?? (found && { type: contentTypeOf(name), bytes: found, etag: '"x"' });`,
      },
    ],
    attacks: ['nothing else is read > /assets/link.js', 'nothing else is read > /assets/deep/x.js'],
    tests: ['contract/web-files'],
  },
  {
    check: 'a link in the folder is no file of it',
    edits: [
      {
        file: files,
        find: '.filter((entry) => entry.isFile())',
        put: '.filter((entry) => !entry.isDirectory())',
      },
    ],
    attacks: ['nothing else is read > /assets/link.js'],
    tests: ['contract/web-files'],
  },
  {
    check: 'of the folder itself, only the page and its picture are answered',
    edits: [
      {
        file: files,
        find: "if (!isPage && segments[0] !== 'assets' && name !== 'icon.svg') return undefined;",
        put: '',
      },
    ],
    attacks: ['nothing else is read > /.built-from'],
    tests: ['contract/web-files'],
  },
  {
    check: 'another site opens a page only as the whole of a tab',
    edits: [{ file: server, find: "isOnly('sec-fetch-dest', 'document') &&", put: '' }],
    attacks: ['nothing else is read > of another site, only a link opens a page: /board'],
    tests: ['contract/web-files'],
  },
  {
    check: 'another site opens a page only by a link',
    edits: [{ file: server, find: "isOnly('sec-fetch-mode', 'navigate') &&", put: '' }],
    attacks: ['nothing else is read > of another site, only a link opens a page: /board'],
    tests: ['contract/web-files'],
  },
  {
    check: 'another site opens pages only',
    edits: [{ file: server, find: 'isPagePath(segments)\n', put: 'isPagePath([])\n' }],
    attacks: [
      'nothing else is read > of another site, only a link opens a page: /assets/page-1.js',
      'nothing else is read > of another site, only a link opens a page: /api/v1/snapshot',
    ],
    tests: ['contract/web-files'],
  },
  ...["script-src 'self'", "default-src 'none'", "frame-ancestors 'none'"].map((directive) => ({
    check: `the policy ${directive} of a page`,
    edits: [{ file: files, find: `    "${directive}",\n`, put: '' }],
    attacks: ['/'],
    tests: ['contract/web-files'],
  })),
  {
    check: 'the file of kept tokens lets its reader not in',
    edits: [
      {
        file: 'server/keys.ts',
        find: "const digest = digestOf(given ?? '');\n    // All",
        put: "const digest = /^[0-9a-f]{64}$/.test(given ?? '') ? Buffer.from(given ?? '', 'hex') : digestOf(given ?? '');\n    // All",
      },
    ],
    attacks: ['a page keeps its token when the server is started again'],
    tests: ['rules/keys'],
  },
  {
    check: 'a kept token belongs to one repository, host and port',
    edits: [{ file: 'server/kept-tokens.ts', find: 'JSON.stringify([repository, host, port])', put: "''" }],
    attacks: [
      'a page keeps its token when the server is started again',
      'files of kept tokens that have all ended are deleted',
    ],
    tests: ['rules/keys'],
  },
  {
    check: 'a kept token ends after 12 hours',
    edits: [
      {
        file: 'server/keys.ts',
        find: 'nowMs < untilMs && untilMs <= nowMs + pageTokenMs + clockStepMs',
        put: 'untilMs > 0 && nowMs + pageTokenMs + clockStepMs > 0',
      },
    ],
    attacks: ['a page keeps its token when the server is started again'],
    tests: ['rules/keys'],
  },
  {
    check: 'the token of a code that came twice is not kept',
    edits: [{ file: 'server/keys.ts', find: '{ ...one, endsWithServer: true } : one', put: 'one : one' }],
    attacks: ['the token of a code that came twice ends with the server, and other tokens are kept'],
    tests: ['rules/keys'],
  },
];
