import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../test/engines.ts';
import { SMALL_VM } from '../../test/harness.ts';
import { refusalOf, startOperator } from '../../test/operator.ts';

describe.each(engines)('on %s', (engine) => {
  test('lets a read-only key read and change nothing, and keeps it read-only after a rotation', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const { id, apiKey } = await service.account();
    const path = { account_id: id };
    const reading = await operator.issueApiKey({ client, path, body: { label: 'Dashboard', access: 'read' } });
    expect(reading).toMatchObject({ label: 'Dashboard', access: 'read' });
    expect(await operator.issueApiKey({ client, path, body: { label: 'Shop' } })).toMatchObject({ access: 'full' });
    const { issued, replaced } = await operator.rotateApiKey({ client, path: { api_key_id: reading.id }, body: {} });
    expect([issued.access, replaced.access]).toEqual(['read', 'read']);

    const purchase = { form: SMALL_VM, idempotencyKey: 'order-1' };
    for (const { key } of [reading, issued]) {
      expect(await service.call('createVm', { ...purchase, apiKey: key })).toMatchObject({ status: 403, body: { type: 'read_only_key' } });
    }
    expect(service.hypervisor.vms.size).toBe(0);
    const bought = await service.call('createVm', { ...purchase, apiKey });
    expect(bought.status).toBe(200);
    const { body } = await service.call('listVms', { apiKey: issued.key });
    expect(JSON.stringify(body.data)).toContain(String(bought.body.data.identifier));
    const log = await service.call('listRequests', { apiKey: issued.key });
    expect(log.body.data.map((entry: { error_type: unknown }) => entry.error_type)).toEqual([null, null, 'read_only_key', 'read_only_key']);
    const { items } = await operator.listApiKeys({ client, path });
    expect(items.map(({ access }) => access).toSorted()).toEqual(['full', 'full', 'read', 'read']);
  });
});

test('refuses an unknown access, and names the two valid ones', async () => {
  const service = await startOperator();
  const { id } = await service.account();
  const refused = await service.operate(`/accounts/${id}/api-keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"label":"x","access":"write"}',
  });
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/access', detail: expect.stringMatching(/full.*read/) }] } });
  expect(await refusalOf(operator.listApiKeys({ client: service.client, path: { account_id: 'x' } }))).toMatchObject({ status: 400 });
});
