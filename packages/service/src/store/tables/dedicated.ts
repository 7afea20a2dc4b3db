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

/** Dedicated servers, from the market to their end. */
export interface DedicatedServersTable {
  /** UUID, the same on the market and after the order. */
  id: string;
  /** Null while it is offered. */
  account_id: string | null;
  state: 'offered' | 'ordered' | 'deployed' | 'ended';
  /** 1 if it is cancelled. */
  terminated: number;
  /**
   * Seconds: the next scheduled change. It is the end of the set-up of an ordered server, and the renewal date of a deployed one. Null
   * if none is scheduled.
   */
  due: number | null;
  /** Counts changes of the columns above, so that none is lost between reading and writing. */
  version: number;
  /** The only account that it is offered to. Null for every account. */
  offered_to: string | null;
  /** JSON of the number of offered addresses, while the addresses themselves are unknown. Otherwise null. */
  offered_ips: string | null;
  datacenter_name: string;
  datacenter_displayname: string;
  datacenter_country: string;
  datacenter_city: string;
  /** JSON of DedicatedMarketHardware. */
  hardware: string;
  /** JSON of DedicatedNetwork. */
  network: string;
  /** The state that the list of the market shows. */
  status_type: string;
  status_description: string;
  /** Money: the net price of one runtime. */
  price: number;
  runtime_days: number;
  /** Money: its hold on the credit limit: the first runtime until it is charged, and all renewals that are due in the open period. */
  hold: number;
  dashboard: string | null;
  username: string | null;
  email: string | null;
  /** The management password, encrypted with the service's secret. Null before the set-up and after the end. */
  sealed_password: string | null;
  /** Milliseconds: when it was put on the market. */
  created: number;
  /** Seconds. */
  ordered: number | null;
  deployed: number | null;
  ended: number | null;
}
