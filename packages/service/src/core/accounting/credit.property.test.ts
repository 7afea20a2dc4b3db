/** The remaining credit that the current invoice shows is the credit that purchases are checked against. */
import * as operator from '@reseller/operator-client';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { amountOf } from '../../../../../.config/depth.ts';
import { chargeAwkwardPrices } from '../../../test/awkward-prices.ts';
import { marketItem } from '../../../test/dedicated.ts';
import { handleOf, pauseRegistrar, untilReserved } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import type { Engine } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

/** Number of accounts for each kind of purchase. */
const RUNS = amountOf('PROPERTY_RUNS', { usual: 2, deep: 40 });
/** EUR. */
const AMPLE_CREDIT = 1_000_000;

interface Account {
  readonly id: string;
  readonly apiKey: string;
}

/** The status of a purchase, and the message if it was refused. */
interface Outcome {
  readonly status: number;
  readonly message: string;
}

/** Carries out the steps of a purchase that need no credit, and returns the step that needs it. */
type Preparation = (service: TestOperator, account: Account, salt: number) => Promise<() => Promise<Outcome>>;

/** Every operation that needs credit, by its name. */
const purchases: Readonly<Record<string, Preparation>> = {
  createVm:
    async (service, { apiKey }, salt) =>
    () =>
      bySocket(service, 'createVm', { ...SMALL_VM, disk: diskOf(salt) }, apiKey),
  registerDomain: async (service, { apiKey }, salt) => {
    const handle = await handleOf(service, { apiKey });
    return () => bySocket(service, 'registerDomain', { domain: `bought-${salt}-${handle.toLowerCase()}.net`, handle }, apiKey);
  },
  'registerDomain with an auth code': async (service, { apiKey }, salt) => {
    const handle = await handleOf(service, { apiKey });
    const form = { domain: `moved-${salt}-${handle.toLowerCase()}.org`, handle, authcode: 'example-authcode-1' };
    return () => bySocket(service, 'registerDomain', form, apiKey);
  },
  orderDedicatedServer: async (service, account, salt) => {
    const offer = await offerOf(service, (100 + salt) / 100);
    return () => byOperator(operator.orderDedicatedServer({ client: service.client, body: { account_id: account.id, market_id: offer } }));
  },
  startVm: async (service, account, salt) => {
    const path = { vm_id: await vmOf(service, account, salt) };
    await operator.stopVm({ client: service.client, path });
    return () => byOperator(operator.startVm({ client: service.client, path }));
  },
  resizeVm: async (service, account, salt) => {
    const path = { vm_id: await vmOf(service, account, salt) };
    return () => byOperator(operator.resizeVm({ client: service.client, path, body: { cores: 3 + (salt % 8) } }));
  },
};

interface Past {
  readonly orders: readonly number[];
  readonly servers: readonly { readonly price: number; readonly days: number; readonly isCancelled: boolean }[];
  readonly vms: readonly number[];
  readonly hasDomain: boolean;
  readonly seconds: number;
}

/** Runtimes of dedicated servers in days: renewed several times in a period, about once, and rarely. */
const RUNTIMES = [1, 7, 30, 90];

/** Earlier purchases of an account. */
const past = fc.record({
  /** Prices of dedicated servers that are ordered and never set up, in units of 0.00000001 EUR. */
  orders: fc.array(fc.integer({ min: 1, max: 500_000_000_000 }), { maxLength: 2 }),
  servers: fc.array(
    fc.record({ price: fc.integer({ min: 1, max: 100_000_000_000 }), days: fc.constantFrom(...RUNTIMES), isCancelled: fc.boolean() }),
    { maxLength: 2 },
  ),
  vms: fc.array(fc.integer({ min: 0, max: 89 }), { maxLength: 3 }),
  hasDomain: fc.boolean(),
  /** Seconds that pass after the purchases: up to seven weeks, so that invoices are open. */
  seconds: fc.integer({ min: 0, max: 50 * 86_400 }),
});

describe.each(engines)('on %s', (engine) => {
  test.each(Object.entries(purchases))(
    '%s succeeds with exactly the remaining credit, and is refused with one cent less',
    async (_, prepare) => {
      const service = await start(engine);
      let salt = 0;
      await fc.assert(
        fc.asyncProperty(past, fc.integer({ min: 0, max: 9_999 }), async (bought, chosen) => {
          const account = await service.account(`${AMPLE_CREDIT}.00`);
          const pending = await live(service, account, bought);
          salt += 10_000;
          const buy = await prepare(service, account, chosen + salt);
          const taken = AMPLE_CREDIT * 100 - (await expectConsistent(service, account, pending));

          await limitTo(service, account, taken);
          const needed = neededIn(await buy(), 0);
          await limitTo(service, account, taken + needed - 1);
          expect(await remaining(service, account)).toBe(needed - 1);
          expect(neededIn(await buy(), needed - 1)).toBe(needed);
          await limitTo(service, account, taken + needed);
          expect(await remaining(service, account)).toBe(needed);
          expect(await buy()).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) });
          // A resize ends a position, whose rounding may leave a cent.
          expect([0, 1]).toContain(await remaining(service, account));
        }),
        { numRuns: RUNS },
      );
    },
  );

  test('counts a dedicated server from its order on, and its set-up changes nothing', async () => {
    const service = await start(engine);
    const account = await service.account('5000.00');
    const market_id = await offerOf(service, 4800);
    const ordered = await operator.orderDedicatedServer({ client: service.client, body: { account_id: account.id, market_id } });
    expect(await remaining(service, account)).toBe(20_000);
    const management = { dashboard: 'https://d.example', username: 'u', email: 'u@d.example', password: 'p-1234567' };
    const body = { management, ipv4: [{ address: '203.0.113.9', gateway: '203.0.113.1' }] };
    await operator.completeDedicatedSetup({ client: service.client, path: { server_id: ordered.id }, body });
    expect(await remaining(service, account)).toBe(20_000);
  });

  test('counts the renewals of the period that are not cancelled, on both sides of its end', async () => {
    const service = await start(engine);
    service.clock.advanceTo('2026-12-02T00:00:00Z');
    const account = await service.account('5000.00');
    const path = { identifier: await deployedServer(service, account, 100, 10) };
    // The first runtime, and the renewals of 12 and 22 December. That of 1 January 00:00 belongs to January.
    expect(await remaining(service, account)).toBe(500_000 - 30_000);
    await service.call('deleteDedicatedServer', { path, apiKey: account.apiKey });
    expect(await remaining(service, account)).toBe(500_000 - 10_000);
    await limitTo(service, account, 29_999);
    const refused = await service.call('undeleteDedicatedServer', { path, apiKey: account.apiKey });
    expect([refused.status, refused.body.message]).toEqual([
      402,
      expect.stringContaining(
        'needs 200.00 EUR of the credit limit, for the renewals that are due until the end of the month, and 199.99 EUR remain',
      ),
    ]);
    await limitTo(service, account, 30_000);
    expect((await service.call('undeleteDedicatedServer', { path, apiKey: account.apiKey })).status).toBe(200);
    expect(await remaining(service, account)).toBe(0);
    service.clock.advanceTo('2026-12-31T23:59:59Z');
    await service.runScheduledJobs();
    expect(await remaining(service, account)).toBe(0);
    service.clock.advanceTo('2027-01-01T00:00:00Z');
    // 300.00 are unpaid, and January has the renewals of the 1st, 11th, 21st and 31st.
    expect(await remaining(service, account)).toBe(30_000 - 30_000 - 40_000);
  });

  test('counts the renewal of a domain in its period at the price of its date, and needs credit to withdraw a cancellation', async () => {
    const service = await start(engine);
    const account = await service.account('100.00');
    const { apiKey } = account;
    const handle = await handleOf(service, { apiKey });
    expect(await bySocket(service, 'registerDomain', { domain: 'renewed.net', handle }, apiKey)).toMatchObject({ status: 200 });
    await operator.listInvoices({ client: service.client });
    service.clock.advanceTo('2027-11-01T00:00:00Z');
    await service.runScheduledJobs();
    const owed = async () => 10_000 - (await remaining(service, account));
    // 11.00 of the registration are unpaid, and 12.00 of the renewal of 10 November are part of the estimate.
    expect(await owed()).toBe(1_100 + 1_200);
    const prices = { create: '11.00', transfer: '11.00' };
    await operator.scheduleTldPrices({
      client: service.client,
      path: { tld: 'net' },
      body: { ...prices, renew: '30.00', valid_from: '2027-11-05T00:00:00Z' },
    });
    expect(await owed()).toBe(1_100 + 3_000);
    await operator.terminateDomain({ client: service.client, path: { domain: 'renewed.net' } });
    expect(await owed()).toBe(1_100);
    await limitTo(service, account, 4_099);
    const path = { domain: 'renewed.net' };
    expect((await service.call('undeleteDomain', { path, apiKey })).status).toBe(402);
    expect((await service.call('getDomain', { path, apiKey })).body.data.domain.terminated).toBe(true);
    await limitTo(service, account, 4_100);
    expect((await service.call('undeleteDomain', { path, apiKey })).status).toBe(200);
    expect(await remaining(service, account)).toBe(0);
    service.clock.advanceTo('2027-11-20T00:00:00Z');
    await service.runScheduledJobs();
    expect(await remaining(service, account)).toBe(0);
  });

  test('counts a registration while the registrar processes it, and no longer after it fails', async () => {
    const service = await start(engine);
    const account = await service.account('100.00');
    const handle = await handleOf(service, { apiKey: account.apiKey });
    const release = pauseRegistrar(service);
    const registering = bySocket(service, 'registerDomain', { domain: 'in-flight.net', handle }, account.apiKey);
    await untilReserved(service);
    expect(await remaining(service, account)).toBe(8_900);
    service.registrar.failing = new Error('The registrar is away.');
    release();
    expect(await registering).toMatchObject({ status: 503 });
    expect(await remaining(service, account)).toBe(10_000);
  });

  test('shows a negative number beyond the limit, and a refusal says that 0.00 EUR remain', async () => {
    const service = await start(engine);
    const account = await service.account('20.00');
    await vmOf(service, account, 0);
    await limitTo(service, account, 0);
    expect(await remaining(service, account)).toBeLessThan(0);
    const { status, message } = await bySocket(service, 'createVm', SMALL_VM, account.apiKey);
    expect(status).toBe(402);
    expect(message).toMatch(/^This purchase needs \d+\.\d\d EUR of the credit limit,(?: [a-z -]+,)? and 0\.00 EUR remain\./);
  });
});

async function start(engine: Engine): Promise<TestOperator> {
  const service = await startOperator({ engine });
  service.fleet.automaticSetUp = null;
  await chargeAwkwardPrices(service);
  return service;
}

/** @returns The price of the account's pending orders, in cents with six decimals. */
async function live(service: TestOperator, account: Account, { orders, servers, vms, hasDomain, seconds }: Past): Promise<number> {
  for (const salt of vms) await vmOf(service, account, salt);
  if (hasDomain) {
    const handle = await handleOf(service, { apiKey: account.apiKey });
    const domain = `past-${handle.toLowerCase()}.net`;
    expect(await bySocket(service, 'registerDomain', { domain, handle }, account.apiKey)).toMatchObject({ status: 200 });
  }
  for (const { price, days, isCancelled } of servers) {
    const id = await deployedServer(service, account, price / 1e8, days);
    if (isCancelled)
      expect((await service.call('deleteDedicatedServer', { path: { identifier: id }, apiKey: account.apiKey })).status).toBe(200);
  }
  for (const price of orders) {
    const market_id = await offerOf(service, price / 1e8, ORDERED_DAYS);
    await operator.orderDedicatedServer({ client: service.client, body: { account_id: account.id, market_id } });
  }
  service.clock.advance(seconds * 1000);
  return orders.reduce((sum, price) => sum + price, 0) / 1e6;
}

/** The shown number is the limit, less open invoices, the estimate and pending orders. Rounding may differ by one cent. */
async function expectConsistent(service: TestOperator, { apiKey }: Account, pending: number): Promise<number> {
  const { creditLimit, creditLimitRemaining, estimatedInvoiceTotal } = (await service.call('getCurrentInvoice', { apiKey })).body.data;
  const invoices: Readonly<Record<string, { status: string; total: number }>> = (await service.call('listInvoices', { apiKey })).body.data;
  const unpaid = Object.values(invoices).reduce((sum, { status, total }) => (status === 'OPEN' ? sum + total : sum), 0);
  const shown = cents(creditLimitRemaining);
  expect(Math.abs(cents(creditLimit - unpaid - estimatedInvoiceTotal) - pending - shown)).toBeLessThanOrEqual(1);
  return shown;
}

async function remaining(service: TestOperator, { apiKey }: Account): Promise<number> {
  return cents((await service.call('getCurrentInvoice', { apiKey })).body.data.creditLimitRemaining);
}

function cents(amount: number): number {
  return Math.round(amount * 100);
}

async function limitTo({ client }: TestOperator, account: Account, limit: number): Promise<void> {
  await operator.setCreditLimit({ client, path: { account_id: account.id }, body: { credit_limit: (limit / 100).toFixed(2) } });
}

/** The credit that a refused purchase needs by its message, in cents. */
function neededIn({ status, message }: Outcome, left: number): number {
  expect([402, 409], `${message}`).toContain(status);
  const [, needed = '', remain] =
    /needs (\d+\.\d\d) EUR of the credit limit,(?: [a-z -]+,)? and (\d+\.\d\d) EUR remain\./.exec(message) ?? [];
  expect(remain, `${message}`).toBe((left / 100).toFixed(2));
  return cents(Number(needed));
}

async function bySocket(
  service: TestOperator,
  operation: 'createVm' | 'registerDomain',
  form: Readonly<Record<string, unknown>>,
  apiKey: string,
): Promise<Outcome> {
  const { status, body } = await service.call(operation, { form, apiKey });
  return { status, message: body.message };
}

async function byOperator(call: operator.Call<unknown>): Promise<Outcome> {
  try {
    const { status } = await call.withMeta();
    return { status, message: '' };
  } catch (error) {
    if (!(error instanceof operator.ResellerError)) throw error;
    return { status: error.status ?? 0, message: error.message };
  }
}

/** A disk size in GB that the host system offers. */
function diskOf(salt: number): number {
  return 10 + 5 * (salt % 30);
}

async function vmOf(service: TestOperator, { apiKey }: Account, salt: number): Promise<string> {
  const { status, body } = await service.call('createVm', { form: { ...SMALL_VM, cores: 1, disk: diskOf(salt) }, apiKey });
  expect(status, `${body.message}`).toBe(200);
  return String(body.data.identifier);
}

/** Longer than a period, so that the order holds no renewal. */
const ORDERED_DAYS = 40;

/** @returns The identifier of a new server of the account that is set up. */
async function deployedServer(service: TestOperator, account: Account, price: number, days: number): Promise<string> {
  const { client } = service;
  const market_id = await offerOf(service, price, days);
  const { id } = await operator.orderDedicatedServer({ client, body: { account_id: account.id, market_id } });
  const management = { dashboard: 'https://d.example', username: 'u', email: 'u@d.example', password: 'p-1234567' };
  await operator.completeDedicatedSetup({ client, path: { server_id: id }, body: { management, ipv4: [], ipv6: [] } });
  return id;
}

/** @param price EUR. */
async function offerOf({ client }: TestOperator, price: number, days = 30): Promise<string> {
  const body = { ...marketItem(price.toFixed(8), days), ipv4_addresses: 1 };
  return (await operator.addMarketItem({ client, body })).id;
}
