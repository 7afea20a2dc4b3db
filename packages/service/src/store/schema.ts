import type { Generated } from 'kysely';

import type { DedicatedSchema } from './dedicated-schema.ts';
import type { DomainSchema } from './domain-schema.ts';
import type { NodeSchema, ReservationNodeColumns } from './node-schema.ts';
import type { AccountOperatorColumns, ApiKeyOperatorColumns, NodeOperatorColumns, OperatorSchema } from './operator-schema.ts';
import type { SaleSchema, VmSaleColumns } from './sale-schema.ts';

/**
 * The tables, in the portable subset of SQLite and PostgreSQL: integers for booleans, times and
 * money, JSON as text. Instants are milliseconds since 1970 UTC, billing instants whole seconds;
 * each column's comment says which. Money is in units of 10^-8 EUR.
 *
 * An integer column reads as a number; a value beyond 2^53 (90 million EUR) is refused on the way in.
 */
export interface Schema extends DedicatedSchema, DomainSchema, NodeSchema, OperatorSchema, SaleSchema {
  accounts: AccountsTable;
  api_keys: ApiKeysTable;
  os_images: OsImagesTable;
  host_systems: HostSystemsTable;
  host_nodes: HostNodesTable;
  ip_pools: IpPoolsTable;
  ip_addresses: IpAddressesTable;
  vms: VmsTable;
  positions: PositionsTable;
  charges: ChargesTable;
  invoices: InvoicesTable;
  otps: OtpsTable;
  idempotency_keys: IdempotencyKeysTable;
  reservations: ReservationsTable;
  request_log: RequestLogTable;
}

export interface AccountsTable extends AccountOperatorColumns {
  id: string;
  name: string;
  /** Money. */
  credit_limit: number;
  /** Money: totals of the invoices that are not paid. */
  unpaid: number;
  /** Money: holds of this period, at least what its invoice will ask. */
  held: number;
  /** Seconds: the period that the account's open positions belong to. */
  period_start: number;
  /** Milliseconds. */
  created: number;
}

export interface ApiKeysTable extends ApiKeyOperatorColumns {
  id: string;
  account_id: string;
  /** SHA-256 of the key, hexadecimal. The key itself is not stored. */
  hash: string;
  label: string;
  /** Milliseconds. */
  created: number;
  /** Milliseconds; null while the key is good. */
  revoked: number | null;
}

export interface OsImagesTable {
  name: string;
  displayname: string;
  /** Initial login user. */
  username: string;
}

export interface HostSystemsTable {
  name: string;
  displayname: string;
  datacenter_name: string;
  datacenter_displayname: string;
  datacenter_country: string;
  datacenter_city: string;
  processor: string;
  memory: string;
  nvme_hard_drives: string;
  /** What one VM may have: JSON of ResourceRanges. */
  ranges: string;
  /** Net prices of 30 days: JSON of ResourcePrices. */
  prices: string;
  /** Order of the list. */
  position: number;
}

export interface HostNodesTable extends NodeOperatorColumns {
  name: string;
  hostsystem: string;
  cores: number;
  used_cores: number;
  /** MB. */
  mem: number;
  used_mem: number;
  /** GB of NVMe. */
  disk: number;
  used_disk: number;
  /** GB of HDD. */
  storage: number;
  used_storage: number;
}

export interface IpPoolsTable {
  id: string;
  /** 4 or 6. */
  family: number;
  datacenter_name: string;
  /** The subnet's owner; null for a pool of the provider. */
  account_id: string | null;
  cidr: string;
  gateway: string;
  ddos_protection: string;
  /** How many of its addresses no VM has. Taken from before an address is: whoever got its count will find it. */
  free: number;
}

export interface IpAddressesTable {
  /** IPv4 address or IPv6 /64 network. */
  address: string;
  pool_id: string;
  /** Place in the pool, from 0. */
  position: number;
  vm_id: number | null;
}

export interface VmsTable extends VmSaleColumns {
  /** Five digits. */
  id: number;
  account_id: string;
  /** `reserved` until the hypervisor has delivered, then `running` or `stopped`, at last `removed`. */
  state: string;
  hostsystem: string;
  node: string;
  cores: number;
  /** MB. */
  mem: number;
  /** GB. */
  disk: number;
  os: string;
  ips: number;
  backup_slots: number;
  /** Mbit. */
  network_speed: number;
  hostname: string;
  /** GB of HDD; null where none was asked for. */
  storage: number | null;
  ssh_key: string | null;
  ssh_key_displayname: string | null;
  default_ptr: string;
  /** Money: net price of 30 days. */
  monthly_price: number;
  /** 1 while a change of it is under way, of which the hypervisor is still to be asked or told; 0 else. */
  changing: Generated<number>;
  /** Milliseconds: when its removal was asked for; null while it was not. */
  removed: number | null;
  /** Milliseconds. */
  created: number;
}

export interface PositionsTable {
  /** Several VMs may have had it, one after another; each began with a `CREATE` position. */
  vm_id: number;
  /** 1, 2, 3, … for each identifier. */
  number: number;
  account_id: string;
  /** Null while the period is open. */
  invoice_id: string | null;
  /** `CREATE`, `BILLINGRESTART` or `UP-DOWNGRADE`. */
  type: string;
  /** Seconds. */
  start: number;
  /** Seconds; null while it runs. */
  stop: number | null;
  /** Money. */
  monthly_price: number;
  /** Money: what it holds of the credit limit. */
  hold: number;
}

/** What is charged once, in advance, for a stretch of time. */
export interface ChargesTable {
  id: string;
  account_id: string;
  /** Null while the period is open. */
  invoice_id: string | null;
  /** `dedicated` or `domain`. */
  kind: string;
  /** Identifier of the server, or name of the domain. */
  subject: string;
  /** `CREATE`, `RENEW` or `TRANSFER`. */
  type: string;
  /** Seconds. */
  start: number;
  stop: number;
  /** Money. */
  amount: number;
  /** Milliseconds. */
  created: number;
}

export interface InvoicesTable {
  id: string;
  account_id: string;
  /** Milliseconds. */
  created: number;
  /** Seconds. */
  period_start: number;
  period_end: number;
  /** Money, whole cents. */
  total: number;
  /** `OPEN`, `PAID` or `CANCELED`. */
  status: string;
}

export interface OtpsTable {
  /** One at a time for each account: a newer one voids the older. */
  account_id: string;
  /** HMAC of the code with the service's secret; no two accounts have the same. */
  hash: string;
  /** Milliseconds. */
  expires: number;
  used: number;
}

export interface IdempotencyKeysTable {
  account_id: string;
  /** SHA-256 of the caller's key, hexadecimal. */
  key_hash: string;
  /** SHA-256 of method, path and form. */
  fingerprint: string;
  /** `pending` or `done`. */
  state: string;
  /** The answer, encrypted with a key derived from the caller's API key; null while pending. */
  answer: string | null;
  /** Milliseconds. */
  created: number;
}

export interface ReservationsTable extends ReservationNodeColumns {
  id: string;
  account_id: string;
  operation: string;
  /** JSON of what the operation reserved. */
  details: string;
  /** The caller's Idempotency-Key, hashed; null where none was sent. */
  key_hash: string | null;
  /** Milliseconds. */
  created: number;
}

export interface RequestLogTable {
  account_id: string;
  /** 1, 2, 3, … without a gap for each account. */
  number: number;
  request_id: string;
  /** Milliseconds. */
  date: number;
  /** 1 or 0. */
  success: number;
  endpoint: string;
  method: string;
  request_body: string;
  error_type: string | null;
  response_body: string;
}
