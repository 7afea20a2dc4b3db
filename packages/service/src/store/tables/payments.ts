/** Money that an account paid, and money that was paid back to it. */
export interface PaymentsTable {
  id: string;
  account_id: string;
  kind: 'payment' | 'refund';
  /** Chosen by the operator, unique for the account. */
  name: string;
  /** Money with VAT, in whole cents. */
  amount: number;
  /** Such as `2024-11-04`. */
  date: string;
  method: string;
  reference: string;
  /** The invoice that the operator wanted to be paid first. */
  invoice_id: string | null;
  /** Money: the part of a payment that pays no invoice and was not refunded. 0 for a refund. */
  unused: number;
  /** Milliseconds. */
  created: number;
  reversed: number | null;
  reversal_reason: string | null;
}
