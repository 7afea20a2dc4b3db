import type { DomainOrder } from '../../../ports/registrar.ts';
import { invalid, Refusal } from '../../../refusal.ts';
import { beginRegistration } from '../../../rules/domain-registration.ts';
import { listOfNameservers } from '../../../rules/nameserver.ts';
import type { Db, Transaction } from '../../../store/store.ts';
import { chargeOwed } from '../../accounting/charge.ts';
import type { Charge } from '../../accounting/charge.ts';
import { holdCredit, releaseCredit } from '../../accounting/credit-hold.ts';
import type { Call, DeliveredOperation, ReservationDetails } from '../../operation.ts';
import { settle } from '../../settle.ts';
import { domainSubject } from '../../turns.ts';
import { contactOf } from '../handle/handle.ts';
import { detailsOf } from '../domain.ts';
import { readForm } from './form.ts';

/** POST /domain/register: registers a domain, or transfers it to the account when an authcode is given. */
export const registerDomain: DeliveredOperation<'registerDomain'> = {
  kind: 'delivered',
  begin(call) {
    const { form, ports, now } = call;
    let order: DomainOrder;
    let charge: Charge;
    return {
      async reserve({ db }) {
        const reserved = await reserve(db, call);
        ({ order, charge } = reserved);
        return { name: order.name, accountId: charge.accountId, hold: Number(charge.amount) };
      },
      async deliver(turn) {
        if (form.authcode === undefined) {
          if ((await ports.registrar.register(order, turn)) === 'taken') throw registeredAlready(order.name);
        } else if ((await ports.registrar.transfer(order, form.authcode, turn)) === 'refused') {
          const message = `must be the authcode that the present provider of the domain gave out; it is not accepted for ${order.name}`;
          throw invalid([{ field: 'authcode', rule: 'accepted', message }]);
        }
      },
      async confirm({ db }) {
        const row = await db
          .updateTable('domains')
          .set({ state: 'registered' })
          .where('name', '=', order.name)
          .where('state', '=', 'reserved')
          .returningAll()
          .executeTakeFirstOrThrow();
        // Charged only now: a charge that is undone must not be on an invoice, and a month may have ended meanwhile.
        const confirmed = ports.clock.now();
        await settle(db, { ...call, now: confirmed });
        await releaseCredit(db, charge.accountId, charge.amount);
        await chargeOwed(db, ports, charge, confirmed);
        const message = form.authcode === undefined ? 'The domain was registered.' : 'The domain was transferred.';
        return { message, data: detailsOf(row, call.secret, Math.floor(now / 1000)) };
      },
    };
  },
  subject: domainSubject,
  withdraw: (ports, { name }, { turn }) => ports.registrar.withdraw(String(name), turn),
  release,
  isTaken: async (db, details) =>
    (await db.selectFrom('domains').select('name').where('name', '=', String(details['name'])).executeTakeFirst()) !== undefined,
};

async function reserve(db: Db, call: Call<'registerDomain'>): Promise<{ order: DomainOrder; charge: Charge }> {
  const { accountId, form, now, ports } = call;
  await settle(db, call);
  const { name, sld, tld, prices, handle, nameservers } = await readForm(db, form, accountId, ports.registrar.standardNameservers);
  const { created, expires, lockedUntil } = beginRegistration(Math.floor(now / 1000));
  // A cancelled domain that has expired is free, whenever the timed work gets to it.
  const registered = await db.selectFrom('domains').select('account_id').where('name', '=', name).executeTakeFirst();
  if (registered && registered.account_id !== accountId) await settle(db, { ...call, accountId: registered.account_id });
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
    })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('name')
    .executeTakeFirst();
  if (!inserted) throw registeredAlready(name);
  const isTransfer = form.authcode !== undefined;
  const charge: Charge = {
    accountId,
    kind: 'domain',
    subject: name,
    type: isTransfer ? 'TRANSFER' : 'CREATE',
    start: created,
    stop: expires,
    amount: BigInt(isTransfer ? prices.transfer_price : prices.create_price),
  };
  await holdCredit(db, accountId, charge.amount);
  return { order: { name, contact: contactOf(handle), nameservers: listOfNameservers(nameservers) }, charge };
}

async function release({ db }: Transaction, details: ReservationDetails): Promise<void> {
  await db.deleteFrom('domains').where('name', '=', String(details['name'])).where('state', '=', 'reserved').execute();
  await releaseCredit(db, String(details['accountId']), BigInt(details['hold'] ?? 0));
}

function registeredAlready(name: string): Refusal {
  return new Refusal(
    409,
    'wrong_state',
    `The domain ${name} is registered already. Choose another name, or send the authcode of its present provider to transfer it.`,
  );
}
