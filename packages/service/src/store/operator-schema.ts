import type { Generated } from 'kysely';

/** The tables of the operator; schema.ts says what holds for every column. */
export interface OperatorSchema {
  settings: SettingsTable;
  verifiers: VerifiersTable;
  otp_attempts: OtpAttemptsTable;
  faults: FaultsTable;
  snapshots: SnapshotsTable;
  snapshot_rows: SnapshotRowsTable;
}

/** Settings of the service as a whole. */
export interface SettingsTable {
  /** `clock_offset` (milliseconds) or `rate_limit` (JSON). */
  name: string;
  value: string;
}

/** Third parties that may verify one-time codes. */
export interface VerifiersTable {
  id: string;
  name: string;
  /** SHA-256 of its token, hexadecimal. */
  hash: string;
  /** Milliseconds. */
  created: number;
  /** Milliseconds; null while the token is good. */
  revoked: number | null;
}

/** Failed attempts of a third party to verify a code. */
export interface OtpAttemptsTable {
  verifier_id: string;
  /** Account that the code was to be of; empty where none was named. It need not exist. */
  account_id: string;
  /** Milliseconds: the first failure of the ten minutes that are counted. */
  since: number;
  failed: number;
}

/** Requests of the reseller API that are to fail. */
export interface FaultsTable {
  id: string;
  /** JSON of operationIds; null for all. */
  operations: string | null;
  /** JSON of identifiers of keys; null for all. */
  api_key_ids: string | null;
  /** JSON of FaultEffectInput. */
  effect: string;
  times: number;
  remaining: number;
  /** Milliseconds. */
  created: number;
}

export interface SnapshotsTable {
  name: string;
  /** Milliseconds. */
  taken: number;
}

/** The rows of all tables, in pieces. */
export interface SnapshotRowsTable {
  snapshot: string;
  /** Order of the pieces, from 0. */
  position: number;
  table_name: string;
  /** JSON of rows. */
  rows: string;
}

/** What the operator knows of an API key. */
export interface ApiKeyOperatorColumns {
  /** `sandbox` or `live`. */
  mode: Generated<string>;
  /** Milliseconds: when a key that was rotated stops being good; null where no end is set. */
  valid_until: number | null;
  /** Its own rate limit; both are null where the default holds. */
  rate_requests: number | null;
  rate_seconds: number | null;
}

export interface AccountOperatorColumns {
  /** 1 where it was made for one test run. */
  isolated: Generated<number>;
}

export interface NodeOperatorColumns {
  /** 1 where the operator has left it out; VMs that were removed still name it. */
  retired: Generated<number>;
}

export interface DedicatedOperatorColumns {
  /** The only account that it is offered to; null for all. */
  offered_to: string | null;
  /** JSON of how many addresses it is offered with, where they are not known yet; null where they are. */
  offered_ips: string | null;
}
