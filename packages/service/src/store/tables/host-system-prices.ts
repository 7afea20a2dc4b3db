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
