import { expect, test } from 'vitest';

import { footprint, register } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';

const DOMAIN = 'reseller-customer.net';
const path = { domain: DOMAIN };

test('withdraws a cancellation, so that the domain is renewed and charged only then', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  await service.domains.terminate(DOMAIN);
  const { status, body } = await service.call('undeleteDomain', { path });
  expect(status).toBe(200);
  expect(body.data).toEqual({ domain: DOMAIN });
  expect((await service.call('getDomain', { path })).body.data.domain.terminated).toBe(false);
  expect(service.registrar.domains.get(DOMAIN)?.renewed).toBe(true);
  expect((await service.call('getCurrentInvoice')).body.data.currentInvoiceTotal).toBe(11);
  service.clock.advanceTo('2027-11-10T12:03:17Z');
  await service.runScheduledJobs();
  expect((await service.call('getCurrentInvoice')).body.data.currentInvoiceTotal).toBe(12);
});

test('responds with 409 to a domain that is not cancelled, and changes nothing', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const before = await footprint(service);
  const { status, body } = await service.call('undeleteDomain', { path, idempotencyKey: 'one' });
  expect({ status, type: body.type }).toEqual({ status: 409, type: 'wrong_state' });
  expect(await footprint(service)).toEqual(before);
});

test('accepts one of two concurrent withdrawals', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  await service.domains.terminate(DOMAIN);
  const responses = await Promise.all([service.call('undeleteDomain', { path }), service.call('undeleteDomain', { path })]);
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409]);
});

test('responds with 503 if the registrar fails, and the domain is still cancelled on both sides', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  await service.domains.terminate(DOMAIN);
  const before = await footprint(service);
  service.registrar.failing = new Error('no');
  expect((await service.call('undeleteDomain', { path })).status).toBe(503);
  expect(await footprint(service)).toEqual(before);
  expect((await service.call('undeleteDomain', { path })).status).toBe(200);
});
