/**
 * Calls to the fleet, which sets up a dedicated server after an order and retires it at its end. The transaction of the order or the end
 * enqueues the call, and recovery delivers it until it succeeds.
 */
import type { Subject } from '@reseller/adapters';
import * as v from 'valibot';

import type { FinishableDelivery } from '../../delivery/delivery.ts';
import { enqueue } from '../../delivery/enqueue.ts';
import type { Ports } from '../../ports/ports.ts';
import type { Db } from '../../store/store.ts';

const setUpDetails = v.object({
  identifier: v.string(),
  accountId: v.string(),
  datacenter: v.string(),
  addresses: v.array(v.string()),
});
const retirementDetails = v.object({ identifier: v.string(), accountId: v.string() });
type SetUpOrder = v.InferOutput<typeof setUpDetails>;
type Retirement = v.InferOutput<typeof retirementDetails>;

function serverSubject({ identifier }: Retirement): Subject {
  return `server/${identifier}`;
}

export const serverSetUp: FinishableDelivery<SetUpOrder> = {
  name: 'setUpServer',
  details: setUpDetails,
  subject: serverSubject,
  finish: {
    call: ({ fleet }, order, token) => fleet.setUp(order, token),
    async store() {},
  },
};

export const serverRetirement: FinishableDelivery<Retirement> = {
  name: 'retireServer',
  details: retirementDetails,
  subject: serverSubject,
  finish: {
    call: ({ fleet }, { identifier }, token) => fleet.retire(identifier, token),
    async store() {},
  },
};

export async function enqueueSetUp(db: Db, ports: Ports, server: Omit<SetUpOrder, 'addresses'>): Promise<void> {
  const rows = await db
    .selectFrom('dedicated_addresses')
    .select('address')
    .where('server_id', '=', server.identifier)
    .orderBy('family')
    .orderBy('position')
    .execute();
  const details = { ...server, addresses: rows.map(({ address }) => address) };
  await enqueue(db, ports, serverSetUp, { accountId: server.accountId, details });
}

/** Supersedes a set-up that the fleet has not carried out yet. */
export function enqueueRetirement(db: Db, ports: Ports, server: Retirement): Promise<void> {
  return enqueue(db, ports, serverRetirement, { accountId: server.accountId, details: server });
}
