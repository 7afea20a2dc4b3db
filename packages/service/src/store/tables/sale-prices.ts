export interface SalePricesTable {
  sale_id: string;
  hostsystem: string;
  /** `core`, `mem` or `nvme`. */
  resource: string;
  /** Money: the net price of 30 days. */
  price_net: number;
}
