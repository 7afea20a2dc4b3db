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
