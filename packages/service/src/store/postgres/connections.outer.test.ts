/** Connection strings as libpq takes them, against a real server: a folder of a socket, and certificates. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';

import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';

import { newDatabase } from '../../../test/engines.ts';
import { openPostgresStore } from './open.ts';

/** The folders of the server's sockets, and whether a session of the URL uses one of them. */
async function socketOf(url: string): Promise<{ readonly folders: string; readonly isUsed: boolean } | undefined> {
  const store = await openPostgresStore(url);
  try {
    const query = sql<{ folders: string; isUsed: boolean }>`
      select current_setting('unix_socket_directories') as folders, inet_client_addr() is null as "isUsed"`;
    return (await store.read((db) => query.execute(db))).rows[0];
  } finally {
    await store.close();
  }
}

test('connects through the socket of a folder that the query names', async ({ skip }) => {
  const url = await newDatabase();
  const { folders = '', isUsed } = (await socketOf(url)) ?? {};
  const [folder = ''] = folders.split(',');
  const { username, password, pathname, port } = new URL(url);
  if (folder === '' || process.env['TEST_DATABASE_URL'] !== undefined) skip('the server has no socket on this machine');
  expect(isUsed).toBe(false);
  const more = `${pathname}?host=${folder}&port=${port || 5432}`;
  expect(await socketOf(`postgres://${username}:${password}@${more}`)).toMatchObject({ isUsed: true });
});

/** A server in front of the database that speaks TLS with a certificate of its own. */
async function withCertificate(url: string): Promise<{ readonly url: string; readonly certificate: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'database-tls-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, '-days', '2', ...subject],
    {
      stdio: 'ignore',
    },
  );
  const { hostname, port, username, password, pathname } = new URL(url);
  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    // A client asks first whether the server speaks TLS.
    client.once('data', () => {
      client.write('S');
      const secure = new TLSSocket(client, { isServer: true, key: readFileSync(key), cert: readFileSync(certificate) });
      const database = connect(Number(port || 5432), hostname);
      for (const socket of [secure, database])
        socket.on('error', () => {
          secure.destroy();
          database.destroy();
        });
      secure.pipe(database).pipe(secure);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port: own }: AddressInfo = Object(server.address());
  return { url: `postgres://${username}:${password}@localhost:${own}${pathname}`, certificate };
}

test('refuses a server with an unknown certificate, says how to go on, and goes on that way', async ({ skip }) => {
  if (spawnSync('openssl', ['version']).error) skip('openssl is not installed');
  const { url, certificate } = await withCertificate(await newDatabase());
  for (const mode of ['require', 'verify-full'])
    await expect(openPostgresStore(`${url}?sslmode=${mode}`)).rejects.toThrow(
      /^The certificate of the database server at localhost:\d+ is not trusted \(self-signed certificate\)\. Name the file of its authority in DATABASE_URL, as sslrootcert=\/path\/ca\.pem, or accept any certificate with sslmode=no-verify\.$/,
    );
  for (const more of [`sslmode=verify-full&sslrootcert=${certificate}`, 'sslmode=no-verify'])
    expect(await socketOf(`${url}?${more}`)).toMatchObject({ isUsed: false });
});
