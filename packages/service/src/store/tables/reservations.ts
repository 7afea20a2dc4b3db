import type { Generated } from 'kysely';

/** Deliveries that are in progress or enqueued. */
export interface ReservationsTable {
  id: string;
  account_id: string;
  /** The name of the delivery. */
  delivery: string;
  /** JSON of the part of the delivery that recovery reads. */
  details: string;
  /** The VM, domain or server that the port calls are about, as in `fencing_tokens`. */
  subject: string;
  /** The instance that delivers it. Empty if every instance may claim it. */
  owner: string;
  /** The caller's Idempotency-Key, hashed. Null if the request had none. */
  key_hash: string | null;
  /** Milliseconds. */
  created: number;
  /** Money: its hold beyond that of its details, since the month of the order has ended. */
  extra_hold: Generated<number>;
}
