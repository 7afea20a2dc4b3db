import { writeForm } from '@reseller/contract';
import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';
import { resellerApi } from '../../../test/http-client.ts';

const vmsOf = async (service: Awaited<ReturnType<typeof startService>>) =>
  (await service.store.read((db) => db.selectFrom('vms').select('id').execute())).length;

test('repeats the response with the password for the same key and form, and buys one VM', async () => {
  const service = await startService();
  const first = await service.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1' });
  const second = await service.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1' });
  expect(second).toMatchObject({ status: 200, body: first.body });
  expect(await vmsOf(service)).toBe(1);
});

test('ignores the order of the fields', async () => {
  const service = await startService();
  const first = await service.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1' });
  const turned = Object.fromEntries(Object.entries(SMALL_VM).toReversed());
  expect((await service.call('createVm', { form: turned, idempotencyKey: 'order-1' })).body).toEqual(first.body);
});

test('refuses another form with the same key', async () => {
  const service = await startService();
  await service.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1' });
  const { status, body } = await service.call('createVm', { form: { ...SMALL_VM, cores: 3 }, idempotencyKey: 'order-1' });
  expect(status).toBe(409);
  expect(body.type).toBe('idempotency_key_reused');
  expect(await vmsOf(service)).toBe(1);
});

test('buys one VM for many concurrent requests with the same key', async () => {
  const service = await startService();
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => service.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1' })),
  );
  expect(await vmsOf(service)).toBe(1);
  const bought = responses.filter(({ status }) => status === 200);
  expect(new Set(bought.map(({ body }) => body.data.identifier)).size).toBe(1);
  for (const { status, body } of responses) if (status !== 200) expect(body.type).toBe('idempotency_key_in_progress');
});

test('accepts the key of a refused request again', async () => {
  const service = await startService();
  expect((await service.call('createVm', { form: { ...SMALL_VM, os: 'plan_9' }, idempotencyKey: 'order-1' })).status).toBe(422);
  expect((await service.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1' })).status).toBe(200);
});

test('treats equal keys of different accounts as different', async () => {
  const service = await startService();
  const { apiKey } = await service.account();
  const one = await service.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1' });
  const other = await service.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1', apiKey });
  expect(other.body.data.identifier).not.toBe(one.body.data.identifier);
});

test.each(['', 'a b', 'ü', 'x'.repeat(256)])("refuses the malformed key '%s'", async (key) => {
  const service = await startService();
  const response = await service.send('/vm/create', {
    method: 'PUT',
    headers: { 'x-service-apikey': service.apiKey, 'idempotency-key': Buffer.from(key).toString('latin1') },
    body: new URLSearchParams(writeForm(resellerApi.operation('createVm'), SMALL_VM)),
  });
  expect(response).toMatchObject({ status: 400, body: { type: 'malformed_request' } });
});

test('returns the lifetime of keys in every response, including refusals', async () => {
  const service = await startService();
  const responses = [
    await service.call('createVm', { form: SMALL_VM }),
    await service.call('listVmHosts'),
    await service.send('/no/such/path'),
  ];
  for (const { headers } of responses) expect(headers.get('idempotency-key-lifetime')).toBe('86400');
});
