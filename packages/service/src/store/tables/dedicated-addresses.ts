export interface DedicatedAddressesTable {
  /** An IPv4 address or an IPv6 network, unique in the table. */
  address: string;
  server_id: string;
  /** 4 or 6. */
  family: number;
  gateway: string;
  /** Place in the server's list, from 0. */
  position: number;
}
