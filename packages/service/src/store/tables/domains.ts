/** Domains of accounts. A domain that has ended has no row, so every account may register it again. */
export interface DomainsTable {
  /** ASCII form, unique in the service. */
  name: string;
  account_id: string;
  /**
   * `reserved` until the registrar has registered or transferred it, then `registered`. It is `changing` while the registrar carries
   * out a change, and no other change may start then.
   */
  state: 'reserved' | 'registered' | 'changing';
  sld: string;
  tld: string;
  /** All four contacts. */
  handle: string;
  /** The auth code, encrypted with the service's secret. Null until it is requested for the first time. */
  sealed_authcode: string | null;
  /** 1 if it is cancelled. */
  terminated: number;
  ns1: string;
  ns2: string;
  ns3: string | null;
  ns4: string | null;
  ns5: string | null;
  /** Seconds. */
  created: number;
  /** Seconds: when it is renewed, or ends if it is cancelled. */
  expires: number;
  /** Money: what its renewal holds of the credit limit, if it is due in the open period. */
  hold: number;
  /** Seconds: the end of the time in which its status is LOCK. */
  locked_until: number;
}
