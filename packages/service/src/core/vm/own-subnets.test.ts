/** The addresses of a VM: those of the account's own subnets first, then those of the provider if the account allows it. */
import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';
import { addIpPool } from '../catalogue/ip-pool.ts';
import type { IpPool } from '../catalogue/ip-pool.ts';

/** A service whose account has 3 IPv4 addresses in two subnets, and one IPv6 network, in Amsterdam. */
async function withOwnSubnets() {
  const service = await startService();
  const { id, apiKey } = await service.account();
  const own: Omit<IpPool, 'id' | 'cidr'> = { datacenter: 'AMS1', accountId: id, ddosProtection: 'own' };
  await service.store.commit(async ({ db }) => {
    // The identifier comes after that of the provider's pool, and the addresses come before.
    await addIpPool(db, { ...own, id: 'own-2', cidr: '100.60.0.0/30' });
    await addIpPool(db, { ...own, id: 'own-1', cidr: '100.61.0.0/29' });
    await addIpPool(db, { ...own, id: 'own-v6', cidr: '2001:db8:ffff:fffe::/63' });
    await db.deleteFrom('ip_addresses').where('pool_id', '=', 'own-1').where('position', '>', 1).execute();
  });
  const buy = async (form: object) => {
    const { status, body } = await service.call('createVm', { form: { ...SMALL_VM, ...form }, apiKey });
    if (status !== 200) return { status, message: body.message };
    const { ipv4, ipv6 } = body.data.config;
    return { status, vm: body.data.identifier, ipv4: ipv4.map(toText), ipv6: ipv6.map(toNetwork) };
  };
  const assignedAddresses = async () =>
    (await service.store.read((db) => db.selectFrom('ip_addresses').select('address').where('vm_id', 'is not', null).execute())).length;
  return { service, apiKey, buy, assignedAddresses };
}

const toNetwork = ({ ip_address, ip_gateway }: { ip_address: string; ip_gateway: string }) => `${ip_address} via ${ip_gateway}`;
const toText = ({ address, gateway }: { address: string; gateway: string }) => `${address} via ${gateway}`;

test('assigns addresses of own subnets in the order of the pools, and no others', async () => {
  const { buy, assignedAddresses } = await withOwnSubnets();
  expect(await buy({ ips: 3 })).toMatchObject({
    ipv4: ['100.61.0.2 via 100.61.0.1', '100.61.0.3 via 100.61.0.1', '100.60.0.2 via 100.60.0.1'],
    ipv6: ['2001:db8:ffff:ffff::/64 via 2001:db8:ffff:fffe::1'],
  });
  expect(await assignedAddresses()).toBe(4);
});

test('adds addresses of the provider if own subnets have too few, only if the account allows it', async () => {
  const { buy, assignedAddresses } = await withOwnSubnets();
  expect(await buy({ ips: 4 })).toEqual({
    status: 409,
    message:
      'The data centre AMS1 has fewer than 4 free IPv4 addresses. Choose fewer addresses or another location, or set allowFallbackIPs if only your own subnets have run out.',
  });
  expect(await assignedAddresses()).toBe(0);
  expect(await buy({ ips: 4, allowFallbackIPs: true })).toMatchObject({
    ipv4: ['100.61.0.2 via 100.61.0.1', '100.61.0.3 via 100.61.0.1', '100.60.0.2 via 100.60.0.1', '100.64.0.2 via 100.64.0.1'],
    ipv6: ['2001:db8:ffff:ffff::/64 via 2001:db8:ffff:fffe::1'],
  });
  expect(await assignedAddresses()).toBe(5);
  // All own networks are in use now.
  expect(await buy({ allowFallbackIPs: false })).toMatchObject({
    status: 409,
    message: expect.stringContaining('fewer than 1 free IPv4 address. Choose'),
  });
  expect(await buy({ allowFallbackIPs: true })).toMatchObject({
    ipv4: ['100.64.0.3 via 100.64.0.1'],
    ipv6: ['2001:db8:4100:1::/64 via 2001:db8:4100::1'],
  });
  expect(await assignedAddresses()).toBe(7);
});

test('needs no permission for addresses of the provider at a location without own subnets', async () => {
  const { buy } = await withOwnSubnets();
  expect(await buy({ hostsystem: 'de_xeon' })).toMatchObject({ ipv4: ['100.96.0.2 via 100.96.0.1'] });
});

test('needs no permission for a network of the provider if its own subnets at the location are of the other family', async () => {
  const { service, buy } = await withOwnSubnets();
  await service.store.commit(async ({ db }) => {
    await db.deleteFrom('ip_addresses').where('pool_id', '=', 'own-v6').execute();
    await db.deleteFrom('ip_pools').where('id', '=', 'own-v6').execute();
  });
  expect(await buy({ ips: 1, allowFallbackIPs: false })).toMatchObject({
    ipv4: ['100.61.0.2 via 100.61.0.1'],
    ipv6: ['2001:db8:4100:1::/64 via 2001:db8:4100::1'],
  });
});

test('never assigns own subnets to another account', async () => {
  const { service } = await withOwnSubnets();
  const { body } = await service.call('createVm', { form: { ...SMALL_VM, allowFallbackIPs: true } });
  expect(body.data.config.ipv4.map(toText)).toEqual(['100.64.0.2 via 100.64.0.1']);
});

test('applies the same rule to a resize: addresses of the provider are assigned last and returned first', async () => {
  const { service, apiKey, buy, assignedAddresses } = await withOwnSubnets();
  const { vm } = await buy({ ips: 2 });
  const resize = (ips: number, allowFallbackIPs: boolean) => service.vms.resize(vm, { resources: { ips }, allowFallbackIPs });
  const ipv4 = async () => {
    const { body } = await service.call('getVmConfig', { path: { vmid: String(vm) }, apiKey });
    return body.data.config.ipv4.map(({ ip_address }: { ip_address: string }) => ip_address);
  };
  await expect(resize(4, false)).rejects.toMatchObject({ status: 409, type: 'out_of_capacity' });
  expect(await ipv4()).toEqual(['100.61.0.2', '100.61.0.3']);
  await resize(4, true);
  expect(await ipv4()).toEqual(['100.61.0.2', '100.61.0.3', '100.60.0.2', '100.64.0.2']);
  await resize(3, true);
  expect(await ipv4()).toEqual(['100.61.0.2', '100.61.0.3', '100.60.0.2']);
  expect(await assignedAddresses()).toBe(4);
  await resize(3, true);
  expect(await assignedAddresses()).toBe(4);
});
