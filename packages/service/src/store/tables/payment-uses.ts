/** The part of a payment that pays an invoice, or that was refunded. */
export interface PaymentUsesTable {
  payment_id: string;
  /** An invoice, or the ID of a refund. */
  used_for: string;
  kind: 'invoice' | 'refund';
  /** Money with VAT, in whole cents, more than 0. */
  amount: number;
}
