import type { DomainOrder } from '@reseller/adapters';
import * as v from 'valibot';

import { giveSpendingBack, spend, spendingDetails } from '../../core/account/spending.ts';
import { chargeOwed } from '../../core/accounting/charge.ts';
import type { Charge } from '../../core/accounting/charge.ts';
import { assertMonthWithDomain, holdCredit, releaseCredit } from '../../core/accounting/credit-hold.ts';
import { unsettledFrom } from '../../core/domain/dnssec.ts';
import { changeInProgress, toDomainDetails, domainSubject } from '../../core/domain/domain.ts';
import type { DomainRow } from '../../core/domain/domain.ts';
import { contactOf } from '../../core/domain/handle.ts';
import { domainOfOther, isAuthcodeOf, moveToAccount, settleBoth } from '../../core/domain/move.ts';
import type { DomainMove } from '../../core/domain/move.ts';
import { settle } from '../../core/jobs/settle.ts';
import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Reserved } from '../../delivery/steps.ts';
import { assertPriceAccepted } from '../../rules/credit.ts';
import { asciiNameOf } from '../../rules/domain-name.ts';
import { beginRegistration } from '../../rules/domain-registration.ts';
import type { Money } from '../../rules/money.ts';
import { listOfNameservers } from '../../rules/nameserver.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import { deliveredCall } from '../operation.ts';
import type { Call, Success } from '../operation.ts';
import { readForm } from './register-domain-form.ts';
import type { RegistrationRequest } from './register-domain-form.ts';

const details = v.object({
  name: v.string(),
  accountId: v.string(),
  hold: v.number(),
  // Missing in the reservations of earlier versions, which wait for no task.
  type: v.optional(v.picklist(['CREATE', 'TRANSFER'])),
  spending: v.optional(spendingDetails),
});

type Details = v.InferOutput<typeof details>;

export const domainPurchase: UndoableDelivery<Details> = {
  name: 'registerDomain',
  leavesNoTrace: true,
  details,
  subject: domainSubject,
  async afterTask({ db }, { name, accountId, hold, type = 'CREATE' }, runtime) {
    const now = runtime.ports.clock.now();
    const amount = BigInt(hold);
    await settle(db, runtime, { accountId, now });
    await releaseCredit(db, accountId, amount);
    const delegation = type === 'TRANSFER' ? unsettledFrom(now) : {};
    const { created: start, expires: stop } = await endState(db, name, 'pending', { state: 'registered', ...delegation });
    await chargeOwed(db, runtime.ports, { accountId, kind: 'domain', subject: name, type, start, stop, amount }, now);
  },
  undo: {
    call: ({ registrar }, { name }, token) => registrar.withdraw(name, token),
    async store({ db }, { name, accountId, hold, spending }) {
      await db.deleteFrom('domains').where('name', '=', name).where('state', 'in', ['reserved', 'pending']).execute();
      await releaseCredit(db, accountId, BigInt(hold));
      await giveSpendingBack(db, spending);
    },
  },
};

/** POST /domain/register: registers a domain, or transfers it to the account if the form has an auth code. */
export const registerDomain = deliveredCall<'registerDomain'>(async (steps, call) => {
  const { runtime, accountId, form, now } = call;
  const { order, charge } = await steps.reserve(domainPurchase, async ({ db }) => {
    const reserved = await reserveRegistration(db, call);
    return 'moved' in reserved ? steps.inPlace(reserved.moved) : reserved;
  });
  let isFree = false;
  const task = await steps.call(async ({ registrar }, token) => {
    const { authcode } = form;
    // Before the order, because a registry that has received it may call the name taken.
    isFree = authcode === undefined && (await registrar.isAvailable(order.name));
    const end = await (authcode === undefined ? registrar.register(order, token) : registrar.transfer(order, authcode, token));
    if (end === 'taken') throw registeredAlready(order.name);
    if (end === 'refused') throw wrongAuthcode(order.name);
    if (end === 'signed') throw signedElsewhere(order.name);
    return typeof end === 'object' ? end : undefined;
  });
  if (task)
    return steps.wait(async ({ db }) => {
      const row = await endState(db, order.name, 'reserved', { state: 'pending', zone_withheld: isFree ? 0 : 1 });
      const what = form.authcode === undefined ? 'registration' : 'transfer';
      const message = `The ${what} was accepted. The status of the domain is PENDING until the registry has carried it out.`;
      return { message, data: toDomainDetails(row, runtime, Math.floor(now / 1000)) };
    });
  return steps.confirm(async ({ db }) => {
    const row = await endState(db, order.name, 'reserved', { state: 'registered' });
    // The charge comes after the delivery, because a registration that was undone must not be on an invoice. A month may have ended since
    // the reservation.
    const confirmed = runtime.ports.clock.now();
    await settle(db, runtime, { accountId, now: confirmed });
    await releaseCredit(db, accountId, charge.amount);
    await chargeOwed(db, runtime.ports, charge, confirmed);
    const message = form.authcode === undefined ? 'The domain was registered.' : 'The domain was transferred.';
    return {
      message,
      data: toDomainDetails(row, runtime, Math.floor(now / 1000)),
      bought: { kind: 'domain', subject: row.name, price: Number(charge.amount) },
    };
  });
});

/** A purchase of a domain that is reserved. */
interface ReservedDomain extends Reserved<Details> {
  readonly order: DomainOrder;
  readonly charge: Charge;
}

async function endState(db: Db, name: string, state: DomainRow['state'], next: Partial<DomainRow>): Promise<DomainRow> {
  return db.updateTable('domains').set(next).where('name', '=', name).where('state', '=', state).returningAll().executeTakeFirstOrThrow();
}

/** @returns The success alone of a domain that has come from another account of the service. */
async function reserveRegistration(
  db: Db,
  call: Call<'registerDomain'>,
): Promise<ReservedDomain | { readonly moved: Success<'registerDomain'> }> {
  const { runtime, accountId, spender, form, now } = call;
  const other = (await domainOfOther(db, asciiNameOf(form.domain) ?? form.domain, accountId))?.account_id;
  // A cancelled domain that has expired is free, even if its end has not been performed yet.
  await (other === undefined ? settle(db, runtime, { accountId, now }) : settleBoth(db, runtime, { accountIds: [accountId, other], now }));
  const { name, sld, tld, prices, handle, nameservers } = await readForm(db, call, runtime.ports.registrar.standardNameservers);
  const { created, expires, lockedUntil } = beginRegistration(Math.floor(now / 1000));
  await assertMonthWithDomain(db, accountId, { tld, now });
  const { ns1, ns2 } = nameservers;
  if (ns1 === null || ns2 === null) throw new Error('A registrar must name at least two standard nameservers.');
  const inserted = await db
    .insertInto('domains')
    .values({
      name,
      account_id: accountId,
      state: 'reserved',
      sld,
      tld,
      handle: handle.id,
      sealed_authcode: null,
      terminated: 0,
      ...nameservers,
      ns1,
      ns2,
      created,
      expires,
      locked_until: lockedUntil,
      hold: 0,
      // A domain that is transferred had other nameservers.
      ...(form.authcode !== undefined && unsettledFrom(now)),
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('name')
    .executeTakeFirst();
  if (!inserted) return { moved: await transferHere(db, call, { name, handle, nameservers: { ...nameservers, ns1, ns2 }, other }) };
  const type = form.authcode === undefined ? 'CREATE' : 'TRANSFER';
  const charge: Charge = {
    accountId,
    kind: 'domain',
    subject: name,
    type,
    start: created,
    stop: expires,
    amount: registrationPrice(form, prices),
  };
  assertPriceAccepted(charge.amount, form.max_price);
  await holdCredit(db, accountId, charge.amount);
  const spending = await spend(db, spender, charge.amount, now);
  return {
    accountId,
    details: { name, accountId, hold: Number(charge.amount), type, spending },
    order: { name, contact: contactOf(handle), nameservers: listOfNameservers(nameservers) },
    charge,
  };
}

/** The net price of a registration, or of a transfer if the form has an auth code. */
export function registrationPrice({ authcode }: Call<'registerDomain'>['form'], prices: RegistrationRequest['prices']): Money {
  return BigInt(authcode === undefined ? prices.create_price : prices.transfer_price);
}

/** Transfers a domain that is registered at this service. */
async function transferHere(
  db: Db,
  { runtime, accountId, form: { authcode }, now }: Call<'registerDomain'>,
  { name, other, ...wanted }: Omit<DomainMove, 'accountId'> & { readonly name: string; readonly other: string | undefined },
): Promise<Success<'registerDomain'>> {
  const domain = await db.selectFrom('domains').selectAll().where('name', '=', name).executeTakeFirst();
  if (domain?.state === 'reserved') throw registrationInProgress(name);
  if (authcode === undefined) throw registeredAlready(name);
  if (domain?.account_id === accountId) throw ownAlready(name);
  // The domain has come to another account, or has ended, since this transaction looked for its account.
  if (!domain || domain.account_id !== other) throw changeInProgress(name);
  if (!isAuthcodeOf(domain, authcode, runtime)) throw wrongAuthcode(name);
  const moved = await moveToAccount(db, runtime, domain, { accountId, ...wanted });
  return {
    message: 'The domain was transferred.',
    data: toDomainDetails(moved, runtime, Math.floor(now / 1000)),
    bought: { kind: 'domain', subject: name, price: 0 },
    enqueued: domainSubject(moved),
  };
}

function wrongAuthcode(name: string): Refusal {
  const message = `must be the authcode issued by the current provider of the domain; it was not accepted for ${name}`;
  return invalid([{ field: 'authcode', rule: 'accepted', message }]);
}

function signedElsewhere(name: string): Refusal {
  return new Refusal(
    409,
    'wrong_state',
    `DNSSEC of ${name} is on at its current provider. Have it turned off there, wait 2 days, then send this request again.`,
  );
}

function ownAlready(name: string): Refusal {
  return new Refusal(409, 'wrong_state', `The domain ${name} belongs to this account already. No action is needed.`);
}

function registrationInProgress(name: string): Refusal {
  return new Refusal(
    409,
    'wrong_state',
    `A registration of ${name} has not ended: it is in progress, or it has failed and is being undone. Wait a few seconds, then send this request again.`,
  );
}

function registeredAlready(name: string): Refusal {
  return new Refusal(
    409,
    'wrong_state',
    `The domain ${name} is already registered. Choose another name, or send the authcode from its current provider to transfer it.`,
  );
}
