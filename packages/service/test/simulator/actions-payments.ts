/** Payments, refunds, reversals, credit notes and VAT rates, through the operator API. */
import { expect } from 'vitest';

import { numberOfCents } from './fraction.ts';
import { invoicesOf } from './model-invoices.ts';
import { balanceOf, correct, grossLeft, invoiceOf, issueModelDocuments, netLeft, payInvoices, reverse, use } from './model-payments.ts';
import { berlinDay } from './model-vat.ts';
import type { ModelAccount, ModelPayment, PaymentBody, Seconds } from './model.ts';
import type { Simulation } from './simulation.ts';
import { monthAfter, monthOf } from './virtual-clock.ts';

const DAY = 86_400_000;

/** Records a payment: of an invoice, of a part of it, or in advance. Some are recorded twice. */
export async function recordRandomPayment(sim: Simulation): Promise<void> {
  const { dice, model, clock } = sim;
  const account = dice.pick(model.accounts);
  issueModelDocuments(model);
  const known = dice.pickAny([...account.invoiceIds]);
  const again = dice.pickAny(account.payments.filter(({ body }) => body !== undefined));
  if (again?.body && dice.chance(0.15)) return repeatPayment(sim, account, again, again.body);
  const owed = invoicesOf(model, account, account.period).flatMap(({ month, status }) => {
    const document = status === 'OPEN' ? account.documents.get(month) : undefined;
    return document ? [grossLeft(document) - document.paid] : [];
  });
  const all = owed.reduce((sum, amount) => sum + amount, 0n);
  const wanted = dice.pick([dice.pickAny(owed) ?? 0n, all, BigInt(dice.integer(1, 500)), BigInt(dice.integer(500, 9_000))]);
  const amount = wanted > 0n ? wanted : BigInt(dice.integer(1, 3_000));
  const body = {
    amount: numberOfCents(amount).toFixed(2),
    date: new Date(clock.now()).toISOString().slice(0, 10),
    method: 'bank_transfer',
    reference: 'simulated',
    ...(known && dice.chance(0.4) && { invoice_id: known[1] }),
  };
  const name = `payment-${sim.steps.length}-${account.payments.length}`;
  const isPayable = body.invoice_id === undefined || (known && invoiceOf(model, account, known[0])?.status === 'OPEN');
  sim.describe(`${account.name} pays ${body.amount} EUR${body.invoice_id === undefined ? '' : ' of an invoice'}`);
  const response = await sim.client.operate('PUT', pathOf(account, 'payments', name), body);
  expect(response.status, `${response.text}`).toBe(isPayable ? 200 : 409);
  if (!isPayable) return;
  addPayment(account, { id: response.body.id, name, kind: 'payment', amount, created: clock.now(), body, unused: amount });
  payInvoices(model, account, body.invoice_id === undefined ? undefined : known?.[0]);
}

function pathOf(account: ModelAccount, kind: 'payments' | 'refunds', name: string): string {
  return `/accounts/${account.id}/${kind}/${name}`;
}

/** A repeated request changes nothing, and another one with the same name is refused. */
async function repeatPayment(
  { dice, client, describe }: Simulation,
  account: ModelAccount,
  payment: ModelPayment,
  body: PaymentBody,
): Promise<void> {
  const isChanged = dice.chance(0.5);
  describe(`${account.name} pays again by the same name${isChanged ? ', another amount' : ''}`);
  const path = pathOf(account, payment.kind === 'payment' ? 'payments' : 'refunds', payment.name);
  const response = await client.operate('PUT', path, isChanged ? { ...body, amount: '12345.67' } : body);
  expect(response.status, `${response.text}`).toBe(isChanged ? 409 : 200);
}

/** Payments are used in the order of their times, then of their identifiers. */
export function addPayment({ payments }: ModelAccount, payment: Omit<ModelPayment, 'uses' | 'isReversed'>): void {
  payments.push({ ...payment, isReversed: false, uses: new Map() });
  payments.sort((one, other) => one.created - other.created || (one.id < other.id ? -1 : 1));
}

/** The provider takes a payment back. One of which a part was refunded stays. */
export async function reverseRandomPayment(sim: Simulation): Promise<void> {
  const { dice, model, client } = sim;
  const account = dice.pick(model.accounts);
  const payment = dice.pickAny(account.payments);
  if (!payment) return recordRandomPayment(sim);
  issueModelDocuments(model);
  const isRefunded = [...payment.uses.keys()].some((purpose) => typeof purpose === 'string');
  sim.describe(`the provider reverses a ${payment.kind} of ${account.name}`);
  const response = await client.operate('POST', `${pathOf(account, 'payments', payment.name)}/reverse`, { reason: 'Simulated' });
  const isRefused = !payment.isReversed && (payment.kind === 'refund' || isRefunded);
  expect(response.status, `${response.text}`).toBe(isRefused ? 409 : 200);
  if (!isRefused && !payment.isReversed) reverse(model, account, payment);
}

/** The provider pays the balance back, or a part of it. More than the balance is refused. */
export async function refundBalance(sim: Simulation): Promise<void> {
  const { dice, model, clock, client } = sim;
  const account = dice.pickAny(model.accounts.filter((one) => balanceOf(one) > 0n)) ?? dice.pick(model.accounts);
  const balance = balanceOf(account);
  const amount = dice.pick([balance, balance / 2n, balance + 1n]);
  if (amount === 0n) return recordRandomPayment(sim);
  const body = {
    amount: numberOfCents(amount).toFixed(2),
    date: new Date(clock.now()).toISOString().slice(0, 10),
    method: 'bank_transfer',
    reference: 'simulated refund',
  };
  const name = `refund-${sim.steps.length}-${account.payments.length}`;
  sim.describe(`the provider refunds ${body.amount} EUR to ${account.name}`);
  const response = await client.operate('PUT', pathOf(account, 'refunds', name), body);
  expect(response.status, `${response.text}`).toBe(amount <= balance ? 200 : 409);
  if (amount > balance) return;
  use(account, name, amount);
  addPayment(account, { id: response.body.id, name, kind: 'refund', amount, created: clock.now(), body, unused: 0n });
}

/** The provider corrects an invoice: a part of it, all of it, or more than is left, which is refused. */
export async function creditRandomInvoice(sim: Simulation): Promise<void> {
  const { dice, model, client } = sim;
  const account = dice.pick(model.accounts);
  const known = dice.pickAny([...account.invoiceIds]);
  if (!known) return recordRandomPayment(sim);
  const [month, id] = known;
  issueModelDocuments(model);
  const document = account.documents.get(month);
  const left = document ? netLeft(document) : 0n;
  const amount = dice.pick([left, left / 3n, left + 1n, BigInt(dice.integer(1, 300))]);
  if (amount === 0n) return recordRandomPayment(sim);
  const name = `note-${sim.steps.length}`;
  const isRefused = amount > left || invoiceOf(model, account, month)?.status === 'CANCELED';
  sim.describe(`the provider credits ${amount} cents of an invoice of ${account.name}`);
  const body = { amount: numberOfCents(amount).toFixed(2), reason: name };
  const response = await client.operate('PUT', `/invoices/${id}/credit-notes/${name}`, body);
  expect(response.status, `${response.text}`).toBe(isRefused ? 409 : 200);
  if (!isRefused) correct(model, account, month, { amount, reason: name });
}

const BUYER = { company: 'Simulated Hosting', street: 'Ring 1', postal_code: '1010', city: 'Wien' };
const STATUSES = {
  home: { country: 'DE', vat_id: null, reverse_charge: false },
  abroad: { country: 'AT', vat_id: 'ATU12345678', reverse_charge: true },
};

/** The provider sets how an account is taxed from a later day on: in the country of the seller, or abroad with reverse charge. */
export async function changeTaxStatus(sim: Simulation): Promise<void> {
  const { dice, model, clock, client } = sim;
  const account = dice.pick(model.accounts);
  const now = clock.seconds();
  const later = dice.chance(0.4) ? monthAfter(monthOf(now + 2 * 86_400)) : now + dice.integer(2, 40) * 86_400;
  const day = new Date(later * 1000).toISOString().slice(0, 10);
  const isReverse = dice.chance(0.6);
  sim.describe(`${account.name} is ${isReverse ? 'abroad' : 'at home'} from ${day} on`);
  const body = { ...BUYER, ...STATUSES[isReverse ? 'abroad' : 'home'], valid_from: day };
  const response = await client.operate('PUT', `/accounts/${account.id}/billing-profile`, body);
  expect(response.status, `${response.text}`).toBe(200);
  const statuses = [...account.taxStatuses.filter((one) => one.day !== day), { day, from: berlinDay(day), isReverse }]
    .toSorted((one, other) => one.from - other.from)
    // A status that changes nothing is not kept.
    .filter((one, index, all) => index === 0 || all[index - 1]?.isReverse !== one.isReverse);
  account.taxStatuses.splice(0, account.taxStatuses.length, ...statuses);
}

/** The provider sets a rate of a later day, often the first of a month, and withdraws some of the later rates. A rate of the past is refused. */
export async function changeVatRate(sim: Simulation): Promise<void> {
  const { dice, model, clock, client } = sim;
  const now = clock.seconds();
  const day = (instant: Seconds): string => new Date(instant * 1000).toISOString().slice(0, 10);
  const isPast = dice.chance(0.2);
  const ahead = dice.pick([dice.integer(2, 5), dice.integer(2, 60)]);
  const valid_from = isPast
    ? day(now - (dice.integer(2, 40) * DAY) / 1000)
    : dice.chance(0.4)
      ? day(monthAfter(monthOf(now + 2 * 86_400)))
      : day(now + (ahead * DAY) / 1000);
  const basisPoints = dice.pick([0, 700, 1600, 1900, 2100, 2575]);
  const from = berlinDay(valid_from);
  const kept = model.rates.filter((rate) => rate.from <= now || dice.chance(0.5)).filter((rate) => rate.day !== valid_from);
  const rates = [...kept, { day: valid_from, from, basisPoints }].toSorted((one, other) => one.from - other.from);
  const changed = (list: typeof rates, at: Seconds) => (list.findLast((rate) => rate.from <= at) ?? list[0])?.basisPoints;
  const isRefused = rates
    .concat(model.rates)
    .some((rate) => rate.from <= now && changed(rates, rate.from) !== changed(model.rates, rate.from));
  sim.describe(`the provider sets a VAT of ${basisPoints} from ${valid_from} on`);
  const body = { vat_rates: rates.map((rate) => ({ basis_points: rate.basisPoints, valid_from: rate.day })) };
  const response = await client.operate('PUT', '/settings/vat-rates', body);
  expect(response.status, `${response.text}`).toBe(isRefused ? 422 : 200);
  if (!isRefused) model.rates.splice(0, model.rates.length, ...rates);
}
