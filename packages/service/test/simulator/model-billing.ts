/** The invoices that the model expects. Each has the costs of its month, rounded once. */
import { tlds } from './catalogue.ts';
import { cents, decimal, less, numberOf, numberOfCents, plus, sum, units, unitsUp } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import { amountIn, costOf, invoicesOf, partsIn } from './model-invoices.ts';
import type { ModelInvoice } from './model-invoices.ts';
import { balanceCredit, grossLeft } from './model-payments.ts';
import { listedAt, priceOf } from './model-prices.ts';
import { netOf } from './model-vat.ts';
import type { Charge, Model, ModelAccount, ModelDomain, ModelSale, ModelServer, ModelVm, Resources, Seconds, Segment } from './model.ts';
import { monthAfter, monthOf } from './virtual-clock.ts';

/** The sales that apply to a purchase at an instant (milliseconds), the best for the customer first. */
export function offersFor(model: Model, account: ModelAccount, hostsystem: string, resources: Resources, now: number): ModelSale[] {
  const listed = listedAt(model, hostsystem, now);
  const standard = priceOf(listed, resources);
  return model.sales
    .filter((sale) => isOpen(sale, account, now) && sale.start <= now)
    .map((sale) => ({ sale, price: priceOf(listed, resources, sale.prices.get(hostsystem)) }))
    .filter(({ price }) => less(price, standard))
    .toSorted((a, b) => {
      if (less(a.price, b.price)) return -1;
      if (less(b.price, a.price)) return 1;
      if (a.sale.upgradable !== b.sale.upgradable) return a.sale.upgradable ? -1 : 1;
      return a.sale.start - b.sale.start || (a.sale.id < b.sale.id ? -1 : 1);
    })
    .map(({ sale }) => sale);
}

/** Whether a sale is scheduled or active at an instant (milliseconds) and open to the account. */
export function isOpen(sale: ModelSale, account: ModelAccount, now: number): boolean {
  const hasEnded = sale.ended !== null || (sale.stop !== null && sale.stop <= now) || sale.used >= sale.max;
  return !hasEnded && (sale.accountId === null || sale.accountId === account.id);
}

/** A position of an invoice as the API returns it. */
export interface ExpectedPosition {
  readonly type: string;
  readonly start: string;
  readonly stop: string | null;
  readonly totalRuntime: number | null;
  readonly monthlyPrice: number;
  readonly totalPrice: number | null;
}

/** The positions of a month up to an instant, or of the whole month if it has ended. */
export function positionsIn(model: Model, account: ModelAccount, month: Seconds, now: Seconds): Record<string, ExpectedPosition[]> {
  const end = monthAfter(month);
  const closed = now >= end;
  const positions: Record<string, ExpectedPosition[]> = {};
  for (const { vm, segment, from, to } of partsIn(model, account, month, Math.min(now, end))) {
    const stop = segment.stop !== null && segment.stop <= to ? segment.stop : null;
    (positions[vm.id] ??= []).push({
      type: segment.start >= month ? segment.type : 'BILLINGRESTART',
      start: iso(from),
      stop: stop !== null ? iso(stop) : closed ? iso(end) : null,
      totalRuntime: closed ? null : to - from,
      monthlyPrice: numberOf(segment.price),
      totalPrice: closed ? null : numberOf(costOf(segment.price, to - from)),
    });
  }
  return positions;
}

/** The charges of a month by subject. */
export function chargesIn(model: Model, account: ModelAccount, month: Seconds): Partial<Record<Charge['kind'], Record<string, object[]>>> {
  const byKind: Partial<Record<Charge['kind'], Record<string, object[]>>> = {};
  const own = model.charges.filter((one) => one.account === account && one.month === month);
  for (const { kind, subject, type, start, stop, amount } of own.toSorted((a, b) => a.start - b.start)) {
    ((byKind[kind] ??= {})[subject] ??= []).push({ type, start: iso(start), stop: iso(stop), totalPrice: numberOf(amount) });
  }
  return byKind;
}

/** The current invoice that the API should return. */
export function currentInvoice(model: Model, account: ModelAccount, now: Seconds): object {
  const month = monthOf(now);
  const end = monthAfter(month);
  const total = cents(amountIn(model, account, month, now));
  return {
    currentInvoiceTotal: numberOfCents(total),
    nextInvoiceDate: iso(end),
    estimatedInvoiceTotal: numberOfCents(cents(plus(amountIn(model, account, month, end), sum(renewalsIn(model, account, month))))),
    creditLimit: numberOf(account.credit),
    creditLimitRemaining: numberOfCents(remainingCents(model, account, now)),
    positions: { vms: positionsIn(model, account, month, now), ...chargesIn(model, account, month) },
  };
}

/** The net amount of the open invoices that is left to pay. */
export function unpaidCents(model: Model, account: ModelAccount, now: Seconds): bigint {
  return invoicesOf(model, account, now).reduce(
    (owed, invoice) => (invoice.status === 'OPEN' ? owed + owedOf(account, invoice) : owed),
    0n,
  );
}

/** The rest of the net amount in proportion to the gross amount that is left to pay, rounded up. */
function owedOf({ documents }: ModelAccount, { month, cents: total }: ModelInvoice): bigint {
  const document = documents.get(month);
  if (!document) return total;
  const net = total - document.notes.reduce((all, note) => all + netOf(note.sums), 0n);
  const gross = grossLeft(document);
  return document.paid === 0n ? net : (net * (gross - document.paid) + gross - 1n) / gross;
}

/**
 * The held credit of an account in units of 10^-8 EUR: the estimated total of the current period with each position rounded up,
 * renewals that are due in it, purchases in progress, and servers whose set-up is in progress.
 */
export function heldUnits(model: Model, account: ModelAccount, now: Seconds): bigint {
  const month = monthOf(now);
  let held = 0n;
  for (const { segment, from, to } of partsIn(model, account, month, monthAfter(month))) {
    held += unitsUp(costOf(segment.price, to - from));
  }
  for (const one of model.charges) if (one.account === account && one.month === month) held += units(one.amount);
  for (const one of model.reservations) if (one.account === account) held += one.since < month ? holdFrom(one.monthly, month) : one.hold;
  for (const one of model.holds) if (one.account === account) held += one.amount;
  for (const one of model.servers)
    if (one.account === account && one.state === 'ordered') held += holdOfOrder(one, Math.max(one.ordered ?? month, month));
  for (const amount of renewalsIn(model, account, month)) held += units(amount);
  return held;
}

/** The prices of the renewals that will be due in a month. */
function renewalsIn(model: Model, account: ModelAccount, month: Seconds): Fraction[] {
  const end = monthAfter(month);
  const servers = model.servers.flatMap((server) => {
    if (server.account !== account || server.state !== 'deployed' || server.terminated || server.due === null) return [];
    return renewalDates(server.due, server.days, end).map(() => server.price);
  });
  // A registration that is not confirmed holds its own price only.
  const registered = [...model.domains.values()].filter((domain) => domain.account === account && domain.state !== 'reserved');
  const domains = registered.flatMap((domain) => (!domain.terminated && domain.expires < end ? [renewalPrice(domain)] : []));
  return [...servers, ...domains];
}

function renewalDates(due: Seconds, days: number, end: Seconds): Seconds[] {
  return due < end ? [due, ...renewalDates(due + days * 86_400, days, end)] : [];
}

/** What the order of a server holds in a month: its first runtime, which can begin from an instant on, and the renewals after it. */
export function holdOfOrder({ price, days }: Pick<ModelServer, 'price' | 'days'>, now: Seconds): bigint {
  return units(price) * BigInt(1 + renewalDates(now + days * 86_400, days, monthAfter(monthOf(now))).length);
}

/** What the renewals of a server hold in the month if it is not cancelled. */
export function holdOfRenewals({ price, days, due }: ModelServer, now: Seconds): bigint {
  return due === null ? 0n : units(price) * BigInt(renewalDates(due, days, monthAfter(monthOf(now))).length);
}

/** The price of a year of a domain. */
export function renewalPrice({ tld }: Pick<ModelDomain, 'tld'>): Fraction {
  const [, , renewal = ''] = tlds.find(([one]) => one === tld) ?? [];
  return decimal(renewal);
}

/** The remaining credit in cents after a further amount in units. The held credit is rounded once, half to even. */
export function remainingCents(model: Model, account: ModelAccount, now: Seconds, more = 0n): bigint {
  const exact = heldUnits(model, account, now) + more;
  const [whole, rest] = [exact / UNITS_A_CENT, (exact % UNITS_A_CENT) * 2n];
  const held = rest > UNITS_A_CENT || (rest === UNITS_A_CENT && whole % 2n === 1n) ? whole + 1n : whole;
  return cents(account.credit) + balanceCredit(model, account) - unpaidCents(model, account, now) - held;
}

/** Whether an amount in units is within the remaining credit. An amount of zero always is. */
export function creditFits(model: Model, account: ModelAccount, amount: bigint, now: Seconds): boolean {
  if (amount <= 0n) return true;
  return remainingCents(model, account, now, amount) >= 0n;
}

const UNITS_A_CENT = 1_000_000n;

/** The part of the credit limit that a price holds from an instant until the end of its month. */
export function holdFrom(price: Fraction, start: Seconds): bigint {
  return unitsUp(costOf(price, monthAfter(monthOf(start)) - start));
}

/** The current segment of a VM; undefined if it does not run. */
export function runningSegment(vm: ModelVm): Segment | undefined {
  return vm.segments.find(({ stop }) => stop === null);
}

/** The held credit, in units, that is released if a running segment ends at an instant. */
export function freedByEnding({ start, price }: Segment, now: Seconds): bigint {
  const from = Math.max(start, monthOf(now));
  return unitsUp(costOf(price, monthAfter(monthOf(now)) - from)) - unitsUp(costOf(price, now - from));
}

/** A billing instant as the API returns it. */
export function iso(instant: Seconds): string {
  return new Date(instant * 1000).toISOString();
}
