import type { BillingProfile, BillingProfileSetting, BrokenRule, SetBillingProfileRequest } from '@reseller/operator-client';

import { updateDebt } from '../core/accounting/debt.ts';
import { notInvoiced, readBillingProfile, readSeller, writeBillingProfile } from '../core/accounting/invoice-document/parties.ts';
import { DEFAULTS } from '../generated/operator/facts.gen.ts';
import { dayIn, startOfDay } from '../rules/day.ts';
import { inForceAt } from '../rules/in-force.ts';
import { canBeShown, withStatus } from '../rules/tax-status.ts';
import type { TaxStatus } from '../rules/tax-status.ts';
import { vatPrefixesOf } from '../rules/vat-id.ts';
import { readTimeZone } from '../store/settings.ts';
import type { Db } from '../store/store.ts';
import { accountOf, assertNotErased, lockedAccountOf } from './account.ts';
import { brokenCountry, brokenVatId } from './invoicing.ts';
import type { ReadOperation, StoreOperation } from './operation.ts';
import { assertNoBrokenRules } from './problem.ts';

/** GET /accounts/{account_id}/billing-profile */
export const getBillingProfile: ReadOperation<'getBillingProfile'> = {
  kind: 'read',
  run: (db, { path, now }) => profileOf(db, path.account_id, now),
};

/** PUT /accounts/{account_id}/billing-profile */
export const setBillingProfile: StoreOperation<'setBillingProfile'> = {
  kind: 'store',
  // The rule for reverse charge depends on the country of the seller.
  lock: 'invoicing',
  async before(db, { path, now }) {
    const { id } = await lockedAccountOf(db, path.account_id);
    return profileOf(db, id, now);
  },
  async run({ db }, { path, body, now }) {
    const account = await lockedAccountOf(db, path.account_id);
    assertNotErased(account);
    const seller = await readSeller(db);
    const timeZone = await readTimeZone(db);
    const first = await notInvoiced(db, account.id, timeZone);
    assertNoBrokenRules([
      ...brokenCountry(body.country),
      ...brokenBuyerVatId(body),
      ...brokenReverseCharge(body, seller?.country),
      ...brokenDay(body, first.day),
    ]);
    const {
      country,
      vat_id: vatId,
      reverse_charge: reverseCharge,
      valid_from,
      language,
      ...address
    } = { ...DEFAULTS.SetBillingProfileRequest, ...body };
    const today = dayIn(timeZone, now);
    const day = valid_from ?? (today < first.day ? first.day : today);
    const before = (await readBillingProfile(db, account.id))?.statuses ?? [];
    // A status that no document can show does not last until the first whole day.
    const replacesFault = day === first.day && before.length > 0 && !canBeShown(inForceAt(before, first.from));
    const isFirst = valid_from === undefined && before.length === 0 && !(await hasBought(db, account.id));
    const validFrom = replacesFault || isFirst ? first.from : startOfDay(timeZone, day);
    const statuses = withStatus(before, { day: isFirst ? first.day : day, validFrom, country, vatId, reverseCharge });
    await writeBillingProfile(db, account.id, { ...address, language, statuses }, now);
    // The amount that a balance adds to the credit depends on the VAT.
    await updateDebt(db, account.id);
    return profileOf(db, account.id, now);
  },
};

/** Whether the account has or had anything that is billed. The first profile of one that did not holds from the beginning. */
async function hasBought(db: Db, accountId: string): Promise<boolean> {
  const position = await db.selectFrom('positions').select('vm_id').where('account_id', '=', accountId).limit(1).executeTakeFirst();
  const charge = await db.selectFrom('charges').select('id').where('account_id', '=', accountId).limit(1).executeTakeFirst();
  return position !== undefined || charge !== undefined;
}

function brokenDay({ valid_from: day }: SetBillingProfileRequest, first: string): BrokenRule[] {
  if (day === undefined || day >= first) return [];
  return [{ pointer: '#/valid_from', detail: `must be ${first} or later, because what was supplied before is invoiced` }];
}

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

async function profileOf(db: Db, accountId: string, now: number): Promise<BillingProfileSetting> {
  const { id } = await accountOf(db, accountId);
  const profile = await readBillingProfile(db, id);
  if (!profile) return { billing_profile: null };
  const { statuses, ...address } = profile;
  const tax_statuses = statuses.map((status) => ({ valid_from: status.day, ...toStatus(status) }));
  return { billing_profile: { ...address, ...toStatus(inForceAt(statuses, now)), tax_statuses } };
}

function toStatus({ country, vatId, reverseCharge }: TaxStatus): Pick<BillingProfile, 'country' | 'vat_id' | 'reverse_charge'> {
  return { country, vat_id: vatId, reverse_charge: reverseCharge };
}
