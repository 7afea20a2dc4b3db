/**
 * What everything costs, written from the descriptions in the documents and from the guides, in exact fractions. It uses none of the service's
 * code. Where the documents leave a cent open, such as how it is divided among VAT rates, the checks take any division that they allow.
 */
import { cents, decimal, halfEven, less, over, plus, rounded, sum, times, ZERO } from '../simulator/fraction.ts';
import type { Fraction } from '../simulator/fraction.ts';
import { DAY, midnight, monthAfter, monthOf, yearAfter } from './calendar.ts';
import type { Seconds } from './calendar.ts';

export type Prices = Readonly<Record<'core' | 'mem' | 'nvme' | 'hdd' | 'extra_ip' | 'extra_backup_slot' | 'extra_gbit', string>>;

export interface Resources {
  readonly cores: number;
  readonly mem: number;
  readonly disk: number;
  readonly storage: number;
  readonly ips: number;
  readonly backup_slots: number;
  readonly network_speed: number;
}

/** Prices from an instant on. */
export interface HostPrices {
  readonly from: Seconds;
  readonly prices: Prices;
  readonly isForAll: boolean;
}

export interface TldPrices {
  readonly from: Seconds;
  readonly create: string;
  readonly renew: string;
  readonly transfer: string;
}

export interface Sale {
  readonly id: string;
  readonly title: string;
  readonly start: Seconds;
  readonly stop: Seconds | null;
  readonly isUpgradable: boolean;
  readonly volume: number;
  used: number;
  isEnded: boolean;
  readonly prices: Readonly<Record<string, Partial<Prices>>>;
}

/** A time in which a VM is billed at one price. */
interface Runtime {
  readonly type: string;
  readonly start: Seconds;
  stop: Seconds | null;
  readonly price: Fraction;
}

export interface Vm {
  readonly id: number;
  readonly host: string;
  resources: Resources;
  price: Fraction;
  /** When the prices that it has began to apply. */
  pricesFrom: Seconds;
  sale: Sale | undefined;
  state: 'running' | 'stopped' | 'blocked' | 'gone';
  /** Whether only the provider may start it. */
  isHeld: boolean;
  readonly runtimes: Runtime[];
}

/** An amount in advance. */
export interface Charge {
  readonly kind: 'domains' | 'dedicated';
  readonly subject: string;
  readonly type: string;
  readonly start: Seconds;
  readonly stop: Seconds;
  readonly amount: Fraction;
  readonly at: Seconds;
}

export interface Domain {
  readonly name: string;
  readonly tld: string;
  expires: Seconds;
  isCancelled: boolean;
  renewedByHand: Seconds | null;
}

export interface Server {
  readonly id: string;
  readonly price: Fraction;
  readonly days: number;
  readonly ordered: Seconds;
  /** Null until its set-up completes. */
  due: Seconds | null;
  isCancelled: boolean;
}

/** A closed invoice. Amounts are in cents. */
export interface Bill {
  readonly month: Seconds;
  readonly net: bigint;
  /** The exact net amounts by VAT rate in basis points. */
  readonly exact: ReadonlyMap<number, Fraction>;
  /** The gross amount of its document, once the document was found to be right. */
  gross: bigint | undefined;
  id: string | undefined;
  readonly notes: { readonly net: bigint; readonly gross: bigint }[];
  paid: bigint;
  isCancelled: boolean;
}

export interface Account {
  readonly name: string;
  readonly id: string;
  readonly apiKey: string;
  readonly handle: string;
  limit: Fraction;
  isSuspended: boolean;
  readonly reverseCharge: { readonly from: Seconds; readonly applies: boolean }[];
  readonly vms: Vm[];
  readonly charges: Charge[];
  readonly domains: Domain[];
  readonly servers: Server[];
  readonly bills: Bill[];
  /** In cents, with VAT. */
  balance: bigint;
  refunded: bigint;
  /** Months that are closed end here. */
  period: Seconds;
}

export interface Ledger {
  now: Seconds;
  readonly zone: string;
  readonly accounts: Account[];
  readonly hosts: Map<string, HostPrices[]>;
  readonly tlds: Map<string, TldPrices[]>;
  readonly sales: Sale[];
  readonly rates: { readonly from: Seconds; readonly basisPoints: number }[];
}

const SECONDS_OF_A_PRICE = 30 * DAY;
/** "The simulated fleet needs a quarter of an hour." */
export const SET_UP_SECONDS = 900;

/** The last of a list of dated values that applies at an instant. */
export function inForce<T extends { readonly from: Seconds }>(dated: readonly T[], at: Seconds): T {
  const found = dated
    .filter(({ from }) => from <= at)
    .reduce<T | undefined>((last, one) => (last && last.from > one.from ? last : one), undefined);
  if (!found) throw new Error('Nothing is in force.');
  return found;
}

export function priceOf(prices: Prices, { cores, mem, disk, storage, ips, backup_slots, network_speed }: Resources): Fraction {
  return rounded(
    sum([
      times(decimal(prices.core), cores),
      over(times(decimal(prices.mem), mem), 1024),
      times(decimal(prices.nvme), disk),
      times(decimal(prices.hdd), storage),
      times(decimal(prices.extra_ip), Math.max(0, ips - 1)),
      times(decimal(prices.extra_backup_slot), Math.max(0, backup_slots - 2)),
      times(decimal(prices.extra_gbit), Math.max(0, Math.ceil(network_speed / 1000) - 1)),
    ]),
  );
}

export function costOf({ price }: Pick<Runtime, 'price'>, seconds: number): Fraction {
  return over(times(price, seconds), SECONDS_OF_A_PRICE);
}

/** The price of a purchase, and the sale that it is bought in. */
export function offerFor(ledger: Ledger, host: string, resources: Resources) {
  const { from, prices } = inForce(ledger.hosts.get(host) ?? [], ledger.now);
  let best: { price: Fraction; sale: Sale | undefined; from: Seconds } = { price: priceOf(prices, resources), sale: undefined, from };
  for (const sale of ledger.sales) {
    const isOpen = !sale.isEnded && sale.start <= ledger.now && (sale.stop === null || sale.stop > ledger.now) && sale.used < sale.volume;
    if (!isOpen || !sale.prices[host]) continue;
    const price = priceOf({ ...prices, ...sale.prices[host] }, resources);
    if (less(price, best.price)) best = { price, sale, from };
  }
  return best;
}

/** The price of a VM after a change of its resources, and the sale that it keeps. */
export function changedPrice(ledger: Ledger, vm: Vm, resources: Resources) {
  const { from, prices } = inForce(ledger.hosts.get(vm.host) ?? [], ledger.now);
  const sale = vm.sale?.isUpgradable === true ? vm.sale : undefined;
  return { price: priceOf({ ...prices, ...sale?.prices[vm.host] }, resources), sale, from };
}

/** Ends the time of a VM at one price, and begins another one if it goes on. */
export function bill(vm: Vm, at: Seconds, type: string | undefined): void {
  const last = vm.runtimes.at(-1);
  if (last?.stop === null) last.stop = at;
  if (type !== undefined) vm.runtimes.push({ type, start: at, stop: null, price: vm.price });
}

export const isBilled = (vm: Vm): boolean => vm.runtimes.at(-1)?.stop === null;

/** The account's rate of VAT at an instant, in basis points. */
export function rateAt(ledger: Ledger, account: Account, at: Seconds): number {
  const hasReverseCharge = account.reverseCharge.length > 0 && inForce([{ from: 0, applies: false }, ...account.reverseCharge], at).applies;
  return hasReverseCharge ? 0 : inForce(ledger.rates, at).basisPoints;
}

/** The instants after which another rate of VAT may apply. */
const changesOfRate = (ledger: Ledger, account: Account): Seconds[] => [...ledger.rates, ...account.reverseCharge].map(({ from }) => from);

/** The exact cost of a month until an instant, by rate of VAT. */
export function costsOf(ledger: Ledger, account: Account, month: Seconds, until: Seconds): Map<number, Fraction> {
  const end = Math.min(until, monthAfter(month));
  const costs = new Map<number, Fraction>();
  const add = (at: Seconds, amount: Fraction) => {
    const rate = rateAt(ledger, account, at);
    costs.set(rate, plus(costs.get(rate) ?? ZERO, amount));
  };
  const cuts = changesOfRate(ledger, account).filter((at) => at > month && at < end);
  const edges = [...new Set([month, ...cuts, end])].toSorted((one, other) => one - other);
  for (const runtime of account.vms.flatMap(({ runtimes }) => runtimes))
    for (const [index, edge] of edges.slice(0, -1).entries()) {
      const from = Math.max(runtime.start, edge);
      const to = Math.min(runtime.stop ?? end, edges[index + 1] ?? end);
      if (to > from) add(from, costOf(runtime, to - from));
    }
  for (const { at, start, amount } of account.charges) if (at >= month && at <= until && monthOf(at) === month) add(start, amount);
  return costs;
}

/** Whether a month has a line, so that it has an invoice. */
function hasLines(account: Account, month: Seconds): boolean {
  const end = monthAfter(month);
  const runs = account.vms.some(({ runtimes }) =>
    runtimes.some(({ start, stop }) => start < end && (start >= month || stop === null || stop > month)),
  );
  return runs || account.charges.some(({ at }) => monthOf(at) === month);
}

/** The exact amount of the current month so far. */
export const spentOf = (ledger: Ledger, account: Account): Fraction =>
  sum(costsOf(ledger, account, monthOf(ledger.now), ledger.now).values());

/** The exact estimate of the current month: what runs keeps running, and everything that is not cancelled is renewed. */
export function estimateOf(ledger: Ledger, account: Account): Fraction {
  const month = monthOf(ledger.now);
  const end = monthAfter(month);
  const running = sum(costsOf(ledger, account, month, end).values());
  const domains = account.domains
    .filter(({ isCancelled, expires }) => !isCancelled && expires < end)
    .map((domain) => renewalOf(ledger, domain));
  const servers = account.servers.map(({ due, isCancelled, price, days }) =>
    due === null || isCancelled ? ZERO : times(price, Math.max(0, Math.ceil((end - due) / (days * DAY)))),
  );
  return sum([running, ...domains, ...servers]);
}

/** What its renewal at its expiry costs. */
export function renewalOf(ledger: Ledger, { tld, expires }: Domain): Fraction {
  return decimal(inForce(ledger.tlds.get(tld) ?? [], Math.max(expires, ledger.now)).renew);
}

/** What an order of a server needs: its runtimes until the end of the month, if its set-up completes at once. */
export function orderNeeds(ledger: Ledger, { price, days }: Pick<Server, 'price' | 'days'>): Fraction {
  return times(price, Math.max(1, Math.ceil((monthAfter(ledger.now) - ledger.now) / (days * DAY))));
}

/** The exact amount of orders in delivery. */
export function pendingOf(ledger: Ledger, account: Account): Fraction {
  return sum(account.servers.filter(({ due }) => due === null).map((server) => orderNeeds(ledger, server)));
}

/** Cents of the balance that count as credit. */
function balanceCredit(ledger: Ledger, account: Account): bigint {
  const month = monthOf(ledger.now);
  const instants = [month, ...changesOfRate(ledger, account).filter((at) => at > month && at < monthAfter(month))];
  const highest = Math.max(...instants.map((at) => rateAt(ledger, account, at)));
  return (account.balance * 10_000n) / BigInt(10_000 + highest);
}

export const netLeft = ({ net, notes }: Bill): bigint => net - notes.reduce((all, note) => all + note.net, 0n);
export const grossLeft = ({ gross = 0n, notes }: Bill): bigint => gross - notes.reduce((all, note) => all + note.gross, 0n);
export const isOpen = (one: Bill): boolean => !one.isCancelled && grossLeft(one) > one.paid;
export const restOf = (one: Bill): bigint => (isOpen(one) ? grossLeft(one) - one.paid : 0n);

function unpaidNet(one: Bill): bigint {
  if (!isOpen(one)) return 0n;
  const share = netLeft(one) * restOf(one);
  return (share + grossLeft(one) - 1n) / grossLeft(one);
}

/** The amounts that decide about purchases, in cents. */
export function creditOf(ledger: Ledger, account: Account) {
  const estimate = cents(estimateOf(ledger, account));
  const pending = cents(plus(estimateOf(ledger, account), pendingOf(ledger, account))) - estimate;
  const limit = cents(account.limit);
  const balance = balanceCredit(ledger, account);
  const unpaid = account.bills.reduce((all, one) => all + unpaidNet(one), 0n);
  return { limit, balance, unpaid, estimate, pending, remaining: limit + balance - unpaid - estimate - pending };
}

/** What a purchase needs of the credit: by how much it raises the rounded sum of the period. At least 0. */
export function neededFor(ledger: Ledger, account: Account, added: Fraction): bigint {
  const before = plus(estimateOf(ledger, account), pendingOf(ledger, account));
  const needed = cents(plus(before, added)) - cents(before);
  return needed > 0n ? needed : 0n;
}

/** The gross amount of an invoice with one net amount of whole cents alone. */
export function vatOf(net: bigint, basisPoints: number): bigint {
  const twice = 2n * net * BigInt(basisPoints) + 10_000n;
  return twice / 20_000n;
}

/** The balance pays the open invoices, the oldest first. */
export function useBalance(account: Account): void {
  for (const one of account.bills) {
    if (!isOpen(one)) continue;
    const part = restOf(one) < account.balance ? restOf(one) : account.balance;
    one.paid += part;
    account.balance -= part;
  }
}

/** A payment of more than the rest of an invoice is balance again. */
export function freeExcess(account: Account, one: Bill): void {
  const most = one.isCancelled ? 0n : grossLeft(one);
  if (one.paid <= most) return;
  account.balance += one.paid - most;
  one.paid = most;
}

/** Lets time pass: set-ups, renewals, ends and months happen in their order. */
export function passTime(ledger: Ledger, to: Seconds): void {
  for (;;) {
    const due = ledger.accounts.flatMap((account) => duesOf(ledger, account)).filter(({ at }) => at <= to);
    const next = due.reduce<Due | undefined>((first, one) => (first && first.at <= one.at ? first : one), undefined);
    if (!next) break;
    ledger.now = Math.max(ledger.now, next.at);
    next.run();
  }
  ledger.now = to;
}

interface Due {
  readonly at: Seconds;
  run(): void;
}

function duesOf(ledger: Ledger, account: Account): Due[] {
  const monthEnd = monthAfter(account.period);
  return [
    { at: monthEnd, run: () => endMonth(ledger, account) },
    ...account.domains.map((domain) => ({ at: domain.expires, run: () => expire(ledger, account, domain) })),
    ...account.servers.map((server) =>
      server.due === null
        ? { at: server.ordered + SET_UP_SECONDS, run: () => setUp(ledger, account, server) }
        : { at: server.due, run: () => renewServer(account, server) },
    ),
  ];
}

function endMonth(ledger: Ledger, account: Account): void {
  const month = account.period;
  const end = monthAfter(month);
  if (hasLines(account, month)) {
    const exact = costsOf(ledger, account, month, end);
    const net = cents(sum(exact.values()));
    account.bills.push({ month, net, exact, gross: undefined, id: undefined, notes: [], paid: 0n, isCancelled: false });
  }
  account.period = end;
  for (const vm of account.vms) {
    const forAll = (ledger.hosts.get(vm.host) ?? []).filter(({ isForAll, from }) => isForAll && from <= end && from > vm.pricesFrom);
    if (vm.state === 'gone' || vm.sale !== undefined || forAll.length === 0) continue;
    const { from, prices } = inForce(forAll, end);
    vm.price = priceOf(prices, vm.resources);
    vm.pricesFrom = from;
    if (isBilled(vm)) bill(vm, end, 'BILLINGRESTART');
  }
}

function expire(ledger: Ledger, account: Account, domain: Domain): void {
  if (domain.isCancelled) return void account.domains.splice(account.domains.indexOf(domain), 1);
  const { name, expires } = domain;
  const amount = renewalOf(ledger, domain);
  domain.expires = yearAfter(expires);
  account.charges.push({ kind: 'domains', subject: name, type: 'RENEW', start: expires, stop: domain.expires, amount, at: expires });
}

export function setUp({ now }: Ledger, account: Account, server: Server): void {
  const { id, price, days } = server;
  server.due = now + days * DAY;
  account.charges.push({ kind: 'dedicated', subject: id, type: 'CREATE', start: now, stop: server.due, amount: price, at: now });
}

function renewServer(account: Account, server: Server): void {
  const { id, price, days, due, isCancelled } = server;
  if (due === null) return;
  if (isCancelled) return void account.servers.splice(account.servers.indexOf(server), 1);
  server.due = due + days * DAY;
  account.charges.push({ kind: 'dedicated', subject: id, type: 'RENEW', start: due, stop: server.due, amount: price, at: due });
}

/** A tax status of an account from a day on. The status before it withdraws the one of the day. */
export function setReverseCharge({ zone }: Ledger, { reverseCharge }: Account, day: string, applies: boolean): void {
  const from = midnight(zone, day);
  const kept = reverseCharge.filter((one) => one.from !== from);
  const before = inForce([{ from: -1, applies: false }, ...kept], from - 1).applies;
  reverseCharge.splice(0, Infinity, ...kept, ...(before === applies ? [] : [{ from, applies }]));
}

/** An amount as a number of a response, half to even to 10^-8. */
export const shown = (amount: Fraction): number => Number(`${halfEven(amount, 100_000_000n)}e-8`);
