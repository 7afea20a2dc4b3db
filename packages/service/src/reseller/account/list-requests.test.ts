import type { RequestLogItem } from '@reseller/client';
import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';
import { START } from '../../../test/ports/clock.ts';

test('lists every request, newest first, including refused ones', async () => {
  const service = await startService();
  const created = await service.call('createVm', { form: SMALL_VM });
  await service.call('createVm', { form: { ...SMALL_VM, cores: 99 } });
  await service.send('/nowhere', { headers: { 'x-service-apikey': service.apiKey } });
  await service.send('/vm/create', {
    method: 'PUT',
    headers: { 'x-service-apikey': service.apiKey, 'content-type': 'application/json' },
    body: '{}',
  });
  const { body } = await service.call('listRequests');
  expect(body.requestID).toBeNull();
  expect(body.data.map((entry: RequestLogItem) => [entry.method, entry.endpoint, entry.success, entry.error_type])).toEqual([
    ['PUT', '/vm/create', 0, 'unsupported_media_type'],
    ['GET', '/nowhere', 0, 'not_found'],
    ['PUT', '/vm/create', 0, 'validation_failed'],
    ['PUT', '/vm/create', 1, null],
  ]);
  const [, , , first] = body.data;
  expect(first.requestID).toBe(created.body.requestID);
  expect(first.requestDate).toBe(new Date(START).toISOString());
  expect(JSON.parse(first.request_body)).toEqual(SMALL_VM);
  expect(JSON.parse(first.response_body).data.identifier).toBe(created.body.data.identifier);
});

test('returns pages of 50 without missing or repeated entries', async () => {
  const service = await startService();
  const ids: string[] = [];
  for (let count = 0; count < 120; count++) ids.unshift((await service.call('getCurrentInvoice')).body.requestID);
  const page = async (offset?: number) =>
    (await service.call('listRequests', offset === undefined ? {} : { form: { offset } })).body.data.map(
      (entry: { requestID: string }) => entry.requestID,
    );
  const first = await page();
  expect(first).toEqual(ids.slice(0, 50));
  // Each read of the log is itself an entry of it.
  expect(await page(51)).toEqual(ids.slice(50, 100));
  expect(await page(102)).toEqual(ids.slice(100, 120));
  expect(await page(1000)).toEqual([]);
});

test.each(['0', '-1', '1.5', 'ten', '', '99999999999999999999'])("refuses the offset '%s'", async (offset) => {
  const service = await startService();
  const { status, body } = await service.call('listRequests', { form: { offset } });
  expect(status).toBe(422);
  expect(body.data.fields[0].field).toBe('offset');
});

test('shows no entries to another account', async () => {
  const service = await startService();
  await service.call('getCurrentInvoice');
  const { apiKey } = await service.account();
  expect((await service.call('listRequests', { apiKey })).body.data).toEqual([]);
});
