import type { Generated } from 'kysely';

export interface IpAddressesTable {
  /** An IPv4 address or an IPv6 /64 network. */
  address: string;
  pool_id: string;
  /** Place in the pool, from 0. */
  position: number;
  // Copied from the pool, so that one index leads to the free addresses of several pools.
  datacenter_name: string;
  family: number;
  /** The account of the pool. Empty for a pool of the provider. */
  owner: string;
  /** Null if it is free. */
  vm_id: number | null;
  /** 1 until the resize that adds it to the VM is confirmed. */
  pending: Generated<number>;
}
