import type { Generated } from 'kysely';

/** Customers of the provider. */
export interface AccountsTable {
  id: string;
  name: string;
  /** Money. */
  credit_limit: number;
  /** Money without VAT: the amount left to pay of the open invoices. */
  unpaid: number;
  /** Money with VAT: the unused parts of its payments. */
  balance: Generated<number>;
  /** Money: the amount that the balance adds to the credit. */
  balance_credit: Generated<number>;
  /** Money: the holds of this period, at least the amount of its invoice. */
  held: number;
  /** Seconds: the start of the period that the open positions belong to. */
  period_start: number;
  /** The quotas: how many VMs and handles the account may have. Null for no limit. */
  max_vms: number | null;
  max_handles: number | null;
  /** DNS records of each domain. Null for no limit. */
  max_records: Generated<number | null>;
  /** Milliseconds: when the account was suspended. Null if it is not suspended. */
  suspended_at: number | null;
  /** Null if it is not suspended. */
  suspension_reason: string | null;
  /** Milliseconds: when its personal data was erased. Null if it was not. */
  erased_at: number | null;
  /** 1 if the account was created for one test run. */
  isolated: Generated<number>;
  /** Milliseconds. */
  created: number;
}

export interface ApiKeysTable {
  id: string;
  account_id: string;
  /** SHA-256 of the key, hexadecimal. The key itself is not stored. */
  hash: string;
  label: string;
  /** `sandbox` or `live`. */
  mode: Generated<string>;
  /** `full`, or `read` for a key that allows only operations that change nothing. */
  access: Generated<string>;
  /** 1 if a key with the access `read` also reads secrets. */
  reads_secrets: Generated<number>;
  /** The key's own rate limit. Both columns are null if the default applies. */
  rate_requests: number | null;
  rate_seconds: number | null;
  /** The spending limit of the key. A rotated key shares it with the key that replaces it. Null without a limit. */
  limit_id: string | null;
  /** JSON: the networks that may use the key, in CIDR notation. Null for all. */
  allowed_networks: string | null;
  /** Milliseconds, at most a minute before the last use. Null if the key was not used. */
  last_used: number | null;
  /** Milliseconds: the expiry of the key, or the end of the overlap after a rotation. Null if no end is set. */
  valid_until: number | null;
  /** 1 if another key has replaced it. */
  rotated: Generated<number>;
  /** Milliseconds. */
  created: number;
  /** Milliseconds. Null if the key was not revoked. */
  revoked: number | null;
}

/** The buyer that the invoices of an account show. */
export interface BillingProfilesTable {
  account_id: string;
  company: string;
  street: string;
  postal_code: string;
  city: string;
  /** ISO 3166-1 alpha-2. */
  country: string;
  vat_id: string | null;
  /** 1 if the recipient owes the VAT. */
  reverse_charge: number;
  /** JSON: every tax status. Null for a profile of an older version, whose `country`, `vat_id` and `reverse_charge` have always applied. */
  tax_statuses: string | null;
  language: 'en' | 'de';
}

/** The spending limits of API keys. */
export interface SpendingLimitsTable {
  id: string;
  account_id: string;
  /** Money: the net prices of the purchases of a day and of a calendar month, UTC. Null for no limit. */
  per_day: number | null;
  per_month: number | null;
  /** JSON: the billable operations that the key may use. Null for all. */
  operations: string | null;
}

/** The sums of the purchases of a day or a month under a spending limit. */
export interface SpendingsTable {
  limit_id: string;
  /** A day as 2026-11-23, or a calendar month as 2026-11, UTC. */
  period: string;
  /** Money. */
  spent: number;
}
