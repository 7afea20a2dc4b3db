import type { Generated } from 'kysely';

/** One row: the newest time at which an embedded store was in use. Empty if instances share the store. */
export interface ClockMarkTable {
  id: 1;
  /** Milliseconds by the clock of the machine. */
  newest: number;
}

/** The jobs that failed, until they succeed. An account has at most one of each kind of work. */
export interface FailedJobsTable {
  account_id: string;
  /** `job` or `document`, which wait separately. */
  work: string;
  /** The kind of the job, such as `period_end`. */
  kind: string;
  /** Identifies the subject of the job: an account, a server, a domain or an invoice. */
  subject: string;
  /** When the job was due, in seconds. */
  due: number;
  reason: string;
  attempts: number;
  /** Milliseconds. */
  last_attempt: number;
  /** Milliseconds. */
  next_attempt: number;
}

/** Failures that the sandbox injects into requests of the reseller API. */
export interface FaultsTable {
  id: string;
  /** JSON of operationIds. Null for all. */
  operations: string | null;
  /** JSON of identifiers of API keys. Null for all. */
  api_key_ids: string | null;
  /** JSON of FaultEffectInput. */
  effect: string;
  times: number;
  remaining: number;
  /** Milliseconds. */
  created: number;
}

/**
 * The newest fencing token of each subject. Tokens never decrease, because systems outside the store remember them. So no row is
 * deleted, and snapshots do not contain this table.
 */
export interface FencingTokensTable {
  /** Like `vm/48213` or `domain/example.net`. */
  subject: string;
  token: number;
}

/** One row: the secret and the mode that every service on the store must have. */
export interface IdentityTable {
  id: 1;
  /** HMAC with the service's secret. */
  secret_verifier: string;
  /** `sandbox` or `live`. */
  mode: string;
  /** Marks what the service creates in its infrastructure. Null until an adapter needs it. */
  service_id: string | null;
}

/** The instances of the service that share the store. Empty if the store belongs to one process. */
export interface InstancesTable {
  /** UUID, a new one at each start. */
  id: string;
  /** Milliseconds by the database's clock: when the lease expires. After that, the instance counts as dead. */
  lease_until: number;
  /** The newest migration that its version knows. Null until the instance serves requests. */
  serves: Generated<string | null>;
}

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
  /** The task of the infrastructure for which it waits. Null if it waits for none. */
  task: string | null;
  /** How far the task is. Null if that is not known. */
  task_percentage: number | null;
  /** 1 if the task undoes the delivery. */
  undoing: Generated<number>;
}

/** Settings of the whole service. */
export interface SettingsTable {
  /** The names are in settings.ts. */
  name: string;
  value: string;
}

/** The contents of snapshots: the rows of every table, in batches. */
export interface SnapshotRowsTable {
  snapshot: string;
  /** Place of the batch, from 0. */
  position: number;
  table_name: string;
  /** JSON of the rows. */
  rows: string;
}

export interface SnapshotsTable {
  name: string;
  /** Milliseconds. */
  taken: number;
}
