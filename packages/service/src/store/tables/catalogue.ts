import type { Generated } from 'kysely';

/** One row, which triggers replace when the catalogue changes. */
export interface CatalogueVersionTable {
  id: number;
  /** Random. */
  version: string;
}

/** Machines that run VMs. */
export interface HostNodesTable {
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
  /** 1 if the catalogue no longer has it. Removed VMs still refer to it. */
  retired: Generated<number>;
}

/** The prices of host systems, each from an instant on. */
export interface HostSystemPricesTable {
  hostsystem: string;
  /** Milliseconds. They apply until the next ones do. */
  valid_from: number;
  /** Net prices of 30 days: JSON of ResourcePrices. */
  prices: string;
  /** `new_purchases` or `all_vms`. */
  applies_to: string;
}

/** Kinds of hosts that VMs can be bought on. */
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
  /** The limits of one VM: JSON of ResourceRanges. */
  ranges: string;
  /** Place in the list. */
  position: number;
  /** Traffic that a VM may have in a calendar month, in GB (10^9 bytes). Null for no amount. */
  included_traffic: Generated<number | null>;
}

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
  /** Place among those that the VM got after its purchase, from 1. 0 for those of the purchase. */
  added: Generated<number>;
  /** 1 until the system of its VM takes it over at the next start. */
  requires_restart: Generated<number>;
  /** Milliseconds: its last release. 0 if it need not rest. */
  released: Generated<number>;
}

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

/** Operating systems that a VM can have. */
export interface OsImagesTable {
  name: string;
  displayname: string;
  /** The initial login user. */
  username: string;
  platform: Generated<'linux' | 'windows'>;
  /** Address of a picture. */
  icon: string | null;
  /** The smallest disk that it fits on, in GB. */
  min_disk: Generated<number>;
}

export interface SalePricesTable {
  sale_id: string;
  hostsystem: string;
  /** `core`, `mem` or `nvme`. */
  resource: string;
  /** Money: the net price of 30 days. */
  price_net: number;
}

/** Offers of VMs at reduced prices. */
export interface SalesTable {
  id: string;
  /** The only account that sees and gets it. Null for every account. */
  account_id: string | null;
  title: string;
  /** Milliseconds: it is active from this moment. */
  start: number;
  /** Milliseconds: its scheduled end. Null if no end is scheduled. */
  stop: number | null;
  /** 1 if its prices still apply after an upgrade or downgrade. */
  upgradable: number;
  max_volume: number;
  /** The number of VMs created through it, including those that are being delivered. */
  used_volume: number;
  /** Milliseconds: when the provider ended it. Null if the provider did not. */
  ended: number | null;
  /** The descriptions in responses: JSON of SaleDescriptions. */
  descriptions: string;
  /** Milliseconds. */
  created: number;
}

/** The prices of domains under a TLD, each from an instant on. */
export interface TldPricesTable {
  tld: string;
  /** Milliseconds. They apply until the next ones do. */
  valid_from: number;
  /** Money: net prices of a year. */
  create_price: number;
  renew_price: number;
  transfer_price: number;
}

/** The TLDs of which domains can be registered. */
export interface TldsTable {
  /** ASCII form, without a leading dot. May have several labels. */
  tld: string;
}
