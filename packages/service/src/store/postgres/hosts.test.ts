import { expect, test } from 'vitest';

import { openFailure } from './errors.ts';
import { readDatabaseUrl } from './hosts.ts';

test('reads one host', () => {
  expect(readDatabaseUrl('postgres://us%40er:p%2Cw@db.example:5433/my%20base?sslmode=verify-full')).toEqual({
    user: 'us@er',
    database: 'my base',
    hosts: ['db.example:5433'],
    urls: ['postgres://us%40er:p%2Cw@db.example:5433/my%20base?sslmode=verify-full'],
    targetSession: undefined,
  });
});

test('reads several hosts, in their order, each with its own port', () => {
  expect(readDatabaseUrl('postgresql://user:password@one,two:5433,[::1]:5434/db?target_session_attrs=read-write')).toEqual({
    user: 'user',
    database: 'db',
    hosts: ['one', 'two:5433', '[::1]:5434'],
    urls: [
      'postgresql://user:password@one/db?target_session_attrs=read-write',
      'postgresql://user:password@two:5433/db?target_session_attrs=read-write',
      'postgresql://user:password@[::1]:5434/db?target_session_attrs=read-write',
    ],
    targetSession: 'read-write',
  });
});

test('reads the folder of a socket in the query, as libpq does', () => {
  expect(readDatabaseUrl('postgres://user:password@/db?host=/var/run/postgresql&port=5433&sslmode=disable')).toEqual({
    user: 'user',
    database: 'db',
    hosts: ['%2Fvar%2Frun%2Fpostgresql:5433'],
    urls: ['postgres://user:password@%2Fvar%2Frun%2Fpostgresql:5433/db?sslmode=disable'],
    targetSession: undefined,
  });
  expect(readDatabaseUrl('postgres:///db?host=/folder')?.urls).toEqual(['postgres://%2Ffolder/db']);
});

test.each([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
])('a certificate that is refused with %s has a remedy', (code) => {
  const { message } = openFailure(Object.assign(new Error('self-signed certificate'), { code }), 'postgres://user:secret@db.example/base');
  expect(message).toBe(
    'The certificate of the database server at db.example is not trusted (self-signed certificate). Name the file of its authority in DATABASE_URL, as sslrootcert=/path/ca.pem, or accept any certificate with sslmode=no-verify.',
  );
});

test.each([
  'mysql://user@one/db',
  'postgres://one,/db',
  'postgres://,one/db',
  'postgres://one:port/db',
  'postgres://one,two:99999/db',
  'postgres://one',
  'postgres://one/',
  'postgres://one/a/b',
  'postgres:///db',
  'one,two',
])('%s is not a connection string', (url) => {
  expect(readDatabaseUrl(url)).toBeUndefined();
});
