import { describe, expect, test } from 'vitest';

import { footprint, register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { startService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';

const DOMAIN = 'reseller-customer.net';
const path = { domain: DOMAIN };

async function startRegistered(given: Parameters<typeof startService>[0] = {}) {
  const service = await startService(given);
  await register(service, DOMAIN);
  return {
    service,
    renew: (form: Record<string, unknown> = {}, idempotencyKey?: string) =>
      service.call('renewDomain', { path, form, ...(idempotencyKey !== undefined && { idempotencyKey }) }),
    quote: () => service.call('quoteRenewDomain', { path, form: {} }),
    amounts: async () => {
      const { currentInvoiceTotal, creditLimitRemaining } = (await service.call('getCurrentInvoice')).body.data;
      return [currentInvoiceTotal, creditLimitRemaining];
    },
    expiry: async () => (await service.call('getDomain', { path })).body.data.timings.expire,
  };
}

describe.each(engines)('on %s', (engine) => {
  test('renews a domain for a year, charges the renewal price at once, and again only when that year ends', async () => {
    const { service, renew, quote, amounts, expiry } = await startRegistered({ engine });
    const quoted = (await quote()).body.data;
    expect(quoted).toMatchObject({ price: { net: 12, time: { amount: 1, unit: 'years' } }, untilPeriodEnd: { net: 12 }, neededCredit: 12 });
    expect(await amounts()).toEqual([11, 989]);
    const { status, body } = await renew();
    expect({ status, data: body.data }).toEqual({
      status: 200,
      data: { domain: DOMAIN, timings: { create: '2026-11-10 12:03:17', expire: '2028-11-10 12:03:17' } },
    });
    expect(await amounts()).toEqual([23, 977]);
    const { positions } = (await service.call('getCurrentInvoice')).body.data;
    expect(positions.domains[DOMAIN].at(-1)).toMatchObject({
      type: 'RENEW',
      start: '2027-11-10T12:03:17.000Z',
      stop: '2028-11-10T12:03:17.000Z',
      totalPrice: 12,
    });
    expect([...(service.registrar.renewals.get(DOMAIN) ?? [])]).toEqual(['2027-11-10']);
    service.clock.advanceTo('2028-11-10T12:03:16.999Z');
    await service.runScheduledJobs();
    expect(await expiry()).toBe('2028-11-10 12:03:17');
    service.clock.advanceTo('2028-11-10T12:03:17Z');
    await service.runScheduledJobs();
    expect(await expiry()).toBe('2029-11-10 12:03:17');
    await expectInvariants(service.store);
  });

  test('takes over the credit that the renewal of this month holds', async () => {
    const { service, renew, quote, amounts } = await startRegistered({ engine, creditLimit: '24.00' });
    service.clock.advanceTo('2027-11-05T00:00:00Z');
    await service.runScheduledJobs();
    // 24.00 - 11.00 on the invoice of the first month - 12.00 for the renewal that is due.
    expect((await amounts())[1]).toBe(1);
    expect((await quote()).body.data).toMatchObject({ untilPeriodEnd: { net: 12 }, neededCredit: 0 });
    expect((await renew()).status).toBe(200);
    expect((await amounts())[1]).toBe(1);
    await expectInvariants(service.store);
  });

  test('two requests with one key renew a domain once, also at the same time', async () => {
    const { service, renew, expiry } = await startRegistered({ engine });
    const replies = await Promise.all([renew({}, 'one'), renew({}, 'one')]);
    expect(replies.some(({ status }) => status === 200)).toBe(true);
    expect((await renew({}, 'one')).status).toBe(200);
    expect(await expiry()).toBe('2028-11-10 12:03:17');
    const charges = await service.store.read((db) => db.selectFrom('charges').select('type').where('type', '=', 'RENEW').execute());
    expect(charges).toHaveLength(1);
    await expectInvariants(service.store);
  });

  test('refuses a renewal for which one cent is missing, and changes nothing', async () => {
    const { service, renew } = await startRegistered({ engine, creditLimit: '22.99' });
    const before = await footprint(service);
    expect(await renew()).toMatchObject({ status: 402, body: { type: 'credit_limit_exceeded' } });
    expect(await footprint(service)).toEqual(before);
    await service.store.commit(({ db }) => db.updateTable('accounts').set({ credit_limit: 2_300_000_000 }).where('held', '>', 0).execute());
    expect((await renew()).status).toBe(200);
  });
});

test('renews the year that `expire` names, once', async () => {
  const { service, renew, expiry } = await startRegistered();
  expect((await renew({ expire: '2027-11-10 12:03:17' })).status).toBe(200);
  for (const expire of ['2027-11-10 12:03:17', '2027-11-10', '2028-11-10 12:03:18', '2028-11-11'])
    expect([expire, (await renew({ expire })).body.message]).toEqual([
      expire,
      `The domain ${DOMAIN} expires at 2028-11-10 12:03:17 and not at ${expire}, so it may be renewed already. Read it, then send its present expiry to renew it for another year.`,
    ]);
  expect((await renew({ expire: '10.11.2028' })).status).toBe(422);
  expect((await renew({ expire: '2028-11-10' })).status).toBe(200);
  expect(await expiry()).toBe('2029-11-10 12:03:17');
  await expectInvariants(service.store);
});

test('takes a renewal without `expire` within a minute of another one for a second click', async () => {
  const { service, renew, expiry } = await startRegistered();
  expect((await renew()).status).toBe(200);
  service.clock.advance(59_999);
  const { status, body } = await renew({}, 'another-key');
  expect([status, body.message]).toEqual([
    409,
    `The domain ${DOMAIN} was renewed less than a minute ago, until 2028-11-10 12:03:17. To renew it for another year, send expire with this time.`,
  ]);
  service.clock.advance(1);
  expect((await renew()).status).toBe(200);
  expect(await expiry()).toBe('2029-11-10 12:03:17');
});

test('renews a domain until it expires ten years from now, and no further', async () => {
  const { service, renew, expiry } = await startRegistered();
  for (let year = 2028; year <= 2036; year++) {
    expect((await renew({ expire: `${year - 1}-11-10` })).status).toBe(200);
    expect(await expiry()).toBe(`${year}-11-10 12:03:17`);
  }
  const refused = await renew();
  expect(refused).toMatchObject({ status: 409, body: { type: 'wrong_state', message: expect.stringContaining('10 years') } });
  expect((await service.call('quoteRenewDomain', { path })).status).toBe(409);
  service.clock.advanceTo('2027-11-10T12:03:17Z');
  expect((await renew()).status).toBe(200);
});

test('refuses a cancelled domain, and says how to withdraw the cancellation', async () => {
  const { service, renew, quote } = await startRegistered();
  await service.call('deleteDomain', { path });
  for (const { status, body } of [await renew(), await quote()])
    expect({ status, message: body.message }).toEqual({ status: 409, message: expect.stringContaining('undelete') });
});

test('refuses a price above max_price, and changes nothing', async () => {
  const { service, renew } = await startRegistered();
  const before = await footprint(service);
  expect((await renew({ max_price: '11.99' })).status).toBe(412);
  expect(await footprint(service)).toEqual(before);
  expect((await renew({ max_price: '12.00' })).status).toBe(200);
});

test('tells a registrar that fails until it confirms, and charges once', async () => {
  const { service, renew, amounts } = await startRegistered();
  service.registrar.failing = new Error('no');
  expect((await renew({}, 'one')).status).toBe(200);
  expect((await service.call('requestDomainAuthcode', { path })).status).toBe(409);
  await service.runScheduledJobs();
  expect((await service.call('requestDomainAuthcode', { path })).status).toBe(200);
  expect((await renew({}, 'one')).status).toBe(200);
  expect([...(service.registrar.renewals.get(DOMAIN) ?? [])]).toEqual(['2027-11-10']);
  expect((await amounts())[0]).toBe(23);
});
