import { expect, test } from 'vitest';

import { seededStore } from '../../../test/shared-store.ts';
import { addIpPool } from './ip-pool.ts';

test.each([
  ['100.127.0.0/30', 4, '100.127.0.1', ['100.127.0.2']],
  ['100.127.0.8/29', 4, '100.127.0.9', ['100.127.0.10', '100.127.0.11', '100.127.0.12', '100.127.0.13', '100.127.0.14']],
  ['2001:db8:ffff::/62', 6, '2001:db8:ffff::1', ['2001:db8:ffff:1::/64', '2001:db8:ffff:2::/64', '2001:db8:ffff:3::/64']],
])('%s assigns all but the network, its gateway and its broadcast address', async (cidr, family, gateway, addresses) => {
  const store = await seededStore();
  const pool = { id: 'new', datacenter: 'AMS1', accountId: null, cidr, ddosProtection: 'Arbor' };
  await store.commit(({ db }) => addIpPool(db, pool));
  expect(await store.read((db) => db.selectFrom('ip_pools').selectAll().where('id', '=', 'new').execute())).toEqual([
    { id: 'new', family, datacenter_name: 'AMS1', account_id: null, cidr, gateway, ddos_protection: 'Arbor' },
  ]);
  expect(
    await store.read((db) => db.selectFrom('ip_addresses').selectAll().where('pool_id', '=', 'new').orderBy('position').execute()),
  ).toEqual(
    addresses.map((address, position) => ({ address, pool_id: 'new', position, datacenter_name: 'AMS1', family, owner: '', vm_id: null })),
  );
});

// A statement has at most 500 addresses. A /23 has 509 of them, and a /55 has 511 networks.
test.each([
  ['100.126.0.0/23', 509, '100.126.1.254'],
  ['2001:db8:fff0::/55', 511, '2001:db8:fff0:1ff::/64'],
])('%s assigns %i addresses', async (cidr, count, last) => {
  const store = await seededStore();
  await store.commit(({ db }) => addIpPool(db, { id: 'new', datacenter: 'AMS1', accountId: null, cidr, ddosProtection: 'Arbor' }));
  const rows = await store.read((db) =>
    db.selectFrom('ip_addresses').select('address').where('pool_id', '=', 'new').orderBy('position').execute(),
  );
  expect([rows.length, rows.at(-1)?.address]).toEqual([count, last]);
});
