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
}
