/** WebSockets, amounts and times, and the words of requests and answers. */

import type { RemovedCheck } from './removed-check.ts';

const server = 'server/server.ts';
const keys = 'server/keys.ts';
const USE = "keys.useTicket(target?.query.get('ticket'))";
const UPGRADE = `const mayEnter = this.#mayPass(request) && isKnown && ${USE};`;

export const sockets: readonly RemovedCheck[] = [
  {
    check: 'a WebSocket passes Host, Origin and Sec-Fetch-Site',
    edits: [
      {
        file: server,
        find: UPGRADE,
        put: `const mayEnter = isKnown && ${USE};`,
      },
    ],
    attacks: [
      'a WebSocket > for the output of a session needs a ticket, too',
      'a WebSocket > of a page on another port',
      'a WebSocket > of a page of another site',
      'a WebSocket > of a page without an origin',
      'a WebSocket > of a rebound name',
      'a WebSocket > that a browser calls cross-site',
      'no token, code or ticket is in what the server tells the person',
    ],
  },
  {
    check: 'a WebSocket needs a ticket',
    edits: [{ file: server, find: UPGRADE, put: 'const mayEnter = this.#mayPass(request) && isKnown;' }],
    attacks: [
      'a WebSocket > without a ticket, or with the token in its place, is refused',
      'a WebSocket > opens with a ticket once',
      'a WebSocket > for the output of a session needs a ticket, too',
      'a WebSocket > that is refused holds no connection, even if the client keeps its side open',
    ],
  },
  {
    check: 'a WebSocket for the output of a session needs a ticket',
    edits: [
      {
        file: server,
        find: UPGRADE,
        put: `const mayEnter = this.#mayPass(request) && isKnown && (shown !== undefined || ${USE});`,
      },
    ],
    attacks: ['a WebSocket > for the output of a session needs a ticket, too'],
  },
  {
    check: 'a ticket works once',
    edits: [
      {
        file: keys,
        find: 'this.#tickets = valid.filter((one) => !timingSafeEqual(one.digest, digest));\n    return given !== undefined && this.#tickets.length < valid.length;',
        put: 'return given !== undefined && valid.some((one) => timingSafeEqual(one.digest, digest));',
      },
    ],
    attacks: [
      'a WebSocket > opens with a ticket once',
      'a WebSocket > for the output of a session needs a ticket, too',
    ],
  },
  {
    check: 'a ticket ends after 30 seconds',
    edits: [
      {
        file: keys,
        find: 'return this.#tickets.filter(({ untilMs }) => nowMs < untilMs);',
        put: 'void nowMs;\n    return this.#tickets;',
      },
    ],
    attacks: ['a ticket opens once, within 30 seconds'],
    tests: ['rules/keys'],
  },
  {
    check: 'a ticket is used up only after all other checks',
    edits: [
      {
        file: server,
        find: UPGRADE,
        put: `const mayEnter = ${USE} && this.#mayPass(request) && isKnown;`,
      },
    ],
    attacks: [
      'a WebSocket > for the output of a session needs a ticket, too',
      'a WebSocket > of a page on another port',
      'a WebSocket > of a page of another site',
      'a WebSocket > of a page without an origin',
      'a WebSocket > of a rebound name',
      'a WebSocket > that a browser calls cross-site',
    ],
  },
  {
    check: 'a WebSocket opens on one path',
    edits: [
      {
        file: server,
        find: 'const isKnown = shown !== undefined || matchPath(`${API}/stream`, segments) !== undefined;',
        put: 'const isKnown = true;',
      },
    ],
    attacks: ['a WebSocket > opens on no other path'],
  },
  {
    check: 'a refused upgrade is closed on both sides',
    edits: [{ file: server, find: 'socket.end(text, () => socket.destroy());', put: 'socket.end(text);' }],
    attacks: ['a WebSocket > that is refused holds no connection, even if the client keeps its side open'],
  },
  {
    check: 'a frame has at most 64 KB',
    edits: [{ file: server, find: 'maxPayload: serving.limits.frameBytes,', put: 'maxPayload: 2 ** 30,' }],
    attacks: ['a WebSocket > that sends a frame of more than 64 KB is closed, and no other'],
  },
  {
    check: 'a WebSocket that does not answer is cut when the server stops',
    edits: [{ file: server, find: 'entrance.cut();', put: '' }],
    attacks: ['a WebSocket > that does not answer does not keep the server from stopping'],
  },
];

export const amounts: readonly RemovedCheck[] = [
  {
    check: 'headers have at most 16 KB',
    edits: [{ file: server, find: 'maxHeaderSize: limits.headerBytes,', put: 'maxHeaderSize: 2 ** 20,' }],
    attacks: ['a request that is no request > but has headers of more than 16 KB is answered with 431'],
  },
  {
    check: 'headers come in time',
    edits: [{ file: server, find: 'headersTimeout: limits.headersMs,', put: 'headersTimeout: 0,' }],
    attacks: [
      'a client that is slow or sends too much > with headers that never end, or that says nothing at all, is cut off',
    ],
  },
  {
    check: 'a request ends in time',
    edits: [
      { file: server, find: 'requestTimeout: limits.requestMs,', put: 'requestTimeout: 0,' },
      { file: server, find: '    }, this.#serving.limits.requestMs);', put: '    }, 2 ** 30);' },
    ],
    attacks: [
      'a client that is slow or sends too much > with a body that never ends is cut off',
      'requests that wait for a board that is away are bounded, and the rest is told that nothing was done',
    ],
  },
  {
    check: 'a body has at most its limit',
    edits: [
      {
        file: 'server/body.ts',
        find: "if (Number(request.headers['content-length'] ?? 0) > mostBytes)",
        put: 'if (mostBytes < 0)',
      },
      { file: 'server/body.ts', find: 'if (bytes > mostBytes) stop', put: 'if (mostBytes < 0) stop' },
    ],
    attacks: [
      'a client that is slow or sends too much > with a body that is too large is refused by its length, or when it gets too long',
    ],
  },
  {
    check: 'a body without a length is counted',
    edits: [{ file: 'server/body.ts', find: 'if (bytes > mostBytes) stop', put: 'if (mostBytes < 0) stop' }],
    attacks: [
      'a client that is slow or sends too much > with a body that is too large is refused by its length, or when it gets too long',
    ],
  },
  {
    check: 'few bodies of strangers are in memory',
    edits: [
      {
        file: 'server/open-doors.ts',
        find: 'if (this.#bodies >= this.#limits.unverifiedBodies)',
        put: 'if (this.#bodies < 0)',
      },
    ],
    attacks: [
      'a request to a trigger > is answered with 503 while too many bodies are held',
      'a request to a trigger > whose body hangs keeps no person out, and ends in time',
    ],
    tests: ['contract/triggers'],
  },
  {
    check: 'bodies of strangers come in time',
    edits: [
      {
        file: 'server/open-doors.ts',
        find: 'readBody(request, this.#limits.bodyBytes, this.#limits.unverifiedMs)',
        put: 'readBody(request, this.#limits.bodyBytes)',
      },
    ],
    attacks: ['a request to a trigger > whose body hangs keeps no person out, and ends in time'],
    tests: ['contract/triggers'],
  },
  {
    check: 'without a signature, no body is read',
    edits: [{ file: 'server/open-doors.ts', find: 'return hasSignature(headers)', put: 'return headers' }],
    attacks: ['a request to a trigger > without any signature is refused before its body is read'],
    tests: ['contract/triggers'],
  },
  {
    check: 'strangers do not hear where a secret is',
    edits: [
      {
        file: 'intake/signatures/verify.ts',
        find: 'if (!told.has(text)) onProblem(text);',
        put: 'if (told.size >= 0) throw error;',
      },
    ],
    attacks: [
      'a request to a trigger > whose secret cannot be read is refused like any other; only the person hears why, once',
    ],
    tests: ['contract/triggers'],
  },
  {
    check: 'an address has at most 2 KB',
    edits: [
      {
        file: 'server/rules/target.ts',
        find: 'if (text.length > mostLength)',
        put: 'if (text.length > 2 ** 20)',
      },
    ],
    attacks: ['a request that is no request > with an address of more than 2 KB is refused, and told why'],
  },
  {
    check: 'requests of one connection that have no answer are few',
    edits: [
      { file: server, find: 'if (unanswered > this.#serving.limits.pipelined)', put: 'if (unanswered < 0)' },
    ],
    attacks: ['a client that sends many requests without waiting for their answers is cut off'],
  },
  {
    check: 'the id of a signed delivery has no dot',
    edits: [{ file: 'intake/signatures/verify.ts', find: ".filter((one) => !one.includes('.'))", put: '' }],
    attacks: ['a request to a trigger > is not the same bytes with another border between id and body'],
    tests: ['contract/triggers'],
  },
  {
    check: 'connections have a limit',
    edits: [{ file: server, find: 'server.maxConnections = limits.connections;', put: '' }],
    attacks: ['of 300 clients that come at once, more than the limit are closed at the door'],
  },
];

const SAFE = {
  'cache-control': "'cache-control': 'no-store',",
  'content-security-policy': "'content-security-policy': \"default-src 'none'; frame-ancestors 'none'\",",
  'cross-origin-resource-policy': "'cross-origin-resource-policy': 'same-origin',",
  'referrer-policy': "'referrer-policy': 'no-referrer',",
  'x-content-type-options': "'x-content-type-options': 'nosniff',",
};

export const words: readonly RemovedCheck[] = [
  {
    check: 'the strict parser of HTTP',
    edits: [{ file: server, find: 'insecureHTTPParser: false,', put: 'insecureHTTPParser: true,' }],
    attacks: ['a request that is no request > but has a length and chunks (smuggling) is answered with 400'],
  },
  {
    check: 'the target of a request is a path',
    edits: [
      {
        file: 'server/rules/target.ts',
        find: "const at = text.indexOf('?');",
        put: "text = text.replace(/^http:\\/\\/[^/]*/, '');\n  const at = text.indexOf('?');",
      },
      { file: 'server/rules/target.ts', find: '!/^\\/[\\x21-\\x7e]*$/.test(text) || ', put: '' },
    ],
    attacks: ['a request that is no request > but has the address of another server is answered with 401'],
  },
  {
    check: 'no part of a path leads elsewhere',
    edits: [
      {
        file: 'server/rules/target.ts',
        find: "segment.split('/').every((name) => !['', '.', '..'].includes(name)) && !/[\\\\\\p{Cc}]/u.test(segment)",
        put: "segment !== ''",
      },
    ],
    attacks: ['the target of a request > ', 'a target that is none says why > '],
    tests: ['rules/target'],
  },
  {
    check: 'no header has a text of a client',
    edits: [
      {
        file: server,
        find: "rawAnswer(badCursor(), 'Bad Request')",
        put: "rawAnswer({ ...badCursor(), headers: { 'x-after': target.query.get('after') ?? '' } }, 'Bad Request')",
      },
    ],
    attacks: [
      'a text of a client cannot write a header of a refused upgrade, which the server writes by hand',
    ],
  },
  ...Object.entries(SAFE).map(([name, find]) => ({
    check: `the header ${name}`,
    edits: [{ file: 'server/answer.ts', find, put: '' }],
    attacks: ['every answer has the headers that keep browsers from using it elsewhere'],
  })),
  {
    check: 'there are only routes of people',
    edits: [
      {
        file: 'server/api/routes.ts',
        find: ".filter(({ callers }) => callers.includes('person'))",
        put: '',
      },
    ],
    attacks: ['the caller > has no route for what people may not do'],
    tests: ['contract/operations'],
  },
  {
    check: 'what destroys is confirmed',
    edits: [
      {
        file: 'server/api/answer-call.ts',
        find: "operation.effect === 'destroys' && headers['confirm'] !== operation.name",
        put: "operation.effect === 'destroys' && headers['confirm'] === 'never'",
      },
    ],
    attacks: [
      'an operation that destroys > needs its name as a confirmation, and the answer says how to undo it',
    ],
    tests: ['contract/operations'],
  },
];
