import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { SMALL_VM } from '../../test/harness.ts';
import { startOperator } from '../../test/operator.ts';
import { addConfirmed } from '../../test/webhook-receiver.ts';

test('lists the events of an account in pages, the newest first, and none of another account', async () => {
  const service = await startOperator();
  const { id, apiKey } = await service.account();
  const other = await service.account();
  const vmid = String((await service.call('createVm', { form: SMALL_VM, apiKey })).body.data.identifier);
  for (const mode of ['stop', 'start']) await service.call('setVmPower', { path: { vmid }, form: { mode }, apiKey });
  await service.runScheduledJobs();
  const list = (account_id: string, query = {}) => operator.listAccountEvents({ client: service.client, path: { account_id }, query });
  const first = await list(id, { limit: 2 });
  expect(first.items.map(({ position, type }) => [position, type])).toEqual([
    [3, 'vm.started'],
    [2, 'vm.stopped'],
  ]);
  const second = await list(id, { limit: 2, cursor: first.next_cursor });
  expect([second.items.map(({ type }) => type), second.next_cursor]).toEqual([['vm.created'], null]);
  expect((await list(other.id)).items).toEqual([]);
});

test('lists the webhooks of an account with what waits and what was given up, and without their secrets', async () => {
  const service = await startOperator();
  const { id, apiKey } = await service.account();
  const form = { url: 'https://panel.reseller-customer.invalid/', events: 'vm.created' };
  const { signing_secret, webhook_id } = await addConfirmed(service, form, apiKey);
  for (let count = 0; count < 3; count++) await service.call('testWebhook', { path: { webhook_id }, apiKey });
  await service.store.commit(({ db }) => db.updateTable('webhook_deliveries').set({ state: 'failed' }).where('number', '=', 1).execute());
  const page = await operator.listAccountWebhooks({ client: service.client, path: { account_id: id } });
  expect(page.items).toMatchObject([
    { id: webhook_id, ...form, events: ['vm.created'], enabled: true, confirmed: true, pending: 2, failed: 1 },
  ]);
  await service.call('editWebhook', { path: { webhook_id }, form: { url: 'https://panel.reseller-customer.invalid/new' }, apiKey });
  const moved = await operator.listAccountWebhooks({ client: service.client, path: { account_id: id } });
  expect(moved.items).toMatchObject([{ confirmed: false, pending: 3 }]);
  expect(JSON.stringify(page)).not.toContain(signing_secret);
});
