import type { Received } from '../http-client.ts';
/** Compares what the reseller and the operator see with the ledger. A fact is one comparison. */
import { cents, numberOfCents, over, plus, times } from '../simulator/fraction.ts';
import type { Fraction } from '../simulator/fraction.ts';
import { iso, monthAfter, monthOf } from './calendar.ts';
import type { Door } from './door.ts';
import { costOf, creditOf, estimateOf, grossLeft, isOpen, netLeft, restOf, shown, spentOf, useBalance, vatOf } from './ledger.ts';
import type { Account, Bill, Ledger } from './ledger.ts';

/** A fact that is wrong. */
export class WrongFact extends Error {
  override readonly name = 'WrongFact';
}

export interface Facts {
  count: number;
  /** @throws WrongFact if the two differ. */
  same(name: string, actual: unknown, expected: unknown): void;
}

export function newFacts(): Facts {
  return {
    count: 0,
    same(name, actual, expected) {
      this.count++;
      const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
      if (one !== other) throw new WrongFact(`${name} is ${one}, and should be ${other}.`);
    },
  };
}

const centsOf = (amount: number | string): bigint => BigInt(Math.round(Number(amount) * 100));

export async function checkAccount(door: Door, ledger: Ledger, account: Account, facts: Facts): Promise<void> {
  const { apiKey, name } = account;
  const read = async (id: Parameters<Door['call']>[1], path: Record<string, string> = {}) => {
    const { status, text, body } = await door.call(apiKey, id, { path });
    if (status !== 200) throw new WrongFact(`${id} of ${name} is ${status}: ${text}`);
    return body.data;
  };
  await checkBills(door, account, facts, read);
  const current = await read('getCurrentInvoice');
  facts.same(`currentInvoiceTotal of ${name}`, current.currentInvoiceTotal, numberOfCents(cents(spentOf(ledger, account))));
  facts.same(`estimatedInvoiceTotal of ${name}`, current.estimatedInvoiceTotal, numberOfCents(cents(estimateOf(ledger, account))));
  facts.same(`nextInvoiceDate of ${name}`, current.nextInvoiceDate, iso(monthAfter(ledger.now)));
  facts.same(`positions of ${name}`, sorted(current.positions), sorted(positionsOf(ledger, account, monthOf(ledger.now))));

  for (const vm of account.vms) {
    if (vm.state === 'gone' || account.isSuspended) continue;
    const { pricings } = await read('getVmConfig', { vmid: String(vm.id) });
    facts.same(`monthly price of VM ${vm.id} of ${name}`, pricings.monthly, shown(vm.price));
  }

  const expected = Object.fromEntries(Object.entries(creditOf(ledger, account)).map(([part, amount]) => [part, numberOfCents(amount)]));
  facts.same(`creditLimitRemaining of ${name}`, current.creditLimitRemaining, expected['remaining']);
  facts.same(`creditLimit of ${name}`, current.creditLimit, expected['limit']);
  const { limit, balance, unpaid, estimate, pending, remaining } = await read('getCredit');
  facts.same(`credit of ${name}`, { limit, balance, unpaid, estimate, pending, remaining }, expected);
}

type Read = (id: Parameters<Door['call']>[1], path?: Record<string, string>) => Promise<Received['body']>;

async function checkBills(door: Door, account: Account, facts: Facts, read: Read): Promise<void> {
  const { name } = account;
  await door.settled();
  const { list } = await read('listDocuments');
  for (const one of account.bills) if (one.gross === undefined) await issue(account, one, list, facts, read);
  const listed = Object.values(await read('listInvoices')) as { created: string; total: number; status: string }[];
  facts.same(
    `invoices of ${name}`,
    listed.map(({ created, total, status }) => [created, total, status]),
    account.bills.toReversed().map((one) => [iso(monthAfter(one.month)), numberOfCents(one.net), statusOf(one)]),
  );
  for (const one of account.bills) {
    const document = list.find((each: { kind: string; invoiceID: string }) => each.kind === 'invoice' && each.invoiceID === one.id);
    facts.same(`unpaid of ${document?.number} of ${name}`, document?.unpaid, numberOfCents(restOf(one)));
  }
  const payments = await read('listPayments');
  facts.same(`balance of ${name}`, payments.balance, numberOfCents(account.balance));
  for (const { kind, amount, unused, reversed, pays } of payments.list) {
    if (kind !== 'payment' || reversed !== null) continue;
    const used = pays.reduce((all: bigint, part: { amount: number }) => all + centsOf(part.amount), centsOf(unused));
    // The rest was refunded.
    facts.same(`the parts of a payment of ${name} are at most the whole`, used <= centsOf(amount), true);
  }
}

function statusOf(one: Bill): string {
  if (one.isCancelled) return 'CANCELED';
  return isOpen(one) ? 'OPEN' : 'PAID';
}

/** Checks a new invoice and its document, and takes the division of the cents among the rates from it. Then the balance pays it. */
async function issue(account: Account, one: Bill, list: Received['body'][], facts: Facts, read: Read): Promise<void> {
  const { name } = account;
  const created = iso(monthAfter(one.month));
  const found = Object.entries(await read('listInvoices')).find(([, invoice]) => (invoice as { created: string }).created === created);
  if (!found) throw new WrongFact(`${name} has no invoice of ${created}, and should have one of ${numberOfCents(one.net)}.`);
  const [id] = found;
  const document = list.find((each) => each.kind === 'invoice' && each.invoiceID === id);
  if (!document) throw new WrongFact(`The invoice of ${created} of ${name} has no document.`);
  facts.same(`net of ${document.number} of ${name}`, document.net, numberOfCents(one.net));
  checkVat(`${document.number} of ${name}`, document, one.exact, facts);
  const { positions } = await read('getInvoice', { invoiceID: id });
  facts.same(`positions of ${document.number} of ${name}`, sorted(positions), sorted(positionsOf(undefined, account, one.month)));
  one.id = id;
  one.gross = centsOf(document.gross);
  useBalance(account);
}

/** Each rate has its amount to the cent, the amounts add up, and the VAT of each is rounded half up. */
function checkVat(
  name: string,
  document: { net: number; gross: number; vat: readonly { rate: number; net: number; amount: number }[] },
  exact: ReadonlyMap<number, Fraction>,
  facts: Facts,
): void {
  const rows = document.vat.map(({ rate, net, amount }) => ({
    basisPoints: Math.round(rate * 100),
    net: centsOf(net),
    amount: centsOf(amount),
  }));
  for (const { basisPoints, net, amount } of rows)
    facts.same(`VAT at ${basisPoints} of ${name}`, Number(amount), Number(vatOf(net, basisPoints)));
  // A rate of 0 and reverse charge are two rows.
  for (const [basisPoints, costs] of exact) {
    const net = rows.reduce((all, row) => (row.basisPoints === basisPoints ? all + row.net : all), 0n);
    const off = cents(plus(costs, { n: -net, d: 100n }));
    facts.same(`the net amount at ${basisPoints} of ${name} is off by a cent at most`, off >= -1n && off <= 1n, true);
  }
  const total = (of: 'net' | 'amount') => rows.reduce((all, row) => all + row[of], 0n);
  facts.same(`sum of the net amounts of ${name}`, Number(total('net')), Number(centsOf(document.net)));
  facts.same(`gross of ${name}`, Number(centsOf(document.gross)), Number(total('net') + total('amount')));
}

/** Checks a credit note of an invoice, and enters it. */
export function enterNote(
  account: Account,
  one: Bill,
  net: bigint,
  note: { amount: string; vat: string; gross: string },
  facts: Facts,
): void {
  const before = { net: netLeft(one), gross: grossLeft(one) };
  facts.same(`amount of a credit note of ${account.name}`, Number(centsOf(note.amount)), Number(net));
  const gross = centsOf(note.gross);
  facts.same(`gross of a credit note of ${account.name}`, Number(gross), Number(net + centsOf(note.vat)));
  const share = cents(over(times({ n: net * before.gross, d: 100n }, 1), before.net));
  const off = gross - share;
  // Each rate rounds its net amount and its VAT, and an invoice has few rates.
  facts.same(`a credit note of ${account.name} has its share of the VAT`, off >= -3n && off <= 3n, true);
  one.notes.push({ net, gross });
  if (netLeft(one) === 0n) facts.same(`the credit notes of an invoice of ${account.name} credit it to the cent`, Number(grossLeft(one)), 0);
}

type Positions = Record<string, Record<string, object[]>>;

/** The positions of a month: of the current one with runtimes and prices so far, or of a closed one without. */
function positionsOf(ledger: Ledger | undefined, account: Account, month: number): Positions {
  const positions: Positions = { vms: {} };
  const end = Math.min(monthAfter(month), ledger?.now ?? Infinity);
  for (const vm of account.vms)
    for (const { type, start, stop, price } of vm.runtimes) {
      const [from, to] = [Math.max(start, month), Math.min(stop ?? end, end)];
      const begins = start < monthAfter(month) && (ledger === undefined || start <= ledger.now);
      if (!begins || (stop !== null && stop <= month) || stop === start) continue;
      const closed = ledger === undefined ? { totalRuntime: null, totalPrice: null } : undefined;
      ((positions['vms'] ??= {})[vm.id] ??= []).push({
        type: start < month ? 'BILLINGRESTART' : type,
        start: iso(from),
        stop: closed || (stop !== null && stop <= end) ? iso(to) : null,
        monthlyPrice: shown(price),
        ...(closed ?? { totalRuntime: to - from, totalPrice: shown(costOf({ price }, to - from)) }),
      });
    }
  for (const { kind, subject, type, start, stop, amount, at } of account.charges)
    if (monthOf(at) === month)
      ((positions[kind] ??= {})[subject] ??= []).push({ type, start: iso(start), stop: iso(stop), totalPrice: shown(amount) });
  return positions;
}

/** In one order, without positions of no time. */
function sorted(positions: Positions): unknown {
  const text = (value: unknown) => JSON.stringify(value);
  const keys = ['type', 'start', 'stop', 'monthlyPrice', 'totalRuntime', 'totalPrice'];
  return Object.entries(positions)
    .flatMap(([kind, bySubject]) =>
      Object.entries(bySubject).flatMap(([subject, list]) =>
        list
          .map((one): Record<string, unknown> => ({ ...one }))
          .filter(({ start, stop }) => start !== stop)
          .map((one) => [kind, subject, ...keys.filter((key) => key in one).map((key) => one[key])]),
      ),
    )
    .toSorted((one, other) => (text(one) < text(other) ? -1 : 1));
}
