/** The tables of sales. What holds for schema.ts holds here. */
export interface SaleSchema {
  sales: SalesTable;
  sale_prices: SalePricesTable;
}

export interface SalesTable {
  id: string;
  /** The only account that sees and gets it; null for every account. */
  account_id: string | null;
  title: string;
  /** Milliseconds: it is active from this moment. */
  start: number;
  /** Milliseconds: it has ended from this moment on; null where no end is scheduled. */
  stop: number | null;
  /** 1 where its prices stay after an up- or downgrade. */
  upgradable: number;
  max_volume: number;
  /** VMs created through it, with those that are being delivered. */
  used_volume: number;
  /** Milliseconds: when the provider ended it by hand; null where it did not. */
  ended: number | null;
  /** What answers say beside each property: JSON of SaleDescriptions. */
  descriptions: string;
  /** Milliseconds. */
  created: number;
}

export interface SalePricesTable {
  sale_id: string;
  hostsystem: string;
  /** `core`, `mem` or `nvme`. */
  resource: string;
  /** Money: net price of 30 days. */
  price_net: number;
}

/** What a VM keeps of the sale that it was bought in. */
export interface VmSaleColumns {
  /** Null where it was bought at standard prices. */
  sale_id: string | null;
  /** `SALE` while the prices of that sale apply, else `STANDARD`. */
  price_basis: string;
}
