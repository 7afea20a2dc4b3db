import { v7 as uuidv7 } from 'uuid';

import type { Ports } from '../ports/ports.ts';
import type { Db } from '../store/store.ts';
import type { FinishableDelivery } from './delivery.ts';
import { enqueueReservation } from './reservation.ts';

/** Enqueues a delivery for an account, which recovery carries out after the transaction until it succeeds. */
export async function enqueue<Details>(
  db: Db,
  { clock, random }: Ports,
  delivery: Pick<FinishableDelivery<Details>, 'name' | 'subject'>,
  { accountId, details }: { readonly accountId: string; readonly details: Details },
): Promise<void> {
  const now = clock.now();
  const reservation = {
    id: uuidv7({ msecs: now, random: random.bytes(16) }),
    accountId,
    delivery: delivery.name,
    details: JSON.stringify(details),
    keyHash: null,
    subject: delivery.subject(details),
  };
  await enqueueReservation(db, reservation, now);
}
