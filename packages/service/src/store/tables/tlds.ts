/** The TLDs of which domains can be registered. */
export interface TldsTable {
  /** ASCII form, without a leading dot. May have several labels. */
  tld: string;
}
