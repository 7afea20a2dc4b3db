import type { WorkQueue } from '@reseller/operator-client';

import type { Ports } from '../ports/ports.ts';
import type { Mode } from '../rules/mode.ts';
import type { QueueFigures } from '../rules/queue-figures.ts';
import type { ConsoleLimits } from '../rules/vm-console.ts';
import type { Store } from '../store/store.ts';
import type { AnyDelivery } from './delivery.ts';
import type { Instance } from './instance.ts';

/** Those that the document names. */
export type QueueName = Named<WorkQueue['queue']>;
/** Without the texts that later versions may have. */
type Named<Text> = Text extends string ? (string extends Text ? never : Text) : never;

/** Queues that are not in the store, such as the export of the audit to a file. A queue that does not exist here is undefined. */
export type OwnQueues = Readonly<Partial<Record<QueueName, () => Promise<QueueFigures | undefined>>>>;

/** Everything that operations, deliveries and scheduled jobs need. One per process. */
export interface Runtime {
  readonly store: Store;
  readonly ports: Ports;
  /** At least 32 characters, and not in the store. It hashes one-time codes, and encrypts the values that responses return again. */
  readonly secret: string;
  /** Also accepted, while the secret is rotated. */
  readonly previousSecret: string | undefined;
  readonly mode: Mode;
  /** Whether the reseller API has the operations of the extension, and the properties that it adds to responses. */
  readonly hasExtension: boolean;
  /** The minimum number of days for which a link to an invoice document is valid. */
  readonly invoiceLinkDays: number;
  readonly consoleLimits: ConsoleLimits;
  /** Milliseconds after which a port call counts as failed. */
  readonly portTimeoutMs: number;
  /** The identifiers that new VMs may get. */
  readonly vmIdentifiers: { readonly minimum: number; readonly maximum: number };
  readonly instance: Instance;
  /** Every delivery, by the name that reservations store. */
  readonly deliveries: Readonly<Record<string, AnyDelivery>>;
  /** The queues that only this process knows. */
  readonly ownQueues: OwnQueues;
  /** Aborted when the service stops. Nothing new starts then. */
  readonly closing: AbortSignal;
  /** Base URL of the reseller API for its callers, without a trailing slash. */
  publicUrl(): string;
  /** The addresses at which the reseller API listens, such as 127.0.0.1. Empty if it does not listen. */
  listeningAddresses(): readonly string[];
}

/** The members of the runtime that a transaction needs. */
export type Services = Pick<Runtime, 'ports' | 'secret'>;
