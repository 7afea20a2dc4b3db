/** Availability and cancellation of domains. */
import { expect, test } from 'vitest';

import { register } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';

const path = { domain: 'reseller-customer.net' };

test('reports a domain as available until it is registered with any provider', async () => {
  const service = await startService();
  const check = async (domain: string) => (await service.call('checkDomain', { path: { domain } })).body.data.available;
  expect(await check(path.domain)).toBe(true);
  await register(service, path.domain);
  expect(await check(path.domain)).toBe(false);
  expect(await check('Reseller-Customer.NET')).toBe(false);
  expect(await check('taken-elsewhere.net')).toBe(false);
});

test.each(['reseller-customer.zz', 'net', 'a_b.net', 'www.reseller-customer.net'])(
  '%s cannot be registered: responds with 404 and the reason',
  async (domain) => {
    const service = await startService();
    const { status, body } = await service.call('checkDomain', { path: { domain } });
    expect({ status, type: body.type }).toEqual({ status: 404, type: 'not_found' });
    expect(body.message).toMatch(/^This name cannot be registered here\. It must /);
  },
);

test('keeps a cancelled domain until its termination date without further charges, and then frees it', async () => {
  const service = await startService();
  await register(service, path.domain);
  const { body } = await service.call('deleteDomain', { path });
  expect(body.data).toEqual({ domain: path.domain, termination_date: '2027-11-10T12:03:17.000Z' });
  expect(service.registrar.domains.get(path.domain)?.renewed).toBe(false);
  expect((await service.call('getDomain', { path })).body.data.domain.terminated).toBe(true);
  expect((await service.call('deleteDomain', { path })).status).toBe(409);
  service.clock.advanceTo('2027-11-10T12:03:17Z');
  expect((await service.call('getDomain', { path })).status).toBe(404);
  const charges = await service.store.read((db) => db.selectFrom('charges').select('type').execute());
  expect(charges.map(({ type }) => type)).toEqual(['CREATE']);
});

test('withdraws a cancellation, which can then be repeated', async () => {
  const service = await startService();
  await register(service, path.domain);
  await service.call('deleteDomain', { path });
  expect((await service.call('undeleteDomain', { path })).status).toBe(200);
  expect(service.registrar.domains.get(path.domain)?.renewed).toBe(true);
  expect((await service.call('deleteDomain', { path })).status).toBe(200);
});

test('completes a cancellation later if the registrar fails, and does not renew the domain', async () => {
  const service = await startService();
  await register(service, path.domain);
  service.registrar.failing = new Error('out of order');
  const { status, body } = await service.call('deleteDomain', { path });
  // The registrar fails once, so the second call completes the cancellation immediately.
  expect({ status, data: body.data }).toMatchObject({ status: 200, data: { domain: path.domain } });
  await service.runScheduledJobs();
  expect(service.registrar.domains.get(path.domain)?.renewed).toBe(false);
});

test('compares the price guard of a registration exactly with the price of the first year', async () => {
  const service = await startService();
  const net = (await service.call('getPricings')).body.data.domains.net.price_net.create;
  const { body } = await service.call('createHandle', {
    form: {
      gender: 'MALE',
      firstname: 'Jonas',
      lastname: 'Weidenfels',
      street: 'Musterallee',
      number: '1',
      zipcode: '60311',
      city: 'Frankfurt am Main',
      region: 'Hessen',
      countrycode: 'DE',
      email: 'jonas@reseller-customer.example',
    },
  });
  const form = (max_price: string) => ({ ...path, handle: body.data.handle, max_price });
  expect((await service.call('registerDomain', { form: form((net - 0.01).toFixed(2)) })).status).toBe(412);
  expect((await service.call('checkDomain', { path })).body.data.available).toBe(true);
  expect((await service.call('registerDomain', { form: form(String(net)) })).status).toBe(200);
});
