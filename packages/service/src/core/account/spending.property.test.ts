/** The spending limit of an API key: never a cent over, never refused while it fits. */
import * as operator from '@reseller/operator-client';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { amountOf } from '../../../../../.config/depth.ts';
import { handleOf } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import type { Received } from '../../../test/http-client.ts';
import { newInstances } from '../../../test/instances.ts';
import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

const RUNS = amountOf('PROPERTY_RUNS', { usual: 3, deep: 60 });
/** Purchases that are sent at the same time through two instances. */
const PURCHASES = amountOf('CONCURRENT_PURCHASES', { usual: 200, deep: 600 });
/** Requests on their way at a time. The service refuses more than it can queue with 503. */
const IN_FLIGHT = 200;

/** Cents: 2 x 2.00 + 4 x 1.20 EUR for 30 days, and 0.04 EUR for each GB of NVMe. */
const priceOfVm = ({ cores, disk }: { cores: number; disk: number }) => cores * 200 + 480 + disk * 4;
const eur = (cents: number) => (cents / 100).toFixed(2);

/** The host system offers 10 GB plus multiples of 5. */
const disks = fc.integer({ min: 4, max: 18 }).map((number) => number * 5);

/** Requests of the holder of a key, and the time that passes between them. */
const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('create' as const, 'fail' as const), disk: disks }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('resize' as const), cores: fc.integer({ min: 1, max: 8 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('register' as const, 'start' as const, 'repeat' as const) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 400 }) }) },
  ),
  { minLength: 4, maxLength: 14 },
);

interface Limit {
  readonly perDay: number | null;
  readonly perMonth: number | null;
}

const limitOf = (max: number) => fc.option(fc.integer({ min: 0, max }));
const limits = fc.record({ perDay: limitOf(5_000), perMonth: limitOf(8_000) });

async function limitedKey({ client }: TestOperator, account_id: string, { perDay, perMonth }: Limit): Promise<string> {
  const spending_limit = {
    per_day: perDay === null ? null : eur(perDay),
    per_month: perMonth === null ? null : eur(perMonth),
    operations: null,
  };
  return (await operator.issueApiKey({ client, path: { account_id }, body: { label: 'agent', spending_limit } })).key;
}

/** What a limit allows, in plain numbers: the second opinion of the test. */
class Model {
  readonly spent = new Map<string, number>();
  readonly limit: Limit;
  constructor(limit: Limit) {
    this.limit = limit;
  }
  fits(price: number, now: number): boolean {
    return this.#periods(now).every(([period, max]) => price <= 0 || max === null || (this.spent.get(period) ?? 0) + price <= max);
  }
  take(price: number, now: number): void {
    for (const [period] of this.#periods(now)) this.spent.set(period, (this.spent.get(period) ?? 0) + Math.max(price, 0));
  }
  spentAt(now: number): number[] {
    return this.#periods(now).map(([period]) => this.spent.get(period) ?? 0);
  }
  #periods(now: number): [string, number | null][] {
    const day = new Date(now).toISOString().slice(0, 10);
    return [
      [day, this.limit.perDay],
      [day.slice(0, 7), this.limit.perMonth],
    ];
  }
}

describe.each(engines)('on %s', (engine) => {
  test('accepts a purchase exactly if its price fits what remains of the day and of the month', async () => {
    const service = await startOperator({ engine });
    let salt = 0;
    await fc.assert(
      fc.asyncProperty(limits, steps, async (limit, sequence) => {
        const account = await service.account('9000000.00');
        const handle = await handleOf(service, { apiKey: account.apiKey });
        const apiKey = await limitedKey(service, account.id, limit);
        const { data: tlds } = (await service.call('getDomainPricings', { apiKey })).body;
        const model = new Model(limit);
        const vms: { id: string; cores: number; disk: number }[] = [];
        let last:
          | { readonly idempotencyKey: string; readonly form: Readonly<Record<string, unknown>>; readonly response: Received }
          | undefined;
        const expectOutcome = (response: Received, price: number): boolean => {
          const now = service.clock.now();
          const fits = model.fits(price, now);
          expect([response.status, response.body.type ?? 'success']).toEqual(fits ? [200, 'success'] : [402, 'spending_limit_exceeded']);
          if (fits) model.take(price, now);
          return fits;
        };
        for (const step of sequence) {
          salt++;
          const vm = vms.at(-1);
          switch (step.kind) {
            case 'wait':
              service.clock.advance(step.hours * 3_600_000);
              break;
            case 'create': {
              const size = { cores: 2, disk: step.disk };
              const form = { ...SMALL_VM, ...size };
              const idempotencyKey = `key-${salt}`;
              const response = await service.call('createVm', { form, apiKey, idempotencyKey });
              if (expectOutcome(response, priceOfVm(size))) {
                vms.push({ id: String(response.body.data.identifier), ...size });
                last = { idempotencyKey, form, response };
              }
              break;
            }
            case 'repeat': {
              if (!last) break;
              const { idempotencyKey, form, response } = last;
              expect((await service.call('createVm', { form, apiKey, idempotencyKey })).body).toEqual(response.body);
              break;
            }
            case 'fail': {
              // What the hypervisor could not deliver is given back.
              service.hypervisor.failing = new Error('The node is down.');
              const response = await service.call('createVm', { form: { ...SMALL_VM, disk: step.disk }, apiKey });
              service.hypervisor.failing = undefined;
              expect(response.status).toBe(model.fits(priceOfVm({ cores: 2, disk: step.disk }), service.clock.now()) ? 503 : 402);
              await service.runScheduledJobs();
              break;
            }
            case 'resize': {
              if (!vm) break;
              const response = await service.call('changeVm', { path: { vmid: vm.id }, form: { cores: step.cores }, apiKey });
              if (expectOutcome(response, (step.cores - vm.cores) * 200)) vm.cores = step.cores;
              break;
            }
            case 'start': {
              if (!vm) break;
              const path = { vmid: vm.id };
              expect((await service.call('setVmPower', { path, form: { mode: 'stop' }, apiKey })).status).toBe(200);
              const started = await service.call('setVmPower', { path, form: { mode: 'start' }, apiKey });
              if (!expectOutcome(started, priceOfVm(vm))) vms.pop();
              break;
            }
            case 'register': {
              const form = { domain: `bought-${salt}.net`, handle };
              const price = Math.round(tlds.net.price_net.create * 100);
              expectOutcome(await service.call('registerDomain', { form, apiKey }), price);
              break;
            }
          }
        }
        const { list } = (await service.call('listKeys', { apiKey })).body.data;
        const { spending_limit } = list.find(({ current }: { current: boolean }) => current);
        expect([spending_limit.spent_today, spending_limit.spent_this_month]).toEqual(model.spentAt(service.clock.now()).map(eur));
        for (const { id } of vms) await service.call('deleteVm', { path: { vmid: id }, apiKey: account.apiKey });
      }),
      { numRuns: RUNS },
    );
  });

  test('lets simultaneous purchases spend exactly the limit of the key', async () => {
    const service = await startOperator({ engine });
    const account = await service.account('9000000.00');
    const price = priceOfVm({ cores: 1, disk: 20 });
    const apiKey = await limitedKey(service, account.id, { perDay: price * 7 + price - 1, perMonth: price * 7 });
    const form = { ...SMALL_VM, cores: 1, disk: 20 };
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => service.call('createVm', { form, apiKey })));
    expect(outcomes.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(outcomes.filter(({ body }) => body.type === 'spending_limit_exceeded')).toHaveLength(33);
  });
});

test(
  `${PURCHASES} simultaneous purchases of different prices through two instances never exceed the limit, and fill it`,
  { tags: 'outer' },
  async () => {
    const instances = await newInstances({ creditLimit: '9000000.00' });
    const [one, other] = [await instances.start(), await instances.start()];
    const limit = 30_000;
    const issued = await one.operate('POST', `/accounts/${instances.accountId}/api-keys`, {
      label: 'agent',
      spending_limit: { per_day: eur(limit), per_month: null, operations: null },
    });
    const apiKey: string = issued.body.key;
    const accepted: number[] = [];
    const refused: number[] = [];
    let next = 0;
    async function buyNext(): Promise<void> {
      while (next < PURCHASES) {
        const number = next++;
        const size = { cores: 1 + (number % 3), disk: 20 + (number % 10) * 5 };
        const instance = number % 2 === 0 ? one : other;
        const price = priceOfVm(size);
        const purchase = { form: { ...SMALL_VM, ...size }, apiKey, idempotencyKey: `purchase-${number}` };
        let { status, body } = await instance.call('createVm', purchase);
        // On a busy machine, the database does not take every purchase in time.
        while (status === 503) ({ status, body } = await instance.call('createVm', purchase));
        if (status === 200) accepted.push(price);
        else {
          expect([status, body.type]).toEqual([402, 'spending_limit_exceeded']);
          refused.push(price);
        }
      }
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, buyNext));
    const spent = accepted.reduce((sum, price) => sum + price, 0);
    expect(accepted.length + refused.length).toBe(PURCHASES);
    expect(spent).toBeLessThanOrEqual(limit);
    // Nothing was refused that still fitted at the end. The sum only grows, because no purchase failed.
    expect(spent + Math.min(...refused)).toBeGreaterThan(limit);
    const { items } = (await other.operate('GET', `/accounts/${instances.accountId}/api-keys`)).body;
    const key = items.find(({ id }: { id: string }) => id === issued.body.id);
    expect(key.spending_limit.spent_today).toBe(eur(spent));
  },
);
