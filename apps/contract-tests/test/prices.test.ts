import { createClient, createSale } from '@reseller/operator-client';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { command } from './run-command.ts';
import type { CommandResult } from './run-command.ts';
import { startSandbox } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
});

afterAll(() => sandbox.close());

function full(only: readonly string[], ...more: readonly string[]): Promise<CommandResult> {
  return command(['--target', sandbox.url.href, '--mode', 'full', ...more, '--only', ...only], { RESELLER_API_KEY: sandbox.apiKey });
}

async function ask(path: string): Promise<{ readonly data: unknown }> {
  const response = await fetch(new URL(path, sandbox.url), { headers: { 'x-service-apikey': sandbox.apiKey } });
  const data: unknown = Object(await response.json()).data;
  return { data };
}

/** The monthly prices of all VMs on the current invoice. */
async function monthlyPrices(): Promise<readonly number[]> {
  const { data } = await ask('/accounting/invoices/current');
  return Object.values(Object(data).positions.vms).flatMap((positions) =>
    Object(positions).map((one: { monthlyPrice: number }) => one.monthlyPrice),
  );
}

test('lists a purchase with its price, and makes it only if the budget is sufficient to the cent', async () => {
  const first = await full(['registerDomain']);
  expect(first.code).toBe(2);
  expect(first.output).toMatch(
    /COSTS {4}POST \/domain\/register .*\n +11\.00 net, 13\.09 gross: the first year of \.net, by getDomainPricings/,
  );
  expect(first.output).toContain('In total 11.00 net, 13.09 gross.');
  expect(first.output).toMatch(/To do this, add --budget 13\.09 --yes$/);

  const short = await full(['registerDomain'], '--budget', '13.08', '--yes');
  expect(short.code).toBe(2);
  expect(short.output).toContain('The budget of 13.08 is too small: the purchases cost 13.09.');
  expect(await ask('/domain/list')).toMatchObject({ data: { list: [sandbox.things.domain] } });

  const { code, output } = await full(['registerDomain'], '--budget', '13.09', '--yes');
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('Spent: 13.09') });
  expect(await ask('/domain/list')).toMatchObject({
    data: { list: expect.arrayContaining([expect.stringMatching(/^contract-.+\.net$/)]) },
  });
});

test('prices the withdrawal of a cancellation as a renewal', async () => {
  const { server, domain } = sandbox.things;
  const { output } = await full([`undeleteDedicatedServer=${server}`, `undeleteDomain=${domain}`]);
  expect(output).toMatch(/POST \/domain\/\S+\/undelete .*\n +12\.00 net, 14\.28 gross: the next renewal of \.net/);
  const { data } = await ask(`/dedicated/${server}/info`);
  const { net } = Object(data).accounting.price;
  expect(output).toMatch(
    new RegExp(`undelete .*\\n +${net.toFixed(2).replace('.', '\\.')} net, .* each further 30 days of the server, by listDedicatedServers`),
  );
});

test('prices a VM by its host system, without an allowance for unknown prices', async () => {
  const first = await full(['createVm', 'registerDomain']);
  expect(first.code).toBe(2);
  // 2 x 2.00 + 4 GB x 1.20 + 40 x 0.04
  expect(first.output).toMatch(
    /COSTS {4}PUT \/vm\/create .*\n +10\.40 net, 12\.38 gross: at most, for each 30 days that it runs, by listVmHosts/,
  );
  expect(first.output).toContain('In total 21.40 net, 25.47 gross.');
  expect(first.output).toMatch(/To do this, add --budget 25\.47 --yes$/);

  const { code, output } = await full(['createVm', 'registerDomain'], '--budget', '25.47', '--yes');
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('Spent: 25.47') });
  expect(await monthlyPrices()).toContain(10.4);
});

test('prices a VM by an active sale, and the service charges at most that price', async () => {
  const client = createClient({ baseUrl: sandbox.operatorUrl.href, token: sandbox.operatorToken });
  const begun = new Date(Date.now() - 86_400_000).toISOString();
  const pricings = { nl_ryzen: { core: '1.01', mem: '0.33', nvme: '0.01' } };
  await createSale({ client, body: { title: 'All of it', start_date: begun, upgradable: true, max_volume: 9, pricings } });
  const first = await full(['createVm']);
  // 2 x 1.01 + 4 GB x 0.33 + 40 x 0.01
  expect(first.output).toMatch(
    /PUT \/vm\/create .*\n +3\.74 net, 4\.\d+ gross: at most, for each 30 days that it runs, by the sale "All of it"/,
  );
  const budget = /--budget (\S+) --yes$/.exec(first.output)?.[1] ?? '';
  const { code, output } = await full(['createVm'], '--budget', budget, '--yes');
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining(`Spent: ${budget}`) });
  expect(await monthlyPrices()).toContain(3.74);
});
