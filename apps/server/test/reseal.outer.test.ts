import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createReseller } from '@reseller/client';
import { expect, test } from 'vitest';

import { runCommand, runServer, startServer, temporaryDirectory } from './process.ts';

test('the secret in the data folder is rotated: everything is readable, and the old secret is refused', { tags: 'deep' }, async () => {
  const directory = temporaryDirectory();
  const place = { RESELLER_DATA_DIR: directory };
  const file = join(directory, 'secret');
  const passwords = async (environment: Readonly<Record<string, string>>) => {
    const server = await startServer({ ...place, ...environment });
    const { dedicated } = createReseller({ baseUrl: server.baseUrl, apiKey: server.apiKey });
    const servers = await dedicated.list();
    await server.end('SIGTERM');
    return servers.flatMap(({ management }) => management?.password ?? []);
  };
  const before = await passwords({});
  expect(before.length).toBeGreaterThan(0);
  const old = readFileSync(file, 'utf8').trim();
  writeFileSync(file, 'n'.repeat(64));
  const { code, stdout } = await runCommand('reseal', [], { ...place, RESELLER_SECRET_PREVIOUS: old });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^Sealed with the new secret: 0 auth codes, 2 passwords of dedicated servers, the user data of 0 VMs, 1 secret of webhooks, 0 stored responses, 0 values in snapshots\.\n/,
  );
  expect(await passwords({})).toEqual(before);
  writeFileSync(file, old);
  expect((await runServer(place)).stderr).toMatch(/^The secret of this service is not the one/);
  expect(await passwords({ RESELLER_SECRET: 'n'.repeat(64) })).toEqual(before);
});

test('reseal without the previous secret: one clear line and exit code 1', async () => {
  const { code, stderr } = await runCommand('reseal', [], { RESELLER_DATA_DIR: temporaryDirectory() });
  expect([code, stderr]).toEqual([1, 'RESELLER_SECRET_PREVIOUS is missing. Set it to the secret that the service used so far.\n']);
});
