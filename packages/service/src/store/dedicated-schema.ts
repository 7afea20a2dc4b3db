import type { DedicatedNodeColumns } from './node-schema.ts';
import type { DedicatedOperatorColumns } from './operator-schema.ts';

/** The tables of dedicated servers; schema.ts says what holds for every column. */
export interface DedicatedSchema {
  dedicated_servers: DedicatedServersTable;
  dedicated_addresses: DedicatedAddressesTable;
}

/** One machine, from the market to its end. */
export interface DedicatedServersTable extends DedicatedNodeColumns, DedicatedOperatorColumns {
  /** UUID: the machine has it on the market already. */
  id: string;
  /** Null while it is offered. */
  account_id: string | null;
  state: 'offered' | 'ordered' | 'deployed' | 'ended';
  /** 1 where it is cancelled. */
  terminated: number;
  /**
   * Seconds: when something happens to it by itself. Of an ordered one its set-up completes, of a
   * deployed one this is the renewal date. Null where nothing does.
   */
  due: number | null;
  /** Counts the changes of the columns above, so that none is lost between reading and writing. */
  version: number;
  datacenter_name: string;
  datacenter_displayname: string;
  datacenter_country: string;
  datacenter_city: string;
  /** JSON of DedicatedMarketHardware. */
  hardware: string;
  /** JSON of DedicatedNetwork. */
  network: string;
  /** State on the market, as its list shows it. */
  status_type: string;
  status_description: string;
  /** Money: net price of one runtime. */
  price: number;
  runtime_days: number;
  /** Money: held of the credit limit from the order until the first runtime is charged. */
  hold: number;
  /** What the fleet is still to be told; null where it knows everything. */
  fleet_task: 'set_up' | 'retire' | null;
  dashboard: string | null;
  username: string | null;
  email: string | null;
  /** Management password, encrypted with the service's secret; null before the set-up and after the end. */
  sealed_password: string | null;
  /** Milliseconds: when it came to the market. */
  created: number;
  /** Seconds. */
  ordered: number | null;
  deployed: number | null;
  ended: number | null;
}

export interface DedicatedAddressesTable {
  /** IPv4 address or IPv6 network: no two servers have the same. */
  address: string;
  server_id: string;
  /** 4 or 6. */
  family: number;
  gateway: string;
  /** Place in the server's list, from 0. */
  position: number;
}
