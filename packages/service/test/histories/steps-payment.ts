/** Steps that change invoices, payments and credit limits. */
import type { Received } from '../http-client.ts';
import { dayIn, iso } from './calendar.ts';
import { enterNote } from './check.ts';
import { creditOf, freeExcess, grossLeft, isOpen, netLeft, restOf, useBalance } from './ledger.ts';
import type { Ledger } from './ledger.ts';
import { decimalOf, setLimit } from './purchase.ts';
import type { Turn } from './purchase.ts';
import { done } from './world.ts';

const today = (ledger: Ledger): string => iso(ledger.now).slice(0, 10);

export async function pay({ door, ledger, dice, step, describe }: Turn): Promise<void> {
  const account = dice.pick(ledger.accounts);
  const named = dice.chance(0.4) ? dice.pickAny(account.bills.filter(isOpen)) : undefined;
  const open = account.bills.reduce((all, one) => all + restOf(one), 0n);
  const paid = dice.pick([open, BigInt(dice.integer(0, Number(open))), BigInt(dice.integer(1, 20_000))]) || 1n;
  describe(`${account.name} pays ${decimalOf(paid)}`);
  const body = {
    amount: decimalOf(paid),
    date: dayIn(ledger.zone, ledger.now) < today(ledger) ? dayIn(ledger.zone, ledger.now) : today(ledger),
    method: 'bank_transfer',
    reference: `Payment ${step}`,
  };
  await done(
    door.operate('PUT', `/accounts/${account.id}/payments/p-${step}`, {
      ...body,
      ...(named?.id !== undefined && { invoice_id: named.id }),
    }),
  );
  account.balance += paid;
  if (named) {
    const part = restOf(named) < paid ? restOf(named) : paid;
    named.paid += part;
    account.balance -= part;
  }
  useBalance(account);
}

export async function reversePayment({ door, ledger, facts, dice, describe }: Turn): Promise<void> {
  const account = dice.pick(ledger.accounts);
  const { items } = await done(door.operate('GET', `/payments?account_id=${account.id}&limit=200`));
  const payment = dice.pickAny(
    items.filter((one: { kind: string; reversed: unknown }) => one.kind === 'payment' && one.reversed === null),
  ) as Received['body'];
  if (!payment) return;
  describe(`a payment of ${payment.amount} of ${account.name} is reversed`);
  const { status } = await door.operate('POST', `/accounts/${account.id}/payments/${payment.name}/reverse`, { reason: 'Returned' });
  // It is refused if a part of it was refunded.
  if (account.refunded === 0n || status !== 409) facts.same('status of a reversal', status, 200);
  if (status !== 200) return;
  let left = BigInt(Math.round(Number(payment.amount) * 100));
  for (const { invoice_id, amount: part } of payment.pays) {
    const one = account.bills.find(({ id }) => id === invoice_id);
    const count = BigInt(Math.round(Number(part) * 100));
    if (one) one.paid -= count;
    left -= count;
  }
  account.balance -= left;
  useBalance(account);
}

export async function refund({ door, ledger, dice, step, describe }: Turn): Promise<void> {
  const account = dice.pickAny(ledger.accounts.filter(({ balance }) => balance > 0n));
  if (!account) return;
  const back = dice.chance(0.5) ? account.balance : BigInt(dice.integer(1, Number(account.balance)));
  describe(`${decimalOf(back)} are refunded to ${account.name}`);
  const date = dayIn(ledger.zone, ledger.now) < today(ledger) ? dayIn(ledger.zone, ledger.now) : today(ledger);
  const body = { amount: decimalOf(back), date, method: 'bank_transfer', reference: 'Refund' };
  await done(door.operate('PUT', `/accounts/${account.id}/refunds/r-${step}`, body));
  account.balance -= back;
  account.refunded += back;
}

export async function correct({ door, ledger, facts, dice, step, describe }: Turn): Promise<void> {
  const one = dice.pickAny(
    ledger.accounts.flatMap((account) =>
      account.bills.filter((each) => !each.isCancelled && netLeft(each) > 0n).map((invoice) => ({ account, invoice })),
    ),
  );
  if (!one?.invoice.id) return;
  const { account, invoice } = one;
  const kind = dice.pick(['note', 'note', 'cancel', 'paid'] as const);
  if (kind === 'note') {
    const net = dice.chance(0.3) ? netLeft(invoice) : BigInt(dice.integer(1, Number(netLeft(invoice))));
    describe(`a credit note of ${decimalOf(net)} for an invoice of ${account.name}`);
    const wasOpen = isOpen(invoice);
    const note = await done(
      door.operate('PUT', `/invoices/${invoice.id}/credit-notes/n-${step}`, { amount: decimalOf(net), reason: 'Outage' }),
    );
    enterNote(account, invoice, net, note, facts);
    // An open invoice of which all is credited is cancelled.
    if (wasOpen && netLeft(invoice) === 0n) invoice.isCancelled = true;
  } else if (kind === 'cancel') {
    const isPaid = !isOpen(invoice);
    describe(`the operator cancels an invoice of ${account.name}`);
    const { status } = await door.operate('POST', `/invoices/${invoice.id}/cancel`);
    facts.same('status of a cancelled invoice', status, isPaid ? 409 : 200);
    if (isPaid) return;
    invoice.notes.push({ net: netLeft(invoice), gross: grossLeft(invoice) });
    invoice.isCancelled = true;
  } else {
    describe(`the operator marks an invoice of ${account.name} paid`);
    await done(door.operate('POST', `/invoices/${invoice.id}/mark-paid`));
    invoice.paid += restOf(invoice);
  }
  freeExcess(account, invoice);
  useBalance(account);
}

export async function changeLimit({ door, ledger, dice, describe }: Turn): Promise<void> {
  const account = dice.pick(ledger.accounts.filter(({ name }) => name !== 'rich'));
  const { remaining } = creditOf(ledger, account);
  // Often just enough for the next purchase, or a little too low.
  const limit = dice.chance(0.5)
    ? BigInt(dice.integer(0, 9_000))
    : (account.limit.n * 100n) / account.limit.d - remaining + BigInt(dice.integer(0, 900));
  const wanted = limit < 0n ? 0n : limit;
  await setLimit({ door, describe }, account, wanted);
}

export async function suspend({ door, ledger, dice, describe }: Turn): Promise<void> {
  const account = ledger.accounts.find(({ isSuspended }) => isSuspended) ?? dice.pick(ledger.accounts);
  describe(`${account.name} is ${account.isSuspended ? 'resumed' : 'suspended'}`);
  if (account.isSuspended) await done(door.operate('DELETE', `/accounts/${account.id}/suspension`));
  else await done(door.operate('PUT', `/accounts/${account.id}/suspension`, { reason: 'Overdue' }));
  account.isSuspended = !account.isSuspended;
}
