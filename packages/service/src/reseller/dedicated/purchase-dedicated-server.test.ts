import { expect, test } from 'vitest';

import { deployedServer, RYZEN, XEON } from '../../../test/dedicated.ts';
import { startService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';

test('orders a server of the market once, if the price guard allows its price', async () => {
  const service = await startService();
  const purchase = (max_price: string) => service.call('purchaseDedicatedServer', { path: { identifier: XEON }, form: { max_price } });
  expect(await purchase('58.99')).toMatchObject({ status: 412, body: { type: 'precondition_failed' } });
  expect((await service.call('listDedicatedServers')).body.data.list).toEqual([]);
  expect(await purchase('59.00')).toMatchObject({ status: 200, body: { data: { identifier: XEON } } });
  expect((await service.call('listDedicatedServers')).body.data.list).toMatchObject([{ identifier: XEON, deployed: false }]);
  // The price is held and the server is no longer offered, so the price guard is not checked.
  expect(await purchase('0.01')).toMatchObject({ status: 409, body: { type: 'wrong_state' } });
  await expectInvariants(service.store);
});

test('responds with 404 to the former account of an ended server, even before the job that ends it has run', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service, RYZEN);
  const of = { apiKey, path: { identifier: RYZEN } };
  expect((await service.call('deleteDedicatedServer', of)).status).toBe(200);
  service.clock.advanceTo('2027-12-01T00:00:00Z');
  expect((await service.call('purchaseDedicatedServer', { ...of, form: {} })).status).toBe(404);
  expect((await service.call('getDedicatedOffer', of)).status).toBe(404);
});
