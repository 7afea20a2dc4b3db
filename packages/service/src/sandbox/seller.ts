import type { BillingProfile, Party, Seller } from '../core/accounting/invoice-document/parties.ts';
import { EARLIEST } from '../rules/tax-status.ts';

/** The seller of the sandbox's invoices. */
export const sandboxSeller: Seller = {
  company: 'Sandbox Infrastructure GmbH',
  street: 'Serverstraße 1',
  postal_code: '60311',
  city: 'Frankfurt am Main',
  country: 'DE',
  vat_id: 'DE123456789',
  email: 'billing@provider.example',
  bank_name: 'Musterbank',
  iban: 'DE02120300000000202051',
  bic: 'BYLADEM1001',
  payment_days: 14,
  tax_number: null,
  register: 'Amtsgericht Frankfurt am Main, HRB 12345',
  managing_directors: 'Erika Mustermann',
};

/** The buyer of the demo account's invoices. */
export const demoBillingProfile = {
  company: 'Demo Reseller GmbH',
  street: 'Beispielweg 7',
  postal_code: '10115',
  city: 'Berlin',
  country: 'DE',
  vat_id: 'DE987654321',
  reverse_charge: false,
};

/** A billing profile whose tax status has always applied. */
export function undated({ country, vat_id, reverse_charge, ...address }: Party & { readonly reverse_charge: boolean }): BillingProfile {
  return { ...address, language: 'en', statuses: [{ ...EARLIEST, country, vatId: vat_id, reverseCharge: reverse_charge }] };
}
