export interface IpPoolsTable {
  id: string;
  /** 4 or 6. */
  family: number;
  datacenter_name: string;
  /** The owner of the subnet. Null for a pool of the provider. */
  account_id: string | null;
  cidr: string;
  gateway: string;
  ddos_protection: string;
  /** The number of addresses without a VM. It is decremented before an address is taken, so the address is certain to be there. */
  free: number;
}
