/** A server of the PostgreSQL that the system has installed, with the tools of its version. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { Client } from 'pg';
import { onTestFinished, vi } from 'vitest';

import { freePort } from '../../../.config/free-ports.ts';
import { openTemporaryFolder } from '../../../.config/postgres-binaries.ts';

/** PostgreSQL refuses to run as root. */
const AS_POSTGRES = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : ['env'];
const BIN = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' }).stdout?.trim() ?? '';

export const systemPostgresMissing: string | undefined =
  spawnSync(join(BIN, 'postgres'), ['--version']).status === 0 && spawnSync('pg_dump', ['--version']).status === 0
    ? undefined
    : 'the packages postgresql and postgresql-client are not installed';

/** Starts it. It ends with the test. @returns The connection string of an empty database. */
export async function systemPostgres(): Promise<string> {
  const folder = mkdtempSync(join(openTemporaryFolder(), 'postgres-'));
  const data = join(folder, 'data');
  const [command = '', ...given] = AS_POSTGRES;
  if (command === 'runuser') execFileSync('chown', ['postgres', folder]);
  execFileSync(command, [...given, join(BIN, 'initdb'), '-D', data, '-U', 'postgres', '--auth=trust', '--no-sync'], {
    stdio: 'ignore',
    cwd: '/',
  });
  const port = await freePort();
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'fsync=off'];
  const server = spawn(command, [...given, join(BIN, 'postgres'), '-D', data, '-p', String(port), ...settings], {
    stdio: 'ignore',
    cwd: '/',
  });
  onTestFinished(() => {
    spawnSync(command, [...given, join(BIN, 'pg_ctl'), '-D', data, '-m', 'immediate', 'stop'], { cwd: '/' });
    server.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await vi.waitFor(
    async () => {
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.end();
    },
    { timeout: 300_000, interval: 100 },
  );
  return url;
}
