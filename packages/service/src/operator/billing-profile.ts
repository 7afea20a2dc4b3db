import type { BillingProfileSetting } from '@reseller/operator-client';

import { updateDebt } from '../core/accounting/debt.ts';
import { readBillingProfile, writeBillingProfile } from '../core/accounting/invoice-document/parties.ts';
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
  async before(db, { path }) {
    const { id } = await lockedAccountOf(db, path.account_id);
    return profileOf(db, id);
  },
  async run({ db }, { path, body }) {
    const account = await lockedAccountOf(db, path.account_id);
    assertNotErased(account);
    const lacksVatId = body.reverse_charge && body.vat_id === null;
    assertNoBrokenRules([
      ...brokenCountry(body.country),
      ...(body.vat_id === null ? [] : brokenVatId(body.vat_id)),
      ...(lacksVatId ? [{ pointer: '#/vat_id', detail: 'must be set if reverse_charge is true' }] : []),
    ]);
    await writeBillingProfile(db, account.id, body);
    // The amount that a balance adds to the credit depends on the VAT.
    await updateDebt(db, account.id);
    return { billing_profile: body };
  },
};

async function profileOf(db: Db, accountId: string): Promise<BillingProfileSetting> {
  const { id } = await accountOf(db, accountId);
  return { billing_profile: (await readBillingProfile(db, id)) ?? null };
}
