/** Quote, dry run, price lists and the invoice agree: random purchases, each on the invoice of its own account. */
import { fillPath, parseDocument, readOperations, writeForm } from '@reseller/contract';
import { moneyOf } from '@reseller/contract/engine';
import serviceDocument from '@reseller/openapi/service.json' with { type: 'json' };
import { createTestService } from '@reseller/testing';
import type { TestService } from '@reseller/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { amountOf } from '../../../.config/depth.ts';
import { priceOf, priceOfQuote, priceReads, quoteOperation, readKey } from '../src/index.ts';
import { valueIn } from '../src/price-of-vm.ts';
import type { Purchase } from '../src/prices.ts';

/** Purchases of one service, as many as its nodes have room for. */
const PURCHASES = 25;
/** Each run has a service: 1,000 purchases in a deep run. */
const RUNS = amountOf('QUOTED_RUNS', { usual: 1, deep: 40 });
/** In units of 10^-8 EUR. */
const CENT = 1_000_000n;
/** The price lists have seven prices of resources, and each is rounded up. */
const MOST_ROUNDED_UP = 7n;
const START = '2027-04-01T00:00:00.000Z';

const document = parseDocument(serviceDocument);
const operations = readOperations(document);

const units = fc.integer({ min: 0, max: 999_999_999 });
const decimal = units.map((amount) => `${Math.floor(amount / 1e8)}.${String(amount % 1e8).padStart(8, '0')}`);
const names = ['core', 'mem', 'nvme', 'hdd', 'extra_ip', 'extra_backup_slot', 'extra_gbit'] as const;
const prices = fc.record(Object.fromEntries(names.map((name) => [name, decimal])));
const form = fc.record({
  cores: fc.integer({ min: 1, max: 16 }),
  mem: fc.integer({ min: 2, max: 32 }).map((halves) => halves * 512),
  disk: fc.integer({ min: 2, max: 40 }).map((fives) => fives * 5),
  ips: fc.integer({ min: 1, max: 3 }),
  backup_slots: fc.integer({ min: 2, max: 6 }),
  network_speed: fc.integer({ min: 10, max: 50 }).map((hundreds) => hundreds * 100),
});
const plan = fc.record({
  kind: fc.constantFrom('vm', 'vm', 'vm in a sale', 'change', 'change in a sale', 'domain', 'transfer', 'server'),
  prices,
  form,
  price: decimal,
  isUpgradable: fc.boolean(),
});
type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;

test('a quote, a dry run, the price lists and an invoice with the purchase alone agree to the cent', async () => {
  const rates = fc.constantFrom(1, 700, 1_900, 2_550);
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: PURCHASES, maxLength: PURCHASES }), rates, async (plans, basis_points) => {
      await using service = await createTestService({ now: START });
      await service.operate('PUT', '/settings/vat-rates', { vat_rates: [{ basis_points, valid_from: '2027-04-01' }] });
      const quoted = new Map<string, unknown>();
      for (const [index, one] of plans.entries()) {
        const { apiKey, id } = await service.addAccount('100000.00');
        quoted.set(apiKey, await buyAsQuoted(service, { ...one, apiKey, accountId: id, name: `name-${index}` }));
      }
      // April has 30 days, so its invoices have the price of 30 days.
      await service.advance(30 * 86_400_000);
      for (const [apiKey, amounts] of quoted) {
        const list = valueIn(await call(service, apiKey, 'listDocuments'), 'list');
        const [invoice] = Array.isArray(list) ? list : [];
        expect({ net: valueIn(invoice, 'net'), gross: valueIn(invoice, 'gross') }).toEqual(amounts);
      }
    }),
    // Shrinking would start a service for each attempt.
    { numRuns: RUNS, endOnFailure: true },
  );
});

interface Buyer extends Plan {
  readonly apiKey: string;
  readonly accountId: string;
  /** Differs between all purchases. */
  readonly name: string;
}

/** Buys what was quoted, and compares the quote with the price lists and the response. @returns the amounts of its invoice */
async function buyAsQuoted(service: TestService, buyer: Buyer): Promise<unknown> {
  const { apiKey } = buyer;
  const purchase = await prepare(service, buyer);
  const operation = operations.find(({ id }) => id === purchase.operation);
  const asked = operation && quoteOperation(operation, document);
  const quote = await call(service, apiKey, String(asked?.id), purchase);
  const shown = priceOfQuote(purchase.operation, quote);
  const net = shown?.net ?? -1n;

  const data = new Map<string, unknown>();
  for (const read of priceReads(purchase))
    data.set(readKey(read), await call(service, apiKey, read.operation, { path: read.path, form: {} }));
  const listed = priceOf(purchase, data, document, service.clock.now());
  // No price list says that a VM was bought in a sale.
  const isListed = buyer.kind !== 'change in a sale' || !buyer.isUpgradable;
  const over = (listed?.net ?? -1n) - net;
  expect(over >= 0n && (over <= MOST_ROUNDED_UP || !isListed), `${buyer.kind}: ${listed?.net} listed, ${net} quoted`).toBe(true);
  const grossOver = (listed?.gross ?? -1n) - (shown?.gross ?? 0n);
  expect(!isListed || (grossOver <= CENT && -grossOver <= CENT), `${buyer.kind}: ${grossOver} more in the lists`).toBe(true);

  const bought = await call(service, apiKey, purchase.operation, purchase);
  const pricings = valueIn(bought, 'pricings');
  if (pricings !== undefined) {
    expect(pricings).toEqual({ monthly: valueIn(quote, 'price', 'net'), monthly_gross: valueIn(quote, 'price', 'gross') });
  }
  if (purchase.operation === 'purchaseDedicatedServer') {
    const management = { dashboard: 'https://ipmi.example', username: 'admin', email: 'ops@example.com', password: 'example-password' };
    await service.operate('POST', `/dedicated/servers/${purchase.path['identifier']}/complete-setup`, { management, ipv4: [] });
  }
  const amounts = valueIn(quote, 'untilPeriodEnd');
  // The whole period has 30 days, so the amounts of the period are those of the price, in cents.
  expect(moneyOf(valueIn(amounts, 'gross'))).toBe(shown?.gross);
  return amounts;
}

async function prepare(service: TestService, buyer: Buyer): Promise<Purchase> {
  const { kind, form: wanted, price, apiKey, accountId, name, isUpgradable } = buyer;
  if (kind === 'domain' || kind === 'transfer') {
    await service.operate('PUT', '/tld-prices/net', { create: price, renew: '1.00', transfer: price });
    const person = { gender: 'MALE', firstname: 'Jonas', lastname: 'Weidenfels', street: 'Musterallee', number: '12a', zipcode: '60311' };
    const place = { city: 'Frankfurt am Main', region: 'Hessen', countrycode: 'DE', email: 'jonas@reseller-customer.example' };
    const handle = String(valueIn(await call(service, apiKey, 'createHandle', { path: {}, form: { ...person, ...place } }), 'handle'));
    const code = kind === 'transfer' ? { authcode: 'example-authcode-1' } : {};
    return { operation: 'registerDomain', path: {}, form: { domain: `${name}.net`, handle, ...code } };
  }
  if (kind === 'server') {
    const offer = await service.operate('POST', '/dedicated/market', {
      datacenter: { name: 'FRA1', displayname: 'Frankfurt 1', country: 'Germany', city: 'Frankfurt am Main' },
      cpu: { amount: 1, cores: 8, type: 'Xeon' },
      memory: { size: 64, type: 'DDR4' },
      disks: [{ amount: 2, size: 960, type: 'SSD' }],
      ipv4_addresses: 0,
      ipv6_networks: null,
      traffic: null,
      connection: '1 Gbit/s',
      status: { type: 'ready', description: 'At once.' },
      price,
      runtime_days: 30,
    });
    return { operation: 'purchaseDedicatedServer', path: { identifier: String(valueIn(offer, 'id')) }, form: {} };
  }
  await setPrices(service, buyer.prices);
  const place = { os: 'debian_12', hostsystem: 'nl_ryzen' };
  if (kind.endsWith('in a sale')) {
    const [core = '0.00'] = [buyer.prices['core']];
    const half = `0.${core.slice(2)}`;
    await service.operate('POST', '/sales', {
      title: `Sale of ${name}`,
      start_date: new Date(service.clock.now()).toISOString(),
      upgradable: isUpgradable,
      max_volume: 1,
      account_id: accountId,
      pricings: { nl_ryzen: { core: half } },
    });
  }
  if (!kind.startsWith('change')) return { operation: 'createVm', path: {}, form: { ...wanted, ...place } };
  const small = { cores: 1, mem: 1024, disk: 10 };
  const vmid = String(valueIn(await call(service, apiKey, 'createVm', { path: {}, form: { ...small, ...place } }), 'identifier'));
  return { operation: 'changeVm', path: { vmid }, form: wanted };
}

async function setPrices(service: TestService, listed: Plan['prices']): Promise<void> {
  const { name: _, nodes, ...host } = Object(await service.operate('GET', '/host-systems/nl_ryzen'));
  const bare = nodes.map((node: Record<'name' | 'cores' | 'mem' | 'disk' | 'storage', unknown>) => {
    return { name: node.name, cores: node.cores, mem: node.mem, disk: node.disk, storage: node.storage };
  });
  await service.operate('PUT', '/host-systems/nl_ryzen', { ...host, nodes: bare, prices: listed });
}

/** The data of the response to a call of the reseller API. */
async function call(service: TestService, apiKey: string, id: string, sent: Pick<Purchase, 'path' | 'form'> = { path: {}, form: {} }) {
  const operation = operations.find((one) => one.id === id);
  if (!operation) throw new Error(`The document has no operation ${id}.`);
  const response = await service.fetch(service.baseUrl + fillPath(operation.path, sent.path), {
    method: operation.method,
    headers: { 'x-service-apikey': apiKey, ...(operation.form && { 'content-type': 'application/x-www-form-urlencoded' }) },
    ...(operation.form && { body: writeForm(operation, sent.form) }),
  });
  const body: unknown = await response.json();
  expect(valueIn(body, 'status'), `${id}: ${String(valueIn(body, 'message'))}`).toBe('success');
  return valueIn(body, 'data');
}
