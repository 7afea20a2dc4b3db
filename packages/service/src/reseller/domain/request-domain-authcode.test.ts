import { expect, test } from 'vitest';

import { tablesWith } from '../../../test/contents.ts';
import { register } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';

const DOMAIN = 'reseller-customer.net';
const path = { domain: DOMAIN };

test('shows the auth code of the last request in the details of the domain', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const first = (await service.call('requestDomainAuthcode', { path })).body.data.authcode;
  expect(first).toMatch(/^[A-Za-z0-9]{16}$/);
  expect((await service.call('getDomain', { path })).body.data.domain.authcode).toBe(first);
  const second = (await service.call('requestDomainAuthcode', { path })).body.data.authcode;
  expect(second).not.toBe(first);
  expect((await service.call('getDomain', { path })).body.data.domain.authcode).toBe(second);
  expect(service.registrar.domains.get(DOMAIN)?.authcode).toBe(second);
});

test('returns the same auth code for the same key', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const first = await service.call('requestDomainAuthcode', { path, idempotencyKey: 'one' });
  expect((await service.call('requestDomainAuthcode', { path, idempotencyKey: 'one' })).body).toEqual(first.body);
});

test('writes the auth code in plain text neither to the store nor to the log', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const { body } = await service.call('requestDomainAuthcode', { path, idempotencyKey: 'one' });
  await service.call('getDomain', { path });
  const log = await service.call('listRequests');
  expect(JSON.parse(log.body.data[0].response_body).data.domain.authcode).toBe('***');
  expect(JSON.parse(log.body.data[1].response_body).data.authcode).toBe('***');
  expect(await tablesWith(service.store, body.data.authcode)).toEqual([]);
});

test('responds with 500 if the registrar fails, and leaves no unknown code', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  await service.call('requestDomainAuthcode', { path });
  service.registrar.failing = new Error('no');
  expect((await service.call('requestDomainAuthcode', { path })).status).toBe(500);
  expect((await service.call('getDomain', { path })).body.data.domain.authcode).toBeNull();
  expect(service.registrar.domains.get(DOMAIN)?.authcode).toBeNull();
  expect((await service.call('requestDomainAuthcode', { path })).status).toBe(200);
});

test('responds with 400 to a form, because the operation has none', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  expect(await service.call('requestDomainAuthcode', { path, form: { code: 'mine' } })).toMatchObject({
    status: 400,
    body: { type: 'malformed_request' },
  });
});
