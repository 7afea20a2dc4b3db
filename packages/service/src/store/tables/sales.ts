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
