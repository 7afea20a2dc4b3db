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
}
