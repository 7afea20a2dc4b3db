/** Many purchases at the same moment. A busy database is not an outage. */
import { setTimeout } from 'node:timers/promises';

import { addIpPool } from '@reseller/service';
import { expectInvariants } from '@reseller/service/test/invariants.ts';
import { expect, test } from 'vitest';

import { byDepth } from '../../../../.config/depth.ts';
import { startServer } from '../process.ts';
import { tell } from './figures.ts';
import { leftReservations } from './kept.ts';
import { newPlace } from './place.ts';
import type { Place } from './place.ts';
import { goToMidMonth, newAccount } from './provider.ts';
import { fetchOf, vmPurchase } from './request.ts';
import type { ServiceResponse } from './request.ts';

const CONCURRENT_PURCHASES = byDepth({ usual: 200, deep: 2_000 });

test(`PostgreSQL: ${CONCURRENT_PURCHASES} purchases at once from one account are all bought`, { tags: 'deep' }, async () => {
  const place = await newPlace('postgres');
  const server = await startServer(place.environment());
  await makeRoom(place);
  await goToMidMonth(server);
  const account = await newAccount(server);

  const begun = performance.now();
  let repeated = 0;
  async function buy(name: string): Promise<ServiceResponse> {
    for (;;) {
      const response = await fetchOf(server.baseUrl, account.apiKey, vmPurchase(name, { key: name }));
      const wait = response.headers.get('retry-after');
      // On a slow machine, a purchase at the end of the line is asked to come again.
      if (response.status !== 503 || wait === null) return response;
      repeated++;
      await setTimeout(Number(wait) * 1_000);
    }
  }
  const responses = await Promise.all(Array.from({ length: CONCURRENT_PURCHASES }, (_, number) => buy(`burst-${number}`)));
  const milliseconds = performance.now() - begun;

  expect(responses.filter(({ status }) => status !== 200).map(({ status, body }) => [status, body.message])).toEqual([]);
  const identifiers = new Set(responses.map(({ body }) => String(body.data.identifier)));
  expect(identifiers.size).toBe(CONCURRENT_PURCHASES);
  const { body } = await fetchOf(server.baseUrl, account.apiKey, { method: 'GET', path: '/accounting/invoices/current' });
  expect(new Set(Object.keys(body.data.positions.vms))).toEqual(identifiers);
  await place.examine(async (store) => {
    expect(await leftReservations(store)).toEqual([]);
    await expectInvariants(store);
  });
  tell(
    `burst: ${CONCURRENT_PURCHASES} purchases at once from one account were bought in ${(milliseconds / 1000).toFixed(1)} s, ${repeated} of them after a 503`,
  );
});

/** Room and addresses for all. */
async function makeRoom(place: Place): Promise<void> {
  await place.examine((store) =>
    store.commit(async ({ db }) => {
      await addIpPool(db, { id: 'burst-v4', datacenter: 'AMS1', accountId: null, cidr: '198.18.0.0/18', ddosProtection: 'none' });
      await addIpPool(db, { id: 'burst-v6', datacenter: 'AMS1', accountId: null, cidr: '2001:db8:8000::/50', ddosProtection: 'none' });
      await db.updateTable('host_nodes').set({ cores: 1e9, mem: 1e12, disk: 1e12 }).execute();
    }),
  );
}
