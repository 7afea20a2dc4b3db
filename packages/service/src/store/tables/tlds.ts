/** The price list of domains. */
export interface TldsTable {
  /** ASCII form, without a leading dot. May have several labels. */
  tld: string;
  /** Money: net prices of a year. */
  create_price: number;
  renew_price: number;
  transfer_price: number;
}
