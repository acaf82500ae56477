/** Who may enter: the head of a request, and secrets. */

import type { RemovedCheck } from './removed-check.ts';

const entry = 'server/rules/entry.ts';
const server = 'server/server.ts';
const keys = 'server/keys.ts';
const HOST = 'if (host.length !== 1 || onlyHost === undefined || !hosts.has(onlyHost.toLowerCase()))';
const ORIGIN = 'if (origin.length > 1 || origin.some((one) => !origins.has(one)))';
const SITE = 'if (fetchSite.length > 1 || (isForeign && !isPageOpened))';
const PASS = 'if (!this.#mayPass(request)) return refusedAnswer;';
const BEARER = "const token = bearerOf(request.headersDistinct['authorization'] ?? []);";
const TOKEN =
  'const caller = keys.isToken(token) ? PERSON : token && (await this.#sessionOf(token));\n      if (!caller) return refusedAnswer;';

export const inHead: readonly RemovedCheck[] = [
  {
    check: 'the Host is in a list',
    edits: [{ file: entry, find: HOST, put: 'if (host.length !== 1 || onlyHost === undefined)' }],
    attacks: [
      'a page in the person’s browser, even with the token > whose name was bound to this machine (DNS rebinding) is refused by its Host',
    ],
  },
  {
    check: 'in clear, only this machine itself has a name',
    edits: [
      {
        file: 'cli/commands/server/place.ts',
        find: '!isWildcard(host) && (tls !== null || isLoopbackName(host))',
        put: '!isWildcard(host)',
      },
    ],
    attacks: ['in clear, an address of the network has no name beside those of the proxy'],
    tests: ['rules/entry'],
  },
  {
    check: 'the Host comes once',
    edits: [{ file: entry, find: HOST, put: "if (!hosts.has((onlyHost ?? '').toLowerCase()))" }],
    attacks: ['a request that is no request > but has two hosts is answered with 401'],
  },
  {
    check: 'a stranger with an expectation is refused first',
    edits: [
      {
        file: server,
        find: 'beforeBody(request, () => response.writeContinue());',
        put: 'void beforeBody;\n      response.writeContinue();',
      },
      { file: server, find: "server.on('checkExpectation', handle);", put: '' },
    ],
    attacks: ['a stranger who expects '],
  },
  {
    check: 'the Origin is in a list',
    edits: [{ file: entry, find: ORIGIN, put: 'if (origin.length > 1)' }],
    attacks: [
      'a page in the person’s browser, even with the token > on another port of this machine is refused by its Origin',
      'a page in the person’s browser, even with the token > with another scheme is refused by its Origin',
      'a page in the person’s browser, even with the token > that sends a form from another site is refused',
      'a WebSocket > of a page on another port',
      'a WebSocket > of a page of another site',
      'a WebSocket > of a page without an origin',
      'a WebSocket > for the output of a session needs a ticket, too',
      'no token, code or ticket is in what the server tells the person',
    ],
  },
  {
    check: 'the port of the Origin counts',
    edits: [
      {
        file: entry,
        find: ORIGIN,
        put: "const portless = (one: string) => one.replace(/:\\d+$/, '');\n  if (origin.some((one) => ![...origins].some((own) => portless(own) === portless(one))))",
      },
    ],
    attacks: [
      'a page in the person’s browser, even with the token > on another port of this machine is refused by its Origin',
      'a WebSocket > of a page on another port',
      'a WebSocket > for the output of a session needs a ticket, too',
    ],
  },
  {
    check: 'the scheme of the Origin counts',
    edits: [
      {
        file: entry,
        find: ORIGIN,
        put: "if (origin.some((one) => !origins.has(one.replace(/^https:/, 'http:'))))",
      },
    ],
    attacks: [
      'a page in the person’s browser, even with the token > with another scheme is refused by its Origin',
    ],
  },
  {
    check: 'the Origin is not compared with the Host of the request instead of a list',
    edits: [
      { file: entry, find: HOST, put: 'if (host.length !== 1 || onlyHost === undefined)' },
      {
        file: entry,
        find: ORIGIN,
        put: "if (origin.some((one) => one.replace('http://', '') !== onlyHost))",
      },
    ],
    attacks: [
      'a page in the person’s browser, even with the token > whose name was bound to this machine (DNS rebinding) is refused by its Host',
    ],
  },
  {
    check: 'Sec-Fetch-Site',
    edits: [{ file: entry, find: SITE, put: 'void isForeign;\n  if (fetchSite.length > 1)' }],
    attacks: [
      'a page in the person’s browser, even with the token > that sends a form from another site is refused',
      'a page in the person’s browser, even with the token > that asks for an image, a script or a frame is refused by Sec-Fetch-Site',
      'a WebSocket > that a browser calls cross-site',
    ],
  },
  {
    check: 'Sec-Fetch-Site of another port of this machine',
    edits: [
      {
        file: entry,
        find: "fetchSite.some((one) => one !== 'same-origin' && one !== 'none')",
        put: "fetchSite.some((one) => one === 'cross-site')",
      },
    ],
    attacks: [
      'a page in the person’s browser, even with the token > that asks for an image, a script or a frame is refused by Sec-Fetch-Site',
    ],
  },
  {
    check: 'a refused Host or Origin gets the bytes of all refusals',
    edits: [{ file: server, find: PASS, put: 'if (!this.#mayPass(request)) return noSuchPath();' }],
    attacks: [
      'a page in the person’s browser, even with the token > ',
      'a request that is no request > but has two hosts is answered with 401',
    ],
  },
  {
    check: 'open paths pass Host and Origin too',
    edits: [
      {
        file: server,
        find: PASS,
        put: "if (!/^\\/(healthz|triggers|api\\/v1\\/enter)/.test(request.url ?? '') && !this.#mayPass(request)) return refusedAnswer;",
      },
    ],
    attacks: [
      'a page in the person’s browser, even with the token > whose name was bound to this machine (DNS rebinding) is refused by its Host',
      'a page in the person’s browser, even with the token > that sends a form from another site is refused',
      'a request that is no request > but has two hosts is answered with 401',
    ],
  },
];

export const secrets: readonly RemovedCheck[] = [
  {
    check: 'the token',
    edits: [{ file: server, find: TOKEN, put: 'void [keys, token];\n      const caller = PERSON;' }],
    attacks: [
      'without a token > ',
      'an offer of another protocol is ignored',
      'a stranger who expects ',
      'HEAD is answered as GET',
      'a request that is no request > but has two tokens',
      'a request that is no request > but has the address of another server',
    ],
  },
  {
    check: 'the token comes before the path is looked for',
    edits: [
      { file: server, find: TOKEN, put: `if (target === undefined) return wrongTarget('');\n      ${TOKEN}` },
    ],
    attacks: [
      'without a token > GET /../../etc/passwd is answered with the same bytes',
      'without a token > GET /%2e%2e/%2e%2e/etc/passwd is answered with the same bytes',
      'a request that is no request > but has the address of another server is answered with 401',
    ],
  },
  {
    check: 'the token is in no address',
    edits: [
      {
        file: server,
        find: BEARER,
        put: BEARER.replace(';', " ?? target?.query.get('token');"),
      },
    ],
    attacks: ['without a token > a token in the address, a cookie or a Referer is none'],
  },
  {
    check: 'the token is in no cookie',
    edits: [
      {
        file: server,
        find: BEARER,
        put: BEARER.replace(';', " ?? request.headers.cookie?.replace('token=', '');"),
      },
    ],
    attacks: ['without a token > a token in the address, a cookie or a Referer is none'],
  },
  {
    check: 'the token comes once',
    edits: [{ file: entry, find: 'if (authorization.length !== 1) return undefined;', put: '' }],
    attacks: ['a request that is no request > but has two tokens is answered with 401'],
  },
  {
    check: 'all of the token is compared',
    edits: [
      {
        file: keys,
        find: 'return given !== undefined && equal.length > 0;',
        put: 'return given !== undefined && (equal.length > 0 || given.length === this.token.length);',
      },
    ],
    attacks: ['without a token > another token is none', 'without the token, the same bytes come from > '],
    tests: ['faults/entry', 'faults/every-route'],
  },
  {
    check: 'a code works once',
    edits: [
      {
        file: keys,
        find: 'if (!isRight) return undefined;\n    this.#code = undefined;',
        put: 'if (!isRight) return undefined;',
      },
    ],
    attacks: [
      'a code > becomes a token once; a replay is refused',
      'without a token > a used code is answered with the same bytes, and told once to the person',
    ],
  },
  {
    check: 'a code ends after 5 minutes',
    edits: [
      {
        file: keys,
        find: 'if (code === undefined || this.#nowMs() >= code.untilMs) return undefined;',
        put: 'if (code === undefined) return undefined;',
      },
    ],
    attacks: ['a code ends after 5 minutes, and with the next code'],
    tests: ['rules/keys'],
  },
  {
    check: 'a code is in the part of an address that browsers send to no server',
    edits: [{ file: 'server/routes.ts', find: '/#code=${keys', put: '/?code=${keys' }],
    attacks: ['a code > a new one is given for a token'],
  },
  {
    check: 'the terminal tells no address',
    edits: [
      {
        file: server,
        find: '${JSON.stringify(check.given.slice(0, 100))}.`;',
        put: '${JSON.stringify(check.given.slice(0, 100))}: ${request.url}`;',
      },
    ],
    attacks: ['no token, code or ticket is in what the server tells the person'],
  },
  {
    check: 'a fault of the server is told to the person only',
    edits: [
      {
        file: 'server/explain.ts',
        find: "problem('unexpected', 'The server made a mistake; its terminal says more.', 'copse doctor')",
        put: "problem('unexpected', String(error), 'copse doctor')",
      },
    ],
    attacks: ['a handler that fails answers, and the server goes on'],
  },
];
