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
