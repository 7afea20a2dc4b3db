import { expect, test } from 'vitest';

import { register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { startOperator } from '../../../test/operator.ts';

const DOMAIN = 'reseller-customer.net';
const path = { domain: DOMAIN };

test.each(engines)('sets and removes the transfer lock, which the details, the operator and the status show, on %s', async (engine) => {
  const service = await startOperator({ engine });
  await register(service, DOMAIN);
  service.clock.advanceTo('2027-01-09T12:03:17Z');
  const shown = async () => {
    const { transfer_lock, status } = (await service.call('getDomain', { path })).body.data.domain;
    const { body } = await service.operate(`/domains/${DOMAIN}`);
    expect(body).toMatchObject({ transfer_lock, status });
    return [transfer_lock, status, service.registrar.domains.get(DOMAIN)?.transferLock];
  };
  expect(await shown()).toEqual([false, 'OK', false]);
  for (const [locked, status] of [
    [true, 'LOCK'],
    [false, 'OK'],
  ]) {
    const { body } = await service.call('setDomainTransferLock', { path, form: { transfer_lock: locked } });
    expect(body.data).toEqual({ domain: DOMAIN, transfer_lock: locked });
    expect(await shown()).toEqual([locked, status, locked]);
  }
});

test('returns auth codes for a locked domain, which are of use once the lock is removed', async () => {
  const service = await startOperator();
  await register(service, DOMAIN);
  await service.call('setDomainTransferLock', { path, form: { transfer_lock: true } });
  expect((await service.call('requestDomainAuthcode', { path })).status).toBe(200);
});

test('keeps the lock on both sides if the registrar fails', async () => {
  const service = await startOperator();
  await register(service, DOMAIN);
  await service.call('setDomainTransferLock', { path, form: { transfer_lock: true } });
  service.registrar.failing = new Error('no');
  expect((await service.call('setDomainTransferLock', { path, form: { transfer_lock: false } })).status).toBe(503);
  expect((await service.call('getDomain', { path })).body.data.domain.transfer_lock).toBe(true);
  expect(service.registrar.domains.get(DOMAIN)?.transferLock).toBe(true);
});
