/** PgBouncer between the service and the database. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { freePort } from '../../../../../.config/free-ports.ts';
import { newDatabase } from '../../../test/engines.ts';
import { openPostgresStore } from './open.ts';

const PROGRAM = '/usr/sbin/pgbouncer';

/** Starts a PgBouncer before a database. @returns The URL through it. */
async function startPgBouncer(database: string, poolMode: string, poolSize: number): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(database);
  const [directory, listenPort] = [mkdtempSync(join(tmpdir(), 'pgbouncer-')), await freePort()];
  const server = `host=${hostname} port=${port} user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`;
  const settings = join(directory, 'pgbouncer.ini');
  writeFileSync(
    settings,
    `[databases]
* = ${server} pool_size=${poolSize}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = ${poolMode}
ignore_startup_parameters = extra_float_digits
`,
  );
  // It refuses to run as root.
  const asAnother = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const bouncer = spawn(PROGRAM, [...asAnother, settings], { stdio: 'ignore' });
  onTestFinished(() => {
    bouncer.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });
  const url = `postgres://${username}:${password}@127.0.0.1:${listenPort}${pathname}`;
  await vi.waitFor(
    async () => {
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.end();
    },
    { timeout: 300_000 },
  );
  return url;
}

describe.skipIf(!existsSync(PROGRAM))(`PgBouncer${existsSync(PROGRAM) ? '' : ' is not installed'}`, () => {
  test.each([
    ['transaction', 1],
    ['transaction', 20],
    ['statement', 20],
  ])('in the mode %s with %i connections is refused at the start with what to change', async (mode, poolSize) => {
    const url = await startPgBouncer(await newDatabase(), mode, poolSize);
    await expect(openPostgresStore(url)).rejects.toThrow(
      'The database server of DATABASE_URL is a connection pooler that changes the server connection of a client. The service needs one for each of its connections: set pool_mode = session in PgBouncer, or name the database server itself in DATABASE_URL.',
    );
  });

  test('in the mode session is used', async () => {
    const store = await openPostgresStore(await startPgBouncer(await newDatabase(), 'session', 20));
    await expect(store.read((db) => db.selectFrom('accounts').selectAll().execute())).resolves.toEqual([]);
    await store.close();
  });
});
