/**
 * What the fleet is to be told: which servers to set up and which to retire. It is stored with the
 * order or the end that it follows from and crossed out when the fleet has done it, so a crash in
 * between leads to one more call, never to none.
 */
import type { Ports } from '../../ports/ports.ts';
import type { Store } from '../../store/store.ts';
import type { ServerRow } from './server.ts';

/**
 * Tells the fleet all that it has not been told.
 *
 * @returns How many tasks it did.
 * @throws AggregateError when it fails in some of them; those are left for the next time.
 */
export async function tellFleet(store: Store, ports: Ports): Promise<number> {
  const servers = await store.read((db) =>
    db.selectFrom('dedicated_servers').selectAll().where('fleet_task', 'is not', null).orderBy('id').execute(),
  );
  const failures: unknown[] = [];
  for (const server of servers) {
    try {
      await carryOut(store, ports, server);
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `The fleet failed in ${failures.length} of ${servers.length} tasks.`);
  return servers.length;
}

async function carryOut(store: Store, { fleet }: Ports, { id, account_id, fleet_task, datacenter_name }: ServerRow): Promise<void> {
  if (fleet_task === 'set_up' && account_id !== null) {
    const rows = await store.read((db) =>
      db.selectFrom('dedicated_addresses').select('address').where('server_id', '=', id).orderBy('family').orderBy('position').execute(),
    );
    await fleet.setUp({
      identifier: id,
      accountId: account_id,
      datacenter: datacenter_name,
      addresses: rows.map(({ address }) => address),
    });
  } else {
    await fleet.retire(id);
  }
  await store.commit(({ db }) =>
    db.updateTable('dedicated_servers').set({ fleet_task: null }).where('id', '=', id).where('fleet_task', '=', fleet_task).execute(),
  );
}
