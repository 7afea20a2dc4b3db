/**
 * The credit that an account holds. An order holds its cost in the period in which it is reserved. If the period ends during its delivery, the
 * order holds what it can cost in the next one, like everything that runs.
 */
import { sql } from 'kysely';
import type { Expression, RawBuilder, Selectable } from 'kysely';

import { holdFor, periodOf } from '../../rules/billing.ts';
import type { Period, Seconds } from '../../rules/billing.ts';
import { brokenMonth, explainCredit, neededCredit, remainingCredit, SMALL_MONTH } from '../../rules/credit.ts';
import type { Credit, ExplainedCredit } from '../../rules/credit.ts';
import { decimalOf, UNITS_PER_CENT } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import type { PriceVersion } from '../../rules/price-version.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import { monthlyPriceOf } from '../../rules/resources.ts';
import type { BilledResources } from '../../rules/resources.ts';
import { lockAccount } from '../../store/account-lock.ts';
import { lockName, prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';
import type { ReservationsTable } from '../../store/tables/service.ts';
import { catalogueOf } from '../catalogue/catalogue.ts';
import { findHostSystem } from '../catalogue/host-system.ts';
import type { HostSystem } from '../catalogue/host-system.ts';
import { highestRenewalsFrom } from '../catalogue/tld-price.ts';

/**
 * Holds an amount of the account's credit. A conditional update ensures that concurrent purchases never exceed the limit.
 *
 * @param amount The maximum cost of the purchase until the period ends. An amount of 0 is always held.
 * @param reason What the amount consists of, for the message: `for its first runtime`. Default: the price of the purchase alone.
 * @throws Refusal 402 if the remaining credit does not suffice.
 */
export async function holdCredit(db: Db, accountId: string, amount: Money, reason?: string): Promise<void> {
  if (amount <= 0n) return void (await addHold(db, { accountId, amount }));
  const [held] = await holdWithinLimit(db, { accountId, amount });
  if (held) return;
  const credit = await storedCredit(db, accountId);
  const needed = neededCredit(amount, credit.held);
  const remaining = remainingCredit(credit);
  throw new Refusal(
    402,
    'credit_limit_exceeded',
    `This purchase needs ${decimalOf(needed)} EUR of the credit limit,${reason === undefined ? '' : ` ${reason},`} and ${decimalOf(remaining > 0n ? remaining : 0n)} EUR remain. Pay open invoices, choose less, or ask the provider for a higher credit limit.`,
  );
}

/** An order of which each month costs the same. */
interface MonthlyOrder {
  /** The most that a month of the order costs, at the prices of host systems. */
  added(hosts: readonly HostSystem[]): Money;
  /** The host systems as the order has read them. */
  readonly hosts: readonly HostSystem[];
  /** The field of the form that chooses what is ordered. */
  readonly field: string;
  /** Milliseconds. */
  readonly now: number;
}

/** What a month costs at most in which runtimes of a dedicated server begin. The statement of `assertMonthOf` counts them in the same way. */
export function monthOfServer({ price, runtime_days }: { readonly price: number; readonly runtime_days: number }): Money {
  return BigInt(price) * BigInt(Math.ceil(LONGEST_MONTH_DAYS / runtime_days));
}

const LONGEST_MONTH_DAYS = 31;

/**
 * Asserts that a month of the account can be billed, at the highest prices that are scheduled and with a renewal of each domain. A hold alone
 * does not bound it, because an order at the end of a month holds little.
 *
 * @throws Refusal 422 if a month of the account would cost too much.
 */
export async function assertMonthOf(db: Db, accountId: string, { added, hosts, field, now }: MonthlyOrder): Promise<void> {
  if (added(hosts) < SMALL_MONTH) return;
  await lockMonth(db, accountId);
  assertBillable((await highestMonthOf(db, accountId, now)) + added((await catalogueOf(db)).hosts), field);
}

/**
 * Lets nobody raise prices until the transaction ends, so that its order is checked at the highest prices and they are checked with the order.
 * Prices may have been raised while it waited.
 */
async function lockMonth(db: Db, accountId: string): Promise<void> {
  await lockAccount(db, accountId);
  await lockName(db, MONTHS, 'shared');
}

/** The lock of `lockMonth`. An operation that raises prices has it alone. */
export const MONTHS = 'months';

function assertBillable(month: Money, field: string): void {
  const broken = brokenMonth(month);
  if (broken !== undefined) throw invalid([{ field, rule: 'maximum', message: `must cost less: ${broken}` }]);
}

/** As `assertMonthOf`, for a further domain of a TLD. */
export async function assertMonthWithDomain(db: Db, accountId: string, { tld, now }: { tld: string; now: number }): Promise<void> {
  if ((await highestRenewalOf(db, tld, now)) < SMALL_MONTH) return;
  await lockMonth(db, accountId);
  assertBillable((await highestMonthOf(db, accountId, now)) + (await highestRenewalOf(db, tld, now)), 'domain');
}

async function highestRenewalOf(db: Db, tld: string, now: number): Promise<Money> {
  const { renew_price } = await highestRenewalsFrom(db, now).where('tld_prices.tld', '=', tld).executeTakeFirstOrThrow();
  return BigInt(renew_price);
}

/** The most that a month of everything costs that an account has and has ordered, at the highest prices that are scheduled. */
export async function highestMonthOf(db: Db, accountId: string, now: number): Promise<Money> {
  const vms = (await monthOfVms(db, accountId)) + (await monthOfChanges(db, accountId));
  const renewals = await renewalsOfAllDomains(db, accountId, now);
  const cents = sql.raw(String(UNITS_PER_CENT));
  const servers = await db
    .selectFrom('dedicated_servers')
    .select(sql<number | null>`sum(price / ${cents} * ((${sql.lit(LONGEST_MONTH_DAYS - 1)} + runtime_days) / runtime_days))`.as('cents'))
    .where('account_id', '=', accountId)
    .where('state', 'in', ['ordered', 'deployed'])
    .executeTakeFirstOrThrow();
  return vms + renewals + BigInt(servers.cents ?? 0) * UNITS_PER_CENT;
}

const PRICE_COLUMNS = [
  'hostsystem',
  'monthly_price',
  'price_basis',
  'prices_from',
  'cores',
  'mem',
  'disk',
  'ips',
  'backup_slots',
  'network_speed',
  'storage',
] as const;

async function monthOfVms(db: Db, accountId: string): Promise<Money> {
  const { hosts } = await catalogueOf(db);
  const groups = await db
    .selectFrom('vms')
    .select([...PRICE_COLUMNS, ({ fn }) => fn.countAll<number>().as('count')])
    .where('account_id', '=', accountId)
    .where('state', '!=', 'removed')
    .groupBy(PRICE_COLUMNS)
    .execute();
  return groups.reduce((sum, { count, ...vm }) => sum + BigInt(count) * highestPriceAt(vm, hosts), 0n);
}

/** A change of a VM, as in the details of its reservation. */
interface PendingChange {
  readonly vmId: number;
  readonly to: BilledResources;
  readonly price: number;
  readonly basis: string;
  readonly pricesFrom: number;
}

/** One of a resize, two of an address that moves, and none of anything else. Resizes of earlier versions have no price, and end at the start. */
function changesOf(details: string): PendingChange[] {
  const reserved: PendingChange & { readonly source?: PendingChange; readonly target?: PendingChange } = JSON.parse(details);
  return [reserved, reserved.source, reserved.target].flatMap((change) => (change?.to && change.pricesFrom !== undefined ? change : []));
}

/** What changes of VMs in delivery add. One that makes a VM cheaper may still be undone, and counts as nothing. */
async function monthOfChanges(db: Db, accountId: string): Promise<Money> {
  const orders = await db.selectFrom('reservations').select('details').where('account_id', '=', accountId).execute();
  const { hosts } = await catalogueOf(db);
  let added = 0n;
  for (const { vmId, to, price, basis, pricesFrom } of orders.flatMap(({ details }) => changesOf(details))) {
    const vm = await db.selectFrom('vms').select(PRICE_COLUMNS).where('id', '=', vmId).executeTakeFirstOrThrow();
    const changed = { ...vm, ...to, monthly_price: price, price_basis: basis, prices_from: pricesFrom };
    const more = highestPriceAt(changed, hosts) - highestPriceAt(vm, hosts);
    if (more > 0n) added += more;
  }
  return added;
}

/** A VM as it is stored, with the prices that it has. */
export interface StoredPrices extends BilledResources {
  /** Net price of 30 days. */
  readonly monthly_price: number;
  /** `SALE` or `STANDARD`. */
  readonly price_basis: string;
  /** The `validFrom` of its prices. */
  readonly prices_from: number;
}

/** As `highestPrice`, with the host systems of the catalogue. */
export function highestPriceAt(vm: StoredPrices & { readonly hostsystem: string }, hosts: readonly HostSystem[]): Money {
  return highestPrice(vm, findHostSystem(hosts, vm.hostsystem)?.priceVersions ?? []);
}

/** The highest price of 30 days that a VM has or gets without an order, because prices for all VMs may be scheduled. */
export function highestPrice(vm: StoredPrices, versions: readonly PriceVersion[]): Money {
  const coming = versions.filter(({ appliesTo, validFrom }) => appliesTo === 'all_vms' && validFrom > vm.prices_from);
  return (vm.price_basis === 'STANDARD' ? coming : [])
    .map(({ prices }) => monthlyPriceOf(vm, prices))
    .reduce((highest, price) => (price > highest ? price : highest), BigInt(vm.monthly_price));
}

async function renewalsOfAllDomains(db: Db, accountId: string, now: number): Promise<Money> {
  const byTld = await db
    .selectFrom('domains')
    .innerJoin(highestRenewalsFrom(db, now).as('highest'), 'highest.tld', 'domains.tld')
    .select(({ fn }) => ['highest.renew_price', fn.countAll<number>().as('count')])
    .where('domains.account_id', '=', accountId)
    .groupBy(['highest.tld', 'highest.renew_price'])
    .execute();
  return byTld.reduce((sum, { renew_price, count }) => sum + BigInt(count) * BigInt(renew_price), 0n);
}

async function storedCredit(db: Db, accountId: string): Promise<Credit> {
  const { credit_limit, balance_credit, unpaid, held } = await db
    .selectFrom('accounts')
    .select(['credit_limit', 'balance_credit', 'unpaid', 'held'])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  return { limit: BigInt(credit_limit), balance: BigInt(balance_credit), unpaid: BigInt(unpaid), held: BigInt(held) };
}

/** The amounts that decide whether an account may buy more. Responses show them, and purchases are checked against `remaining`. */
export async function creditOf(db: Db, accountId: string): Promise<ExplainedCredit> {
  const credit = await storedCredit(db, accountId);
  return explainCredit(credit, await heldByOrders(db, accountId));
}

/** What the account holds, exactly. */
export async function heldBy(db: Db, accountId: string): Promise<Money> {
  return (await storedCredit(db, accountId)).held;
}

/** Releases a hold. */
export async function releaseCredit(db: Db, accountId: string, amount: Money): Promise<void> {
  await addHold(db, { accountId, amount: -amount });
}

/** Holds an amount regardless of the limit, because it is already owed, such as a renewal. */
export async function holdOwed(db: Db, accountId: string, amount: Money): Promise<void> {
  await addHold(db, { accountId, amount });
}

interface Hold {
  readonly accountId: string;
  readonly amount: Money;
}

const addHold = prepared<Hold, unknown>((db, parameter) =>
  db
    .updateTable('accounts')
    .set({ held: sql`held + ${parameter('amount')}` })
    .where('id', '=', parameter('accountId')),
);

/** Rounds half to even as `remainingCredit` does, so that purchases are checked against the number in responses. Not for negative amounts. */
function inCents(amount: Expression<unknown>): RawBuilder<unknown> {
  const [cent, lessThanHalf] = [sql.raw(String(UNITS_PER_CENT)), sql.raw(String(UNITS_PER_CENT / 2n - 1n))];
  return sql`(${amount} + ${lessThanHalf} + ${amount} / ${cent} % 2) / ${cent} * ${cent}`;
}

const holdWithinLimit = prepared<Hold, { id: string }>((db, parameter) =>
  db
    .updateTable('accounts')
    .set({ held: sql`held + ${parameter('amount')}` })
    .where('id', '=', parameter('accountId'))
    .where(sql<boolean>`credit_limit + balance_credit - unpaid >= ${inCents(sql`(held + cast(${parameter('amount')} as bigint))`)}`)
    .returning('id'),
);

/** The part of the details of a reservation that says what it holds. */
interface HoldDetails {
  /** Until the end of the period of the order. Missing if it holds nothing. */
  readonly hold?: number;
  /** The net price of 30 days that the order adds. Missing if the hold does not depend on the period. */
  readonly monthly?: number;
}

function holdDetailsOf(details: string): HoldDetails {
  return JSON.parse(details);
}

/** The instant from which an order holds its cost. A request may have arrived before the end of a period, and be carried out after it. */
export function heldFrom(ordered: Seconds, now: Seconds): Seconds {
  return Math.max(ordered, periodOf(now).start);
}

/** What an order in delivery holds now. */
export function heldByOrder({ details, extra_hold }: Pick<Selectable<ReservationsTable>, 'details' | 'extra_hold'>): Money {
  return BigInt(holdDetailsOf(details).hold ?? 0) + BigInt(extra_hold);
}

/** What all orders of an account in delivery hold. */
export async function heldByOrders(db: Db, accountId: string): Promise<Money> {
  const orders = await db.selectFrom('reservations').select(['details', 'extra_hold']).where('account_id', '=', accountId).execute();
  return orders.reduce((sum, order) => sum + heldByOrder(order), await heldByServers(db, accountId, 'ordered'));
}

/** What the dedicated servers of an account in a state hold: their orders, or their renewals. */
export async function heldByServers(db: Db, accountId: string, state: 'ordered' | 'deployed'): Promise<Money> {
  const { held } = await db
    .selectFrom('dedicated_servers')
    .select(({ fn }) => fn.sum<number | null>('hold').as('held'))
    .where('account_id', '=', accountId)
    .where('state', '=', state)
    .executeTakeFirstOrThrow();
  return BigInt(held ?? 0);
}

/**
 * Holds the orders in delivery for a period that begins. The transaction must have locked the account.
 *
 * @returns The change of the hold of the account.
 */
export async function storePendingHolds(db: Db, accountId: string, { start, end }: Period): Promise<Money> {
  let change = 0n;
  for (const { id, details, extra_hold } of await ordersOf(db, { accountId })) {
    const { hold = 0, monthly } = holdDetailsOf(details);
    if (monthly === undefined) continue;
    const extra = holdFor({ start, stop: null, monthlyPrice: BigInt(monthly) }, end) - BigInt(hold);
    await db
      .updateTable('reservations')
      .set({ extra_hold: Number(extra) })
      .where('id', '=', id)
      .execute();
    change += extra - BigInt(extra_hold);
  }
  return change;
}

/** Skips an order that is being confirmed, whose transaction waits for the account and then begins its position in the new period. */
const ordersOf = prepared<{ accountId: string }, Pick<Selectable<ReservationsTable>, 'id' | 'details' | 'extra_hold'>>(
  (db, parameter, claim) =>
    claim(
      db.selectFrom('reservations').select(['id', 'details', 'extra_hold']).where('account_id', '=', parameter('accountId')),
      'reservations',
      'skip',
    ),
);
