export interface IpAddressesTable {
  /** An IPv4 address or an IPv6 /64 network. */
  address: string;
  pool_id: string;
  /** Place in the pool, from 0. */
  position: number;
  /** Null if it is free. */
  vm_id: number | null;
}
