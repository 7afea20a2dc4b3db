/** Adapters that the process loads from a module. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { expect, test } from 'vitest';

import { runServer, startServer, temporaryDirectory } from './process.ts';

const EXAMPLE = resolve(import.meta.dirname, '../../../examples/adapter/adapters.js');
const LIVE = {
  RESELLER_MODE: 'live',
  RESELLER_EXTENSION: 'on',
  RESELLER_OPERATOR_TOKEN: 'operator-token-of-a-live-service-0123',
  RESELLER_PUBLIC_URL: 'https://api.example.com',
};

function moduleWith(code: string): string {
  const path = join(temporaryDirectory(), 'adapters.js');
  writeFileSync(path, code);
  return path;
}

test('a VM that is bought exists at the hypervisor of the module, with the mark of the service, also after a restart', async () => {
  const data = temporaryDirectory();
  const environment = { RESELLER_DATA_DIR: data, RESELLER_ADAPTERS: EXAMPLE };
  function inventory() {
    const folder = join(data, 'adapters/inventory');
    return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  }
  async function buy({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): Promise<number> {
    const body = new URLSearchParams({ cores: '2', mem: '4096', disk: '40', os: 'debian_12', hostsystem: 'nl_ryzen' });
    const response = await fetch(`${baseUrl}/vm/create`, { method: 'PUT', headers: { 'X-SERVICE-APIKEY': apiKey }, body });
    const { data: bought }: { data: { identifier: number } } = JSON.parse(await response.text());
    return bought.identifier;
  }
  const first = await startServer(environment);
  const ready = await (await fetch(`${first.baseUrl}/readyz`)).json();
  expect(ready).toEqual({ status: 'ready', simulated: ['fleet', 'registrar', 'dns'] });
  const vmId = await buy(first);
  expect(inventory()).toEqual([expect.objectContaining({ vmId, cores: 2, mem: 4096, state: 'running' })]);
  await first.end('SIGKILL');

  const second = await startServer(environment);
  await buy(second);
  const [one, other] = inventory();
  expect(one.service).toMatch(/^[0-9a-f]{16}$/);
  expect(other.service).toBe(one.service);
});

test('a live service names each port that has neither an adapter nor a simulation', async () => {
  const environment = { ...LIVE, RESELLER_DATA_DIR: temporaryDirectory() };
  const bare = await runServer(environment);
  expect(bare.stderr).toBe(
    'RESELLER_INFRASTRUCTURE is missing. This live service has no adapter for its hypervisor, fleet, registrar and dns, so it would sell what does not exist. Set RESELLER_ADAPTERS to a module that creates what is missing. Set it to simulated, or only RESELLER_HYPERVISOR, RESELLER_FLEET, RESELLER_REGISTRAR and RESELLER_DNS, to simulate what is missing.\n',
  );
  const half = await runServer({ ...environment, RESELLER_ADAPTERS: EXAMPLE, RESELLER_REGISTRAR: 'simulated' });
  expect(half).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^RESELLER_INFRASTRUCTURE is missing\. .* for its fleet and dns, .*RESELLER_FLEET/),
  });
  const whole = await startServer({
    ...environment,
    RESELLER_ADAPTERS: EXAMPLE,
    RESELLER_REGISTRAR: 'simulated',
    RESELLER_FLEET: 'simulated',
    RESELLER_DNS: 'simulated',
  });
  expect(whole.welcome).toContain(
    'The infrastructure is partly simulated: the dedicated servers, domains and zones that this service sells do not exist.',
  );
});

test.each([
  ['does not exist', () => '/does/not/exist.js', /Cannot find module/],
  ['exports nothing', () => moduleWith('export const adapters = {};'), /It exports no function createAdapters\./],
  [
    'fails',
    () => moduleWith("export function createAdapters() { throw new Error('The cluster does not answer.'); }"),
    /The cluster does not answer\./,
  ],
])('a module that %s: one clear line and exit code 1', async (_name, path, reason) => {
  const { code, stderr } = await runServer({ RESELLER_DATA_DIR: temporaryDirectory(), RESELLER_ADAPTERS: path() });
  expect({ code, lines: stderr.trimEnd().split('\n').length }).toEqual({ code: 1, lines: 1 });
  expect(stderr).toMatch(
    /^RESELLER_ADAPTERS is '.*', which cannot be used\. .* Set it to a JavaScript module that exports createAdapters\.\n$/,
  );
  expect(stderr).toMatch(reason);
});

test('a port with an adapter and a simulation: one clear line and exit code 1', async () => {
  const { code, stderr } = await runServer({
    RESELLER_DATA_DIR: temporaryDirectory(),
    RESELLER_ADAPTERS: EXAMPLE,
    RESELLER_HYPERVISOR: 'simulated',
  });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `RESELLER_HYPERVISOR is 'simulated', but ${EXAMPLE} has a hypervisor. Set only one of them.\n`,
  });
});
