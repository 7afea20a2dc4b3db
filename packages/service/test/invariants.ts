/** The rules that hold in the store at every moment. */
import { sql } from 'kysely';
import { expect } from 'vitest';

import { vatRatesOf } from '../src/core/accounting/account-vat.ts';
import type { DocumentContent } from '../src/core/accounting/invoice-document/content.ts';
import { vatSumsOf } from '../src/core/accounting/invoice-document/issue.ts';
import { contentOf, storedContentOf } from '../src/core/accounting/invoice-document/stored-content.ts';
import type { Store } from '../src/index.ts';
import { periodOf } from '../src/rules/billing.ts';
import { euros, UNITS_PER_CENT } from '../src/rules/money.ts';
import { splitByRate } from '../src/rules/vat.ts';
import type { VatSum, VatTreatment } from '../src/rules/vat.ts';
import type { Db } from '../src/store/store.ts';

/** Checks all of them. */
export async function expectInvariants(store: Store): Promise<void> {
  await expectExactHolds(store);
  await expectExactUnpaid(store);
  await expectPositionsInOrder(store);
  await expectExactSaleVolumes(store);
  await expectExactRoom(store);
  await expectSoundDocuments(store);
}

/** Reads the state of one moment, because another instance may commit between two statements. */
function readSnapshot<T>(store: Store, work: (db: Db) => Promise<T>): Promise<T> {
  return store.commit(async ({ db }) => {
    if (store.sharing.hasInstances) await sql`set transaction isolation level repeatable read`.execute(db);
    return work(db);
  });
}

/** Document numbers are consecutive, the lines of a document add up to its total, and credit notes add up to the credited amount. */
export async function expectSoundDocuments(store: Store): Promise<void> {
  const { documents, invoices } = await readSnapshot(store, async (db) => ({
    documents: await db.selectFrom('issued_documents').selectAll().orderBy('number').execute(),
    invoices: await db.selectFrom('invoices').selectAll().execute(),
  }));
  for (const kind of ['invoice', 'credit_note'] as const) {
    const numbers = documents.filter((document) => document.kind === kind).map(({ number }) => Number(/\d+$/.exec(number)?.[0]));
    expect(numbers, `numbers of ${kind} documents`).toEqual(numbers.map((_, index) => index + 1));
  }
  for (const { number, net, vat, content } of documents) {
    const shown = await contentOf(storedContentOf({ content }));
    const lines = shown.groups.flatMap((group) => group.lines).reduce((sum, { amount }) => sum + euros(amount), 0n);
    expect([number, lines, euros(shown.net), euros(shown.gross)]).toEqual([number, BigInt(net), BigInt(net), BigInt(net + vat)]);
    const rates = shown.vat.map((sum) => [treatmentIn(sum), euros(sum.net)] as const);
    expect(ratesOf(shown), `rates of ${number}`).toEqual(new Map(rates));
    expect(
      shown.vat.reduce((sum, { amount }) => sum + euros(amount), 0n),
      `VAT of ${number}`,
    ).toBe(BigInt(vat));
  }
  for (const invoice of invoices) {
    const own = documents.filter((document) => document.invoice_id === invoice.id);
    const corrected = own.filter(({ kind }) => kind === 'credit_note').reduce((sum, { net }) => sum + net, 0);
    const document = own.find(({ kind }) => kind === 'invoice');
    expect(document?.number ?? null, `number of ${invoice.id}`).toBe(invoice.number);
    if (!document) continue;
    expect([document.net, corrected], `amounts of ${invoice.id}`).toEqual([invoice.total, invoice.credited]);
    expectTaxed(vatSumsOf(document), [], `VAT of ${invoice.id}`);
    expectTaxed(own.filter(({ kind }) => kind === 'credit_note').flatMap(vatSumsOf), vatSumsOf(document), `credited VAT of ${invoice.id}`);
  }
}

/** The sum of the lines of each treatment. */
function ratesOf({ groups }: DocumentContent): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const line of groups.flatMap(({ lines }) => lines)) {
    const treatment = treatmentIn(line);
    sums.set(treatment, (sums.get(treatment) ?? 0n) + euros(line.amount));
  }
  return sums;
}

/** A rate of 0 and reverse charge are two treatments. */
function treatmentIn({ basisPoints, reverseCharge = false }: VatTreatment): string {
  return `${basisPoints}${reverseCharge ? ' with reverse charge' : ''}`;
}

/** The VAT of each rate is that of its net amount, rounded half up to cents, and the net amount is at most that of the limits, if any. */
function expectTaxed(sums: readonly VatSum[], limits: readonly VatSum[], what: string): void {
  for (const [treatment, own] of Map.groupBy(sums, treatmentIn)) {
    const basisPoints = own[0]?.basisPoints ?? 0;
    const net = own.reduce((sum, one) => sum + one.net, 0n);
    const cents = (net * BigInt(basisPoints) + 5_000n * UNITS_PER_CENT) / (10_000n * UNITS_PER_CENT);
    expect(
      own.reduce((sum, { vat }) => sum + vat, 0n),
      `${what} at ${treatment}`,
    ).toBe(cents * UNITS_PER_CENT);
    const limit = limits.find((one) => treatmentIn(one) === treatment);
    if (limits.length > 0) expect(net, `${what} at ${basisPoints}`).toBeLessThanOrEqual(limit?.net ?? 0n);
  }
}

/** The credit that an account holds is the sum of its open positions, open charges, servers, renewals of domains, and reservations. */
export async function expectExactHolds(store: Store): Promise<void> {
  const { accounts, positions, charges, servers, domains, reservations } = await readSnapshot(store, async (db) => ({
    accounts: await db.selectFrom('accounts').select(['id', 'held']).execute(),
    positions: await db.selectFrom('positions').select(['account_id', 'hold as amount']).where('invoice_id', 'is', null).execute(),
    charges: await db.selectFrom('charges').select(['account_id', 'amount']).where('invoice_id', 'is', null).execute(),
    servers: await db.selectFrom('dedicated_servers').select(['account_id', 'hold as amount']).execute(),
    domains: await db.selectFrom('domains').select(['account_id', 'hold as amount']).execute(),
    reservations: await db.selectFrom('reservations').select(['account_id', 'details', 'extra_hold']).execute(),
  }));
  const reserved = reservations.map(({ account_id, details, extra_hold }) => {
    const { hold = 0 }: { hold?: number } = JSON.parse(details);
    return { account_id, amount: hold + extra_hold };
  });
  const held = sumsBy([...positions, ...charges, ...servers, ...domains, ...reserved]);
  expect(Object.fromEntries(accounts.map((account) => [account.id, account.held]))).toEqual(
    Object.fromEntries(accounts.map(({ id }) => [id, held.get(id) ?? 0])),
  );
}

async function accountsWithRates(db: Db) {
  const accounts = await db.selectFrom('accounts').select(['id', 'unpaid', 'balance', 'balance_credit', 'period_start']).execute();
  const rated = [];
  for (const account of accounts) rated.push({ ...account, rates: await vatRatesOf(db, account.id) });
  return rated;
}

/**
 * The debt of an account is the sum of what is left to pay of its open invoices, its payments are used exactly once, and its balance counts
 * as credit at the highest VAT rate of its period.
 */
export async function expectExactUnpaid(store: Store): Promise<void> {
  const { accounts, invoices, documents, payments, uses } = await readSnapshot(store, async (db) => ({
    accounts: await accountsWithRates(db),
    invoices: await db.selectFrom('invoices').selectAll().execute(),
    documents: await db.selectFrom('issued_documents').selectAll().execute(),
    payments: await db.selectFrom('payments').selectAll().execute(),
    uses: await db.selectFrom('payment_uses').selectAll().execute(),
  }));
  const paid = new Map<string, number>();
  for (const { used_for, amount } of uses) paid.set(used_for, (paid.get(used_for) ?? 0) + amount);
  const owed = invoices.map(({ id, account_id, status, total, credited, paid: stored }) => {
    expect(stored, `paid of ${id}`).toBe(paid.get(id) ?? 0);
    const own = documents.filter(({ invoice_id }) => invoice_id === id);
    const gross = own.reduce((sum, { kind, net, vat }) => sum + (kind === 'invoice' ? net + vat : -net - vat), 0);
    if (stored > 0) expect(stored, `paid of ${id}`).toBeLessThanOrEqual(gross);
    if (status !== 'OPEN') return { account_id, amount: 0 };
    const net = total - credited;
    const cents = Number(UNITS_PER_CENT);
    return { account_id, amount: stored === 0 ? net : Math.ceil(((net / cents) * ((gross - stored) / cents)) / (gross / cents)) * cents };
  });
  for (const { id, account_id, kind, amount, unused, reversed } of payments) {
    const used = uses.filter(({ payment_id }) => payment_id === id).reduce((sum, use) => sum + use.amount, 0);
    const source = kind === 'refund' ? (paid.get(id) ?? 0) : used + unused;
    expect(source, `parts of the ${kind} ${id} of ${account_id}`).toBe(reversed === null ? amount : 0);
  }
  const balances = sumsBy(payments.map(({ account_id, unused }) => ({ account_id, amount: unused })));
  const unpaidOf = sumsBy(owed);
  for (const { id, unpaid, balance } of accounts)
    expect({ id, unpaid, balance }).toEqual({ id, unpaid: unpaidOf.get(id) ?? 0, balance: balances.get(id) ?? 0 });
  for (const { id, balance, balance_credit, period_start, rates } of accounts) {
    const { start, end } = periodOf(period_start);
    const highest = Math.max(...splitByRate(rates, start, end).map(({ basisPoints }) => basisPoints));
    const cents = (BigInt(balance) * 10_000n) / (BigInt(10_000 + highest) * UNITS_PER_CENT);
    expect(balance_credit, `credit of the balance of ${id}`).toBe(Number(cents * UNITS_PER_CENT));
  }
}

/**
 * The positions of a VM never overlap, at most the last one runs at the price of the VM, and there is a gap only where billing was started
 * again. None reaches beyond its period, and closed ones have ended.
 */
export async function expectPositionsInOrder(store: Store): Promise<void> {
  const { positions, invoices, vms } = await readSnapshot(store, async (db) => ({
    positions: await db.selectFrom('positions').selectAll().orderBy('vm_id').orderBy('number').execute(),
    invoices: await db.selectFrom('invoices').selectAll().execute(),
    vms: await db.selectFrom('vms').select(['id', 'state', 'monthly_price', 'abuse_status']).execute(),
  }));
  const byVm = Map.groupBy(positions, ({ vm_id }) => vm_id);
  for (const { id, state, monthly_price, abuse_status } of vms) {
    const own = byVm.get(id) ?? [];
    const prices = own.filter(({ stop }) => stop === null).map((position) => position.monthly_price);
    // A VM that ran when it was blocked is stopped, and billed on.
    const isBilled = state === 'running' || (state === 'stopped' && abuse_status === 'BLOCKED' && prices.length > 0);
    expect(prices, `prices of the running positions of the ${state} VM ${id}`).toEqual(isBilled ? [monthly_price] : []);
    for (const [index, position] of own.entries()) {
      const before = own[index - 1];
      const at = `position ${position.number} of VM ${id}`;
      if (!before) {
        expect(position.type, `${at}`).toBe('CREATE');
        continue;
      }
      expect(before.stop, `${at}`).not.toBeNull();
      expect(position.start, `${at}`).toBeGreaterThanOrEqual(before.stop ?? Infinity);
      // Another VM had the identifier before: no invoice names both.
      if (position.type === 'CREATE') expect(before.invoice_id, `${at}`).not.toBe(position.invoice_id);
      else if (position.start !== before.stop) expect(position.type, `${at}`).toBe('BILLINGRESTART');
    }
  }
  const periods = new Map(invoices.map((invoice) => [invoice.id, invoice]));
  for (const { invoice_id, start, stop } of positions) {
    const period = invoice_id === null ? undefined : periods.get(invoice_id);
    if (!period) continue;
    expect(start).toBeGreaterThanOrEqual(period.period_start);
    expect(stop ?? Infinity).toBeLessThanOrEqual(period.period_end);
  }
}

/** The used volume of a sale is the number of VMs that were bought in it, and never above its maximum. */
export async function expectExactSaleVolumes(store: Store): Promise<void> {
  const { sales, vms } = await readSnapshot(store, async (db) => ({
    sales: await db.selectFrom('sales').select(['id', 'used_volume', 'max_volume']).execute(),
    vms: await db.selectFrom('vms').select('sale_id').where('sale_id', 'is not', null).execute(),
  }));
  for (const { id, used_volume, max_volume } of sales) {
    expect(used_volume, `volume of ${id}`).toBe(vms.filter(({ sale_id }) => sale_id === id).length);
    expect(used_volume).toBeLessThanOrEqual(max_volume);
  }
}

/** The used resources of a node are those of its VMs, and each VM has its addresses. Holds while no request is in progress. */
export async function expectExactRoom(store: Store): Promise<void> {
  const { nodes, vms, addresses } = await readSnapshot(store, async (db) => ({
    nodes: await db.selectFrom('host_nodes').selectAll().execute(),
    vms: await db.selectFrom('vms').selectAll().execute(),
    addresses: await db.selectFrom('ip_addresses').select(['vm_id', 'family']).where('vm_id', 'is not', null).execute(),
  }));
  const present = vms.filter(({ state }) => state !== 'removed');
  for (const { name, used_cores, used_mem, used_disk, used_storage } of nodes) {
    const own = present.filter(({ node }) => node === name);
    const sum = (of: (vm: (typeof own)[number]) => number): number => own.reduce((total, vm) => total + of(vm), 0);
    expect({ name, used_cores, used_mem, used_disk, used_storage }).toEqual({
      name,
      used_cores: sum(({ cores }) => cores),
      used_mem: sum(({ mem }) => mem),
      used_disk: sum(({ disk }) => disk),
      used_storage: sum(({ storage }) => storage ?? 0),
    });
  }
  const taken = Map.groupBy(addresses, ({ vm_id, family }) => `${vm_id}/${family}`);
  for (const { id, state, ips } of vms) {
    const gone = state === 'removed';
    expect([id, taken.get(`${id}/4`)?.length ?? 0, taken.get(`${id}/6`)?.length ?? 0]).toEqual([id, gone ? 0 : ips, gone ? 0 : 1]);
  }
}

function sumsBy(amounts: readonly { account_id: string | null; amount: number }[]): Map<string | null, number> {
  const sums = new Map<string | null, number>();
  for (const { account_id, amount } of amounts) sums.set(account_id, (sums.get(account_id) ?? 0) + amount);
  return sums;
}
