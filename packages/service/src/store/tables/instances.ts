/** The instances of the service that share the store. Empty if the store belongs to one process. */
export interface InstancesTable {
  /** UUID, a new one at each start. */
  id: string;
  /** Milliseconds by the database's clock: when the lease expires. After that, the instance counts as dead. */
  lease_until: number;
}
