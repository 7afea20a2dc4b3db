import * as v from 'valibot';

import { giveSpendingBack, spend, spendingDetails } from '../../core/account/spending.ts';
import { holdRenewals, holdRenewalsWithinLimit, renewalPrice } from '../../core/accounting/renewal-hold.ts';
import { tldPriceVersions } from '../../core/catalogue/tld-price.ts';
import { beginDomainChange, domainSubject, endDomainChange, registrationOf, settleAndFindDomain } from '../../core/domain/domain.ts';
import type { DomainRow } from '../../core/domain/domain.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
import { withdrawDomainCancellation } from '../../rules/domain-registration.ts';
import { Refusal } from '../../rules/refusal.ts';
import { lockAccount } from '../../store/account-lock.ts';
import { deliveredCall } from '../operation.ts';

const details = v.object({ name: v.string(), spending: v.optional(spendingDetails) });

export const domainUndeletion: UndoableDelivery<v.InferOutput<typeof details>> = {
  name: 'undeleteDomain',
  leavesNoTrace: true,
  details,
  subject: domainSubject,
  undo: {
    call: ({ registrar }, { name }, token) => registrar.setRenewal(name, false, token),
    async store({ db }, { name, spending }) {
      const { account_id } = await db.selectFrom('domains').select('account_id').where('name', '=', name).executeTakeFirstOrThrow();
      await endDomainChange(db, name, { terminated: 1 });
      await holdRenewals(db, account_id, { domain: name });
      await giveSpendingBack(db, spending);
    },
  },
};

/**
 * POST /domain/{domain}/undelete: withdraws a cancellation. Nothing is charged before the next renewal, but a renewal that is due in the
 * open period needs credit, because the account may have used the credit that the cancellation released.
 */
export const undeleteDomain = deliveredCall<'undeleteDomain'>(async (steps, call) => {
  const { runtime, accountId, spender, now } = call;
  const {
    details: { name },
  } = await steps.reserve(domainUndeletion, async ({ db }) => {
    const row = await settleAndFindDomain(db, runtime, call);
    assertCancelled(row, now);
    await lockAccount(db, accountId);
    await beginDomainChange(db, row, { terminated: 0 });
    await holdRenewalsWithinLimit(db, accountId, { domain: row.name });
    const renew = renewalPrice(await tldPriceVersions(db, row.tld), row.expires);
    return { accountId, details: { name: row.name, spending: await spend(db, spender, renew, now) } };
  });
  await steps.call(({ registrar }, token) => registrar.setRenewal(name, true, token));
  return steps.confirm(async ({ db }) => {
    await endDomainChange(db, name);
    return { message: 'The cancellation was withdrawn and the domain is renewed again.', data: { domain: name } };
  });
});

/**
 * @param now Milliseconds.
 * @throws Refusal 409 if the domain has no cancellation to withdraw.
 */
export function assertCancelled(row: DomainRow, now: number): void {
  const transition = withdrawDomainCancellation(registrationOf(row), Math.floor(now / 1000));
  if ('refused' in transition) throw undeleteRefusalOf(row.name, transition.refused);
}

function undeleteRefusalOf(name: string, refused: string): Refusal {
  const message =
    refused === 'not cancelled'
      ? `The domain ${name} is not cancelled, so there is no cancellation to withdraw. No action is needed: it will be renewed.`
      : `The domain ${name} has expired. Send the request again in a minute, and register it anew if it is gone then.`;
  return new Refusal(409, 'wrong_state', message);
}
