/** The address of a board on PostgreSQL. */

import { describe, expect, it } from 'vitest';

import { parseAddress } from '../../../packages/copse/src/board/postgres/address.ts';

const none = {};

describe('TLS', () => {
  it.each([
    ['postgres://h/d', none, { isSslOptional: true, verifies: false }],
    ['postgres://127.0.0.1/d', none, 'none'],
    ['postgres://localhost/d', none, 'none'],
    ['postgres://h/d?sslmode=disable', none, 'none'],
    ['postgres://h/d?sslmode=require', none, { isSslOptional: false, verifies: false }],
    ['postgres://127.0.0.1/d?sslmode=require', none, { isSslOptional: false, verifies: false }],
    ['postgres://h/d?sslmode=verify-full', none, { isSslOptional: false, verifies: true }],
    ['postgres://h/d', { PGSSLMODE: 'verify-full' }, { isSslOptional: false, verifies: true }],
    ['postgres://h/d?sslmode=disable', { PGSSLMODE: 'verify-full' }, 'none'],
  ] as const)('%s with %j: %j', (url, env, expected) => {
    const { ssl, isSslOptional } = parseAddress(url, env);
    expect(ssl === false ? 'none' : { isSslOptional, verifies: ssl.rejectUnauthorized !== false }).toEqual(
      expected,
    );
  });

  it('is named neither to the driver, which warns of it, nor in the location', () => {
    const { connectionString, location } = parseAddress('postgres://u:p@h/d?sslmode=require&schema=s', none);
    expect([connectionString, location]).toEqual(['postgres://u:p@h/d', 'postgres://h/d?schema=s']);
  });

  it.each([
    ['postgres://h/d?sslmode=verify-ca', /needs the certificate authority/],
    ['postgres://h/d?sslmode=always', /unknown sslmode: always/],
    ['postgres://h/d?sslrootcert=/nowhere/ca.pem', /sslrootcert .* cannot be read: \/nowhere\/ca\.pem/],
  ])('%s is refused with a reason', (url, reason) => {
    expect(() => parseAddress(url, none)).toThrow(reason);
  });
});
