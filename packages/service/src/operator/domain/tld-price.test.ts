import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { handleOf, register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import { invoicesOf } from '../../../test/provider.ts';

const path = { tld: 'net' };

test.each(engines)('charges registrations and renewals at the prices in force at their instant, on %s', async (engine) => {
  const service = await startOperator({ engine });
  const { client, clock, call } = service;
  const price = async () => (await call('getDomainPricings')).body.data.net.price_net.create;
  const schedule = (create: string, renew: string, valid_from: string) =>
    operator.scheduleTldPrices({ client, path, body: { create, renew, transfer: '9.00', valid_from } });
  expect(await schedule('15.00', '16.00', '2026-11-20T00:00:00Z')).toEqual({
    create: '15.00',
    renew: '16.00',
    transfer: '9.00',
    valid_from: '2026-11-20T00:00:00.000Z',
    state: 'scheduled',
  });
  // The first domain is renewed on 10 November 2027 at 12:03:17, one millisecond before the next prices.
  await schedule('25.00', '26.00', '2027-11-10T12:03:17.001Z');
  await register(service, 'first.net');
  clock.advanceTo('2026-11-19T23:59:59.999Z');
  expect(await price()).toBe(11);
  clock.advance(1);
  expect(await price()).toBe(15);
  expect((await operator.listTldPrices({ client })).items.find(({ tld }) => tld === 'net')).toMatchObject({ create: '15.00' });
  const handle = await handleOf(service, { apiKey: service.apiKey });
  const form = { domain: 'second.net', handle };
  expect((await call('registerDomain', { form: { ...form, max_price: '14.99' } })).status).toBe(412);
  expect((await call('registerDomain', { form: { ...form, max_price: '15.00' } })).status).toBe(200);
  // The renewal job runs late, when other prices are in force.
  clock.advanceTo('2027-12-01T00:00:00Z');
  await service.runScheduledJobs();
  expect(await price()).toBe(25);
  const totals = (await invoicesOf(service)).map(({ created, total }) => [created.slice(0, 7), total]);
  // The second domain is renewed on 20 November 2027, at 26 EUR.
  expect(totals).toEqual([
    ['2027-12', 16 + 26],
    ['2026-12', 11 + 15],
  ]);
  await expectInvariants(service.store);
});

test('lists the prices of a TLD, sets them immediately, and withdraws scheduled ones', async () => {
  const { client, clock } = await startOperator();
  const prices = { create: '15.00', renew: '16.00', transfer: '9.00' };
  const at = (offset: number): string => new Date(clock.now() + offset).toISOString();
  const scheduled = await operator.scheduleTldPrices({ client, path, body: { ...prices, valid_from: at(1_000) } });
  expect(await operator.setTldPrice({ client, path, body: { ...prices, create: '14.00' } })).toMatchObject({ create: '14.00' });
  const states = async () => (await operator.listTldPriceVersions({ client, path })).items.map(({ state, create }) => [state, create]);
  expect(await states()).toEqual([
    ['scheduled', '15.00'],
    ['in_force', '14.00'],
    ['past', '11.00'],
  ]);
  const withdraw = (valid_from: string) => operator.withdrawTldPrices({ client, path: { ...path, valid_from } });
  await withdraw(scheduled.valid_from);
  expect(await refusalOf(withdraw(scheduled.valid_from))).toMatchObject({ status: 404 });
  expect(await refusalOf(withdraw(at(0)))).toMatchObject({ status: 409 });
  clock.advance(1_000);
  expect(await states()).toEqual([
    ['in_force', '14.00'],
    ['past', '11.00'],
  ]);
  const schedule = (tld: string, valid_from: string) =>
    operator.scheduleTldPrices({ client, path: { tld }, body: { ...prices, valid_from } });
  expect(await refusalOf(schedule('net', at(-1)))).toMatchObject({ status: 422, fields: [{ field: '#/valid_from' }] });
  expect(await refusalOf(schedule('net', at(-1_000)))).toMatchObject({ status: 422 });
  await schedule('net', at(1));
  expect(await refusalOf(schedule('net', at(1)))).toMatchObject({ status: 409 });
  expect(await refusalOf(schedule('nowhere', at(1)))).toMatchObject({ status: 404 });
  const { items } = await operator.listAuditRecords({ client, query: { target: 'net', operation: 'withdrawTldPrices' } });
  expect(items).toMatchObject([{ before: scheduled, after: null }]);
});
