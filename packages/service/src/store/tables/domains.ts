import type { Generated } from 'kysely';

/** Domains of accounts. A domain that has ended has no row, so every account may register it again. */
export interface DomainsTable {
  /** ASCII form, unique in the service. */
  name: string;
  account_id: string;
  /**
   * `reserved` until the registrar has registered or transferred it, and `pending` while a task of the registrar does so, then `registered`. It
   * is `changing` while the registrar carries out a change, and no other change may start then.
   */
  state: 'reserved' | 'pending' | 'registered' | 'changing';
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
  /** 1 if the account has set the transfer lock. */
  transfer_lock: Generated<number>;
  /** Who signs the zone that resolvers have DS records of. Null if DNSSEC is off. */
  dnssec_by: Generated<'service' | 'account' | null>;
  /** JSON text: the DS records at the registry. */
  ds_records: Generated<string>;
  /** Seconds: from then on, resolvers have neither nameservers nor DS records of before. */
  delegation_settled: Generated<number>;
  /** 1 if it has no zone while it is `pending`, because somebody else may have it at the registry. */
  zone_withheld: Generated<number>;
}

export interface DnsRecordsTable {
  /** UUID. */
  id: string;
  domain: string;
  /** Empty for the domain itself. */
  sub: string;
  type: string;
  /** Records of the same name and type have different data. */
  data: string;
  /** Seconds. The same for all records of a name and type. */
  ttl: number;
  /** Milliseconds. */
  changed: number;
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
  /** Two upper-case letters. */
  countrycode: string;
  email: string;
  /** Like `+49.6955501234`. */
  phone: string | null;
  fax: string | null;
  /** Milliseconds. */
  created: number;
}

/** A zone that must be published, because it changed. Triggers add it. */
export interface ZoneChangesTable {
  domain: string;
  /** Counts the changes. A zone is published when its version is the one that was read. */
  version: number;
  /** Milliseconds: after a failure, the earliest time of the next attempt. */
  next_attempt: number;
  /** Milliseconds: until then, an instance is publishing it. */
  claimed_until: number;
  /** Failed ones, since the last success. */
  attempts: number;
  /** Of the last failure. */
  reason: string | null;
}
