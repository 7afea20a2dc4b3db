import type { Generated } from 'kysely';

/** The tables of the nodes; schema.ts says what holds for every column. */
export interface NodeSchema {
  identity: IdentityTable;
  nodes: NodesTable;
  turns: TurnsTable;
}

/** One row: what the first service on the store was, and every later one has to be. */
export interface IdentityTable {
  id: 1;
  /** HMAC with the service's secret. */
  secret_verifier: string;
  /** `sandbox` or `live`. */
  mode: string;
}

/** The nodes that share the store; where it belongs to one process, there is none. */
export interface NodesTable {
  /** UUID, another one at each start. */
  id: string;
  /** Milliseconds by the clock of the database: the node counts as dead from then on. */
  lease_until: number;
}

/**
 * The newest turn that was given for each thing that the infrastructure is called about. It never
 * goes back: what is outside remembers it, so no snapshot brings an older one, and no row is deleted.
 */
export interface TurnsTable {
  /** Such as `vm/48213`, `domain/example.net`. */
  subject: string;
  number: number;
}

/** Who carries a reservation out, or undoes it. */
export interface ReservationNodeColumns {
  /** Identifier of a node; empty for nobody. */
  owner: Generated<string>;
  /** What it calls the infrastructure about, as in `turns`; empty where an older version did not say. */
  subject: Generated<string>;
  /** The turn of its delivery; 0 where an older version did not say. */
  turn: Generated<number>;
}

export interface DedicatedNodeColumns {
  /** The node that tells the fleet of the task; null for none. */
  fleet_owner: string | null;
}
