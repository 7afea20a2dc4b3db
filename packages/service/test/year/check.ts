/** Checks every invoice of a year. */
import { cents, numberOf, numberOfCents, over, sum, times } from '../simulator/fraction.ts';
import { monthAfter } from '../simulator/virtual-clock.ts';
import { monthsUntil } from './world.ts';
import type { YearAccount, YearWorld } from './world.ts';

/** A price is one of 30 days. */
const PRICED = 30 * 86_400;

interface ShownInvoice {
  readonly created: string;
  readonly total: number;
  readonly status: string;
  readonly positions: object;
}

/** The result of the check. */
export interface YearOfInvoices {
  readonly invoices: number;
  readonly positions: number;
  /** One line for each wrong or missing invoice. */
  readonly wrong: readonly string[];
}

/** Compares every invoice that the API returns with the purchases. */
export async function checkYear(world: YearWorld): Promise<YearOfInvoices> {
  const wrong: string[] = [];
  let invoices = 0;
  let positions = 0;
  for (const account of world.accounts) {
    const summaries: Record<string, { created: string }> = await world.call(account, 'listInvoices');
    const months = monthsUntil(world.now());
    if (Object.keys(summaries).length !== months.length)
      wrong.push(`${account.id} has ${Object.keys(summaries).length} invoices in ${months.length} months`);
    const byCreation = new Map(Object.entries(summaries).map(([id, { created }]) => [created, id]));
    for (const month of months) {
      const expected = invoiceOf(account, month);
      const id = byCreation.get(expected.created);
      if (id === undefined) {
        wrong.push(`${account.id} has no invoice of ${expected.created}`);
        continue;
      }
      const {
        created,
        total,
        status,
        positions: shown,
      }: ShownInvoice = await world.call(account, 'getInvoice', { path: { invoiceID: id } });
      invoices++;
      positions += Object.values(Object(shown)).reduce<number>(
        (count, subjects) => count + Object.values(Object(subjects)).flat().length,
        0,
      );
      const [is, must] = [{ created, total, status, positions: shown }, expected].map((one) => JSON.stringify(sorted(one)));
      if (is !== must)
        wrong.push(`${account.id}, ${created}: total ${total}, which must be ${expected.total}; ${firstDifference(is ?? '', must ?? '')}`);
    }
  }
  return { invoices, positions, wrong };
}

/** The invoice of a month, exactly, rounded once. */
function invoiceOf({ vms, charges }: YearAccount, month: number): ShownInvoice {
  const end = monthAfter(month);
  const runs = [...vms].flatMap(([id, stretches]) =>
    stretches
      .filter(({ start, stop }) => start < end && (stop === null || stop > month))
      .map(({ type, start, stop, price }) => {
        const [from, to] = [Math.max(start, month), Math.min(stop ?? end, end)];
        return { id, type: start >= month ? type : 'BILLINGRESTART', from, to, price };
      }),
  );
  const charged = charges.filter(({ start }) => start >= month && start < end);
  const total = cents(
    sum([...runs.map(({ price, from, to }) => over(times(price, to - from), PRICED)), ...charged.map(({ amount }) => amount)]),
  );
  const kindOf = (kind: string) =>
    grouped(
      charged
        .filter((one) => one.kind === kind)
        .map(({ subject, type, start, stop, amount }) => [
          subject,
          { type, start: iso(start), stop: iso(stop), totalPrice: numberOf(amount) },
        ]),
    );
  const [dedicated, domains] = [kindOf('dedicated'), kindOf('domains')];
  return {
    created: iso(end),
    total: numberOfCents(total),
    status: total === 0n ? 'PAID' : 'OPEN',
    positions: {
      vms: grouped(
        runs.map(({ id, type, from, to, price }) => [
          id,
          { type, start: iso(from), stop: iso(to), totalRuntime: null, monthlyPrice: numberOf(price), totalPrice: null },
        ]),
      ),
      ...(Object.keys(dedicated).length > 0 && { dedicated }),
      ...(Object.keys(domains).length > 0 && { domains }),
    },
  };
}

function grouped(entries: readonly (readonly [string, object])[]): Record<string, object[]> {
  const groups: Record<string, object[]> = {};
  for (const [name, item] of entries) (groups[name] ??= []).push(item);
  return groups;
}

/** The same value with sorted members in every object. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, item]) => [name, sorted(item)]),
  );
}

function firstDifference(is: string, must: string): string {
  let at = 0;
  while (is[at] === must[at] && at < is.length) at++;
  return `it says ${is.slice(Math.max(0, at - 60), at + 80)} where it must say ${must.slice(Math.max(0, at - 60), at + 80)}`;
}

function iso(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
