import { expect, test } from 'vitest';

import { ACCESS, completeSetUp, EPYC, orderServer, RYZEN } from '../../../test/dedicated.ts';
import { SECRET, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { addressesOfServers, offeredIps, toDedicatedServer, toMarketItem } from './responses.ts';
import { findServer } from './server.ts';

const IPS = {
  ipv4: [{ address: '100.112.0.10', gateway: '100.112.0.1' }],
  ipv6: [{ address: '2001:db8:69d0:10::/64', gateway: '2001:db8:69d0::1' }],
};
const NONE = { ipv4: [], ipv6: [] };
const options = { secrets: { secret: SECRET }, vat: 1_900 };

async function serverOf({ store }: TestService, identifier: string) {
  const server = await store.read((db) => findServer(db, identifier));
  if (!server) throw new Error(`The market has no server ${identifier}.`);
  return server;
}

test('shows the addresses, the access and the renewal of a server from the state in which it gets them', async () => {
  const service = await startService();
  const { id } = await service.account();
  const toResponse = async () => {
    const { deployed, accounting, management, ips } = toDedicatedServer(await serverOf(service, EPYC), IPS, options);
    return { deployed, accounting, management, ips };
  };
  const price = { net: 149, gross: 177.31 };
  const runtime = { amount: 30, unit: 'days' };
  const accounting = { price, runtime, renew: null, terminated: false };
  expect(await toResponse()).toEqual({ deployed: false, accounting, management: null, ips: NONE });
  await orderServer(service, EPYC, id);
  expect(await toResponse()).toEqual({ deployed: false, accounting, management: null, ips: IPS });
  await completeSetUp(service, EPYC);
  const renew = '2026-12-10T12:03:17.000Z';
  expect(await toResponse()).toEqual({ deployed: true, accounting: { ...accounting, renew }, management: ACCESS, ips: IPS });
  await service.store.commit(({ db }) => db.updateTable('dedicated_servers').set({ terminated: 1 }).where('id', '=', EPYC).execute());
  expect(await toResponse()).toMatchObject({ deployed: true, accounting: { renew, terminated: true } });
});

test('throws an error with the name of the server if its access is incomplete or sealed with another secret', async () => {
  const service = await startService();
  const { id } = await service.account();
  await orderServer(service, RYZEN, id);
  await completeSetUp(service, RYZEN);
  const server = await serverOf(service, RYZEN);
  const message = `The management access of the dedicated server ${RYZEN} is missing or was encrypted with another secret.`;
  for (const lost of ['dashboard', 'username', 'email', 'sealed_password'] as const)
    expect(() => toDedicatedServer({ ...server, [lost]: null }, IPS, options)).toThrow(message);
  expect(() => toDedicatedServer(server, IPS, { ...options, secrets: { secret: 'y'.repeat(32) } })).toThrow(message);
  expect(() => toDedicatedServer({ ...server, due: null }, IPS, options)).toThrow('is deployed and has no renewal date');
});

test.each([
  [null, NONE, { included: false, amount: 0 }, { included: false, amount: null }],
  [null, IPS, { included: true, amount: 1 }, { included: true, amount: 1 }],
  ['{"ipv4":0,"ipv6":0}', IPS, { included: false, amount: 0 }, { included: false, amount: null }],
  ['{"ipv4":2,"ipv6":3}', NONE, { included: true, amount: 2 }, { included: true, amount: 3 }],
  ['{"ipv4":1,"ipv6":null}', NONE, { included: true, amount: 1 }, { included: true, amount: null }],
])('shows an offer of %s addresses', async (offered_ips, ips, ipv4, ipv6) => {
  const service = await startService();
  const server = { ...(await serverOf(service, RYZEN)), offered_ips };
  expect(toMarketItem(server, ips, 1_900)).toMatchObject({
    ips: { ipv4, ipv6 },
    price: { net: 89, gross: 105.91, runtime: { amount: 30, unit: 'days' } },
    status: { type: 'not_ready', description: 'The server is set up after the order.' },
  });
  expect(offeredIps(server, ips).ipv4).toBe(ipv4.amount);
});

test('returns the addresses of each server by family and position, also for a server without addresses', async () => {
  const service = await startService();
  const address = (server_id: string, family: number, position: number, text: string) => ({
    server_id,
    family,
    position,
    address: text,
    gateway: 'g',
  });
  await service.store.commit(async ({ db }) => {
    await db.deleteFrom('dedicated_addresses').execute();
    const rows = [address(EPYC, 6, 0, 'f'), address(EPYC, 4, 1, 'b'), address(EPYC, 4, 0, 'c'), address(RYZEN, 4, 0, 'd')];
    await db.insertInto('dedicated_addresses').values(rows).execute();
  });
  const servers = [await serverOf(service, EPYC), await serverOf(service, RYZEN)];
  const addresses = (count: number) => service.store.read(async (db) => [...(await addressesOfServers(db, servers.slice(0, count)))]);
  const epyc = [EPYC, { ipv4: ['c', 'b'].map((text) => ({ address: text, gateway: 'g' })), ipv6: [{ address: 'f', gateway: 'g' }] }];
  expect(await addresses(0)).toEqual([]);
  expect(await addresses(1)).toEqual([epyc]);
  expect(await addresses(2)).toEqual([epyc, [RYZEN, { ipv4: [{ address: 'd', gateway: 'g' }], ipv6: [] }]]);
});
