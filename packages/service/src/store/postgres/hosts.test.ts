import { expect, test } from 'vitest';

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
