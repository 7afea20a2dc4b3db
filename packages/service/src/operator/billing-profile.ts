import type { BillingProfileSetting, BrokenRule, SetBillingProfileRequest } from '@reseller/operator-client';

import { updateDebt } from '../core/accounting/debt.ts';
import { readBillingProfile, readSeller, writeBillingProfile } from '../core/accounting/invoice-document/parties.ts';
import { vatPrefixesOf } from '../rules/vat-id.ts';
import type { Db } from '../store/store.ts';
import { accountOf, assertNotErased, lockedAccountOf } from './account.ts';
import { brokenCountry, brokenVatId } from './invoicing.ts';
import type { ReadOperation, StoreOperation } from './operation.ts';
import { assertNoBrokenRules } from './problem.ts';

/** GET /accounts/{account_id}/billing-profile */
export const getBillingProfile: ReadOperation<'getBillingProfile'> = {
  kind: 'read',
  run: (db, { path }) => profileOf(db, path.account_id),
};

/** PUT /accounts/{account_id}/billing-profile */
export const setBillingProfile: StoreOperation<'setBillingProfile'> = {
  kind: 'store',
  // The rule for reverse charge depends on the country of the seller.
  lock: 'invoicing',
  async before(db, { path }) {
    const { id } = await lockedAccountOf(db, path.account_id);
    return profileOf(db, id);
  },
  async run({ db }, { path, body }) {
    const account = await lockedAccountOf(db, path.account_id);
    assertNotErased(account);
    const seller = await readSeller(db);
    assertNoBrokenRules([...brokenCountry(body.country), ...brokenBuyerVatId(body), ...brokenReverseCharge(body, seller?.country)]);
    await writeBillingProfile(db, account.id, body);
    // The amount that a balance adds to the credit depends on the VAT.
    await updateDebt(db, account.id);
    return { billing_profile: body };
  },
};

function brokenBuyerVatId({ vat_id, country, reverse_charge }: SetBillingProfileRequest): BrokenRule[] {
  if (vat_id === null) return reverse_charge ? [{ pointer: '#/vat_id', detail: 'must be set if reverse_charge is true' }] : [];
  const broken = brokenVatId(vat_id);
  const prefixes = vatPrefixesOf(country);
  if (broken.length > 0 || prefixes.includes(vat_id.slice(0, 2))) return broken;
  return [{ pointer: '#/vat_id', detail: `must be of the country ${country} and begin with ${prefixes.join(' or ')}` }];
}

/** The recipient owes the VAT only if the supply crosses a border. */
function brokenReverseCharge({ country, reverse_charge }: SetBillingProfileRequest, sellerCountry: string | undefined): BrokenRule[] {
  if (!reverse_charge || country !== sellerCountry) return [];
  return [{ pointer: '#/reverse_charge', detail: `must be false for a buyer in ${country}, which is the country of the seller` }];
}

async function profileOf(db: Db, accountId: string): Promise<BillingProfileSetting> {
  const { id } = await accountOf(db, accountId);
  return { billing_profile: (await readBillingProfile(db, id)) ?? null };
}
