/** The spend guard: its refusals, its sum, and the prices that it returns. */
import { describe, expect, test } from 'vitest';

import { createReseller, OutcomeUnknownError } from '../src/index.ts';
import type { Purchase, ResellerConfig } from '../src/index.ts';
import { refusal, refused, reset, scripted, success, VM } from './scripted-service.ts';
import type { Reply } from './scripted-service.ts';

type Guards = Pick<ResellerConfig<false>, 'beforeBillable' | 'budget' | 'readOnly'>;

/** Makes one purchase for each reply, and returns `made` or the name of the error of each. */
async function made(config: Guards, replies: readonly Reply[]): Promise<string[]> {
  const service = scripted({ config });
  service.plan(...replies);
  const ends: string[] = [];
  for (let count = 0; count < replies.length; count++) {
    ends.push(
      await service.reseller.vm.create(VM, { maxRetries: 0 }).then(
        () => 'made',
        (error: Error) => error.name,
      ),
    );
  }
  return ends;
}

describe('a budget', () => {
  test.each([
    [0, 1, 0],
    [0, 0, 3],
    [1, 1, 1],
    [2, 1, 2],
    // Exact to the cent, although sums of such fractions are not exact in floating point.
    [0.3, 0.1, 3],
    [0.29, 0.1, 2],
    [10, 3.34, 2],
    [10.02, 3.34, 3],
    [0.000_000_03, 0.000_000_01, 3],
    [Infinity, 5, 3],
  ])('of %d with a price of %d allows %i of 3 purchases', async (limit, price, count) => {
    const ends = await made({ budget: { limit, priceOf: () => price } }, [success, success, success]);
    expect(ends).toEqual([...Array.from({ length: count }, () => 'made'), ...Array.from({ length: 3 - count }, () => 'SpendRefusedError')]);
  });

  test('counts purchases if their prices are unknown', async () => {
    expect(await made({ budget: { limit: 1 } }, [success, success])).toEqual(['made', 'SpendRefusedError']);
  });

  test.each<[string, Reply, string, boolean]>([
    ['a refusal', refusal(422), 'InvalidError', true],
    ['a refusal of the key', refusal(401), 'AuthenticationError', true],
    ['no connection', refused, 'ConnectionError', true],
    ['a service that is unavailable', refusal(503), 'ServerError', true],
    ['a service that failed', refusal(500), 'OutcomeUnknownError', false],
    ['a lost response', reset, 'OutcomeUnknownError', false],
    ['success', success, 'made', false],
  ])('after %s, the price is returned or stays spent', async (_, reply, end, isGivenBack) => {
    expect(await made({ budget: { limit: 1 } }, [reply, success])).toEqual([end, isGivenBack ? 'made' : 'SpendRefusedError']);
  });

  test('gets the price of a lost purchase back once, if reconcile reports that it was not made', async () => {
    const service = scripted({ config: { budget: { limit: 2 } } });
    const lost: unknown[] = [];
    for (let count = 0; count < 2; count++) {
      service.plan(reset);
      lost.push(await service.reseller.vm.create(VM).catch((thrown: unknown) => thrown));
    }
    await expect(service.reseller.vm.create(VM)).rejects.toMatchObject({
      name: 'SpendRefusedError',
      message: 'createVm: the budget refused it: 2 spent, price 1, limit 2. Nothing was sent.',
    });
    const [error] = lost;
    if (!(error instanceof OutcomeUnknownError)) throw new Error('The response was not lost.', { cause: error });
    for (let count = 0; count < 3; count++) expect((await service.reseller.reconcile(error)).outcome).toBe('not-committed');
    await service.reseller.vm.create(VM);
    await expect(service.reseller.vm.create(VM)).rejects.toMatchObject({ name: 'SpendRefusedError' });
  });

  test('keeps the price of a lost purchase that was made', async () => {
    const service = scripted({ config: { budget: { limit: 1 } } });
    service.plan(reset);
    const error: unknown = await service.reseller.vm.create(VM).catch((thrown: unknown) => thrown);
    const [purchase] = service.sent;
    if (!(error instanceof OutcomeUnknownError) || !purchase) throw new Error('The response was not lost.', { cause: error });
    service.addEntry(purchase);
    expect((await service.reseller.reconcile(error)).outcome).toBe('committed');
    await expect(service.reseller.vm.create(VM)).rejects.toMatchObject({ name: 'SpendRefusedError' });
  });

  test('applies to concurrent purchases, and a dry run spends nothing', async () => {
    const { reseller, sent } = scripted({ config: { budget: { limit: 2, priceOf: async () => 1 } } });
    for (let count = 0; count < 5; count++) await reseller.vm.create(VM, { dryRun: true });
    const ends = await Promise.allSettled(Array.from({ length: 5 }, () => reseller.vm.create(VM)));
    expect(ends.map(({ status }) => status).toSorted()).toEqual([...Array(2).fill('fulfilled'), ...Array(3).fill('rejected')]);
    expect(sent).toHaveLength(2);
    await expect(reseller.vm.create(VM, { dryRun: true })).rejects.toMatchObject({ name: 'SpendRefusedError' });
  });

  test.each([Number.NaN, -0.01])('with a limit of %d is refused', (limit) => {
    expect(() => createReseller({ apiKey: 'key', baseUrl: 'http://a.test', budget: { limit } })).toThrow(
      `The limit of the budget must be a number from 0, got ${limit}.`,
    );
  });

  test.each([Number.NaN, -0.01, Infinity])('refuses a purchase with a price of %d', async (price) => {
    const { reseller, sent } = scripted({ config: { budget: { limit: Infinity, priceOf: () => price } } });
    await expect(reseller.vm.create(VM)).rejects.toMatchObject({
      name: 'SpendRefusedError',
      attempts: 0,
      message: `createVm: priceOf returned ${price}, which is not a price. Nothing was sent.`,
    });
    expect(sent).toEqual([]);
  });
});

describe('beforeBillable', () => {
  test.each<[string, () => never, string]>([
    [
      'an error',
      () => {
        throw new Error('not on a Sunday');
      },
      'not on a Sunday',
    ],
    [
      'another value',
      () => {
        throw 'no' as unknown;
      },
      'no',
    ],
  ])('refuses a purchase with %s, which is the cause', async (_, beforeBillable, reason) => {
    const { reseller, sent } = scripted({ config: { beforeBillable } });
    const error: unknown = await reseller.vm.create(VM).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: 'SpendRefusedError',
      message: `createVm: beforeBillable or priceOf refused it: ${reason}. Nothing was sent.`,
    });
    expect(Object(error).cause).toEqual(reason === 'no' ? 'no' : new Error(reason));
    expect(sent).toEqual([]);
  });

  test('is called before each purchase with its path and form, may be asynchronous, and is called for nothing else', async () => {
    const asked: Purchase[] = [];
    const beforeBillable = async (purchase: Purchase) => void asked.push(purchase);
    const { reseller } = scripted({ config: { beforeBillable, budget: { limit: 9, priceOf: (purchase) => (asked.push(purchase), 1) } } });
    await reseller.domain.list();
    await reseller.domain.setNameservers('a.test', { ns1: 'ns1.a.test', ns2: 'ns2.a.test' });
    await reseller.vm.create(VM);
    const purchase = { operation: 'createVm', path: {}, form: VM };
    expect(asked).toEqual([purchase, purchase]);
  });
});

test('a read-only client sends no request that changes something, whether it costs money or not', async () => {
  const { reseller, sent, count } = scripted({ config: { readOnly: true } });
  await reseller.domain.list();
  for (const call of [() => reseller.vm.create(VM), () => reseller.domain.undelete('a.test'), () => reseller.account.createOtp()])
    await expect(call()).rejects.toMatchObject({
      name: 'SpendRefusedError',
      message: expect.stringContaining('readOnly refused it. Nothing was sent.'),
    });
  expect([sent.length, count('/domain/list')]).toEqual([0, 1]);
});
