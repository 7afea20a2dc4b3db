import type { Ports } from '../ports/ports.ts';
import type { Store } from '../store/store.ts';
import type { Recover } from './delivery.ts';
import type { Instance } from './instance.ts';

/** What deliveries and scheduled jobs run with. */
export interface Runtime {
  readonly store: Store;
  readonly ports: Ports;
  /** At least 32 characters, and not in the store. Hashes one-time codes, and encrypts what is shown again. */
  readonly secret: string;
  readonly instance: Instance;
  /** Every delivery, by the name that reservations store. */
  readonly deliveries: Readonly<Record<string, Recover>>;
  /** Aborted when the service stops. Nothing new starts then. */
  readonly closing: AbortSignal;
}
