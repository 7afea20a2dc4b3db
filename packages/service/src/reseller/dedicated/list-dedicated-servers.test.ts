import { expect, test } from 'vitest';

import { tablesWith } from '../../../test/contents.ts';
import { ACCESS, completeSetUp, deployedServer, EPYC, orderServer, RYZEN, XEON } from '../../../test/dedicated.ts';
import { startService } from '../../../test/harness.ts';

test('returns an empty list for an account without servers', async () => {
  const service = await startService();
  expect((await service.call('listDedicatedServers')).body.data).toEqual({ list: [] });
});

test('lists servers in set-up, deployed and cancelled, with the same data as the details', async () => {
  const service = await startService();
  const { id, apiKey } = await deployedServer(service, EPYC);
  await service.call('deleteDedicatedServer', { path: { identifier: EPYC }, apiKey });
  service.clock.advance(1000);
  await orderServer(service, XEON, id);
  service.clock.advance(1000);
  await orderServer(service, RYZEN, id);
  await completeSetUp(service, RYZEN);
  const { list } = (await service.call('listDedicatedServers', { apiKey })).body.data;
  expect(list.map(({ identifier, deployed, accounting }: Listed) => [identifier, deployed, accounting.terminated])).toEqual([
    [EPYC, true, true],
    [XEON, false, false],
    [RYZEN, true, false],
  ]);
  for (const server of list) {
    expect((await service.call('getDedicatedServer', { path: { identifier: server.identifier }, apiKey })).body.data).toEqual(server);
  }
});

test('does not list them for another account', async () => {
  const service = await startService();
  await deployedServer(service);
  expect((await service.call('listDedicatedServers')).body.data).toEqual({ list: [] });
});

test('returns the management password only in the response: the log does not have it, and the store seals it', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  const { list } = (await service.call('listDedicatedServers', { apiKey })).body.data;
  expect(list[0].management).toEqual(ACCESS);
  const log = await service.call('listRequests', { apiKey });
  expect(JSON.parse(log.body.data[0].response_body).data.list[0].management.password).toBe('***');
  expect(await tablesWith(service.store, ACCESS.username)).toContain('dedicated_servers');
  expect(await tablesWith(service.store, ACCESS.password)).toEqual([]);
});

interface Listed {
  readonly identifier: string;
  readonly deployed: boolean;
  readonly accounting: { readonly terminated: boolean };
}
