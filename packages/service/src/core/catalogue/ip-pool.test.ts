import fc from 'fast-check';
import { Address4, Address6 } from 'ip-address';
import { expect, test } from 'vitest';

import { engines, storePlace } from '../../../test/engines.ts';
import { seededStore } from '../../../test/shared-store.ts';
import type { Store } from '../../store/store.ts';
import { addIpPool } from './ip-pool.ts';

const ipv4 = fc
  .tuple(fc.nat({ max: 2 ** 32 - 1 }), fc.integer({ min: 25, max: 30 }))
  .map(([value, prefix]) => `${Address4.fromBigInt(BigInt(value)).correctForm()}/${prefix}`);
/** Zero groups, which the short form of an IPv6 address shortens. */
const group = fc.oneof(fc.constantFrom(0, 1, 0xffff), fc.nat({ max: 0xffff }));
const ipv6 = fc
  .tuple(fc.array(group, { minLength: 4, maxLength: 4 }), fc.integer({ min: 57, max: 63 }))
  .map(([groups, prefix]) => `${groups.map((one) => one.toString(16)).join(':')}::/${prefix}`);

test('a pool has every address of its subnet in the usual form, except network, gateway and broadcast', async () => {
  const store = await newStore('sqlite');
  let id = 0;
  await fc.assert(
    fc.asyncProperty(ipv4, async (cidr) => {
      const network = new Address4(cidr);
      const [first, last] = [network.startAddress().bigInt(), network.endAddress().bigInt()];
      const text = (address: bigint): string => Address4.fromBigInt(address).correctForm();
      expect(await poolOf(store, `v4-${id++}`, cidr)).toEqual({ gateway: text(first + 1n), addresses: range(first + 2n, last).map(text) });
    }),
    { numRuns: 40 },
  );
});

test('a pool has every /64 network in the usual form, except that of its gateway', async () => {
  const store = await newStore('sqlite');
  let id = 0;
  await fc.assert(
    fc.asyncProperty(ipv6, async (cidr) => {
      const network = new Address6(cidr);
      const [first, last] = [network.startAddress().bigInt(), network.endAddress().bigInt()];
      const text = (address: bigint): string => Address6.fromBigInt(address).correctForm();
      expect(await poolOf(store, `v6-${id++}`, cidr)).toEqual({
        gateway: text(first + 1n),
        addresses: range(1n, (last - first + 1n) >> 64n).map((index) => `${text(first + (index << 64n))}/64`),
      });
    }),
    { numRuns: 60 },
  );
});

test.each(engines)('on %s, inserts the rows of a snapshot, which are text, with their types', async (engine) => {
  const store = await newStore(engine);
  const row = {
    id: 'pool',
    family: 4,
    datacenter_name: `it's "ä" \\ 😀`,
    account_id: null,
    cidr: '192.0.2.0/30',
    gateway: '192.0.2.1',
    ddos_protection: '{"json":[1]}',
  };
  await store.commit(({ db }) => store.insertRows(db, 'ip_pools', Object.keys(row), JSON.stringify([row, { ...row, id: 'other' }])));
  expect(await store.read((db) => db.selectFrom('ip_pools').selectAll().orderBy('id').execute())).toEqual([{ ...row, id: 'other' }, row]);
});

test.each([
  ['100.127.0.0/30', 4, '100.127.0.1', ['100.127.0.2']],
  ['100.127.0.8/29', 4, '100.127.0.9', ['100.127.0.10', '100.127.0.11', '100.127.0.12', '100.127.0.13', '100.127.0.14']],
  ['2001:db8:ffff::/62', 6, '2001:db8:ffff::1', ['2001:db8:ffff:1::/64', '2001:db8:ffff:2::/64', '2001:db8:ffff:3::/64']],
])('%s assigns all addresses except network, gateway and broadcast', async (cidr, family, gateway, addresses) => {
  const store = await storeWithPool(cidr);
  expect(await store.read((db) => db.selectFrom('ip_pools').selectAll().where('id', '=', 'new').execute())).toEqual([
    { id: 'new', family, datacenter_name: 'AMS1', account_id: null, cidr, gateway, ddos_protection: 'Arbor' },
  ]);
  const shared = {
    pool_id: 'new',
    datacenter_name: 'AMS1',
    family,
    owner: '',
    vm_id: null,
    pending: 0,
    added: 0,
    requires_restart: 0,
    released: 0,
  };
  expect(await addressesOfPool(store)).toEqual(addresses.map((address, position) => ({ ...shared, address, position })));
});

test.each([
  ['100.126.0.0/23', 509, '100.126.1.254'],
  ['2001:db8:fff0::/55', 511, '2001:db8:fff0:1ff::/64'],
])('%s assigns %i addresses', async (cidr, count, last) => {
  const rows = await addressesOfPool(await storeWithPool(cidr));
  expect([rows.length, rows.at(-1)?.address]).toEqual([count, last]);
});

/** The data of the sandbox with a further pool of the provider. */
async function storeWithPool(cidr: string): Promise<Store> {
  const store = await seededStore();
  await store.commit(({ db }) => addIpPool(db, { id: 'new', datacenter: 'AMS1', accountId: null, cidr, ddosProtection: 'Arbor' }));
  return store;
}

function addressesOfPool(store: Store) {
  return store.read((db) => db.selectFrom('ip_addresses').selectAll().where('pool_id', '=', 'new').orderBy('position').execute());
}

async function newStore(engine: (typeof engines)[number]): Promise<Store> {
  return (await storePlace(engine)).open();
}

/** Adds a pool, reads it and removes it. */
async function poolOf(store: Store, id: string, cidr: string) {
  const pool = { id, datacenter: 'AMS1', accountId: null, cidr, ddosProtection: 'none' };
  return store.commit(async ({ db }) => {
    await addIpPool(db, pool);
    const { gateway } = await db.selectFrom('ip_pools').select('gateway').where('id', '=', id).executeTakeFirstOrThrow();
    const rows = await db.selectFrom('ip_addresses').select('address').where('pool_id', '=', id).orderBy('position').execute();
    await db.deleteFrom('ip_addresses').execute();
    return { gateway, addresses: rows.map(({ address }) => address) };
  });
}

function range(from: bigint, below: bigint): bigint[] {
  return Array.from({ length: Number(below - from) }, (_, index) => from + BigInt(index));
}
