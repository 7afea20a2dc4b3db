/** The tables of domains and handles; schema.ts says what holds for every column. */
export interface DomainSchema {
  tlds: TldsTable;
  handles: HandlesTable;
  domains: DomainsTable;
  dns_records: DnsRecordsTable;
}

/** The price list. */
export interface TldsTable {
  /** ASCII form, without a leading dot; may have several labels. */
  tld: string;
  /** Money: net prices of a year. */
  create_price: number;
  renew_price: number;
  transfer_price: number;
}

/** Contacts that domains are registered to. */
export interface HandlesTable {
  id: string;
  account_id: string;
  type: string;
  gender: string;
  firstname: string;
  lastname: string;
  organisation: string | null;
  street: string;
  number: string;
  zipcode: string;
  city: string;
  region: string;
  /** Two letters, upper case. */
  countrycode: string;
  email: string;
  /** As `+49.6955501234`. */
  phone: string | null;
  fax: string | null;
  /** Milliseconds. */
  created: number;
}

/** Domains that accounts have. One that has ended has no row: anyone may register it again. */
export interface DomainsTable {
  /** ASCII form: no two accounts have the same. */
  name: string;
  account_id: string;
  /**
   * `reserved` until the registrar has registered or transferred it, `registered`, and `changing`
   * while the registrar carries out a change: then nothing else may change it.
   */
  state: 'reserved' | 'registered' | 'changing';
  sld: string;
  tld: string;
  /** All four contacts. */
  handle: string;
  /** Encrypted with the service's secret; null until one was requested. */
  sealed_authcode: string | null;
  /** 1 where it is cancelled. */
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
  /** Seconds: until when its status is LOCK. */
  locked_until: number;
}

export interface DnsRecordsTable {
  domain: string;
  /** Empty for the domain itself. */
  sub: string;
  type: string;
  data: string;
  /** Milliseconds. */
  changed: number;
}
