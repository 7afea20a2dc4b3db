import { spend } from '../../core/account/spending.ts';
import { chargeOwed } from '../../core/accounting/charge.ts';
import { holdCredit, releaseCredit } from '../../core/accounting/credit-hold.ts';
import { quotedCharges } from '../../core/accounting/quote.ts';
import { tldPriceVersions } from '../../core/catalogue/tld-price.ts';
import { beginDomainChange, domainSubject, findDomain, registrationOf, settleAndFindDomain } from '../../core/domain/domain.ts';
import type { DomainRow } from '../../core/domain/domain.ts';
import { enqueueRenewal } from '../../core/domain/renew.ts';
import { periodOf } from '../../rules/billing.ts';
import type { Seconds } from '../../rules/billing.ts';
import { assertPriceAccepted } from '../../rules/credit.ts';
import { MAX_YEARS, renewEarly, timingOf } from '../../rules/domain-registration.ts';
import { inForceAt } from '../../rules/in-force.ts';
import type { Money } from '../../rules/money.ts';
import { Refusal } from '../../rules/refusal.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import type { Call, ReadOperation, StoreOperation } from '../operation.ts';
import { quoteSuccess } from '../quote-success.ts';

/**
 * POST /domain/{domain}/renew: renews a domain for a further year. The store renews and charges it in one transaction, so that a repeated
 * request never pays twice, and the registrar is told until it confirms.
 */
export const renewDomain: StoreOperation<'renewDomain'> = {
  kind: 'store',
  async run({ db }, call) {
    const { runtime, accountId, spender, form, now } = call;
    const domain = await settleAndFindDomain(db, runtime, call);
    const { name, created, expires } = domain;
    const { stop, price } = await renewalNow(db, domain, now);
    await assertExpiry(db, call, domain);
    assertPriceAccepted(price, form?.max_price);
    await lockAccount(db, accountId);
    await beginDomainChange(db, domain, { expires: stop, hold: 0 });
    // The renewal at its present expiry may hold credit already, which this renewal takes over.
    await holdCredit(db, accountId, price - BigInt(domain.hold));
    await spend(db, spender, price, now);
    await releaseCredit(db, accountId, price);
    const charge = { accountId, kind: 'domain', subject: name, type: 'RENEW', start: expires, stop, amount: price } as const;
    await chargeOwed(db, runtime.ports, charge, now);
    await enqueueRenewal(db, runtime.ports, { accountId, name, expires });
    return {
      message: 'The domain was renewed for a year.',
      data: { domain: name, timings: { create: timingOf(created), expire: timingOf(stop) } },
      bought: { kind: 'domain', subject: name, price: Number(price) },
      enqueued: domainSubject(domain),
    };
  },
};

/** POST /domain/{domain}/renew/quote */
export const quoteRenewDomain: ReadOperation<'quoteRenewDomain'> = {
  kind: 'read',
  settles: true,
  async run(db, call) {
    const domain = await findDomain(db, call);
    const { price } = await renewalNow(db, domain, call.now);
    const { end: periodEnd } = periodOf(Math.floor(call.now / 1000));
    const quoted = quotedCharges({ price, time: { amount: 1, unit: 'years' }, part: 'renew', charges: [domain.expires], periodEnd });
    return quoteSuccess(db, { ...quoted, hold: quoted.hold - BigInt(domain.hold) }, call);
  },
};

/** A renewal without `expire` within this time is taken for a second click. */
const SECOND_CLICK_MS = 60_000;

/**
 * Renews a year once, also for a person who clicks twice.
 *
 * @throws Refusal 409 if the domain expires at another time than `expire`, or without it, if the domain has just been renewed.
 */
async function assertExpiry(db: Db, { accountId, form, now }: Call<'renewDomain'>, { name, expires }: DomainRow): Promise<void> {
  const expire = form?.expire;
  const present = timingOf(expires);
  if (expire !== undefined) {
    if (expire === present || expire === present.slice(0, 'yyyy-mm-dd'.length)) return;
    throw new Refusal(
      409,
      'wrong_state',
      `The domain ${name} expires at ${present} and not at ${expire}, so it may be renewed already. Read it, then send its present expiry to renew it for another year.`,
    );
  }
  const renewed = await db
    .selectFrom('charges')
    .select('id')
    .where('account_id', '=', accountId)
    .where('kind', '=', 'domain')
    .where('subject', '=', name)
    .where('type', '=', 'RENEW')
    .where('created', '>', now - SECOND_CLICK_MS)
    .executeTakeFirst();
  if (!renewed) return;
  throw new Refusal(
    409,
    'wrong_state',
    `The domain ${name} was renewed less than a minute ago, until ${present}. To renew it for another year, send expire with this time.`,
  );
}

/**
 * The end of a further year of a domain, and its net price.
 *
 * @param now Milliseconds.
 * @throws Refusal 409 if the domain cannot be renewed.
 */
async function renewalNow(db: Db, domain: DomainRow, now: number): Promise<{ readonly stop: Seconds; readonly price: Money }> {
  const transition = renewEarly(registrationOf(domain), Math.floor(now / 1000));
  if ('refused' in transition) throw renewalRefusalOf(domain.name, transition.refused);
  const price = inForceAt(await tldPriceVersions(db, domain.tld), now).renew;
  return { stop: transition.next.expires, price };
}

function renewalRefusalOf(name: string, refused: string): Refusal {
  const message =
    refused === 'too far'
      ? `The domain ${name} would expire more than ${MAX_YEARS} years from now, which registries do not allow. Renew it later.`
      : `The domain ${name} is cancelled. Withdraw the cancellation with POST /domain/${name}/undelete, then renew it.`;
  return new Refusal(409, 'wrong_state', message);
}
