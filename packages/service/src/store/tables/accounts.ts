import type { Generated } from 'kysely';

/** Customers of the provider. */
export interface AccountsTable {
  id: string;
  name: string;
  /** Money. */
  credit_limit: number;
  /** Money: the total of all unpaid invoices. */
  unpaid: number;
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
