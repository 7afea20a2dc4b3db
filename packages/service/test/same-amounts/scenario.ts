/** Random events of two accounts at odd seconds over fourteen months, with prices of eight decimals. */
import { marketItem } from '../dedicated.ts';
import type { Dice } from '../simulator/seeded-random.ts';
import { anniversary, monthAfter, monthOf } from '../simulator/virtual-clock.ts';

/** Seconds since 1970. */
type Seconds = number;

/** A request of an account, or of the operator if it has no account. Placeholders such as `{vm-3}` stand for identifiers. */
export interface Event {
  readonly at: Seconds;
  /** Index of the account. */
  readonly account?: number;
  /** An operation of the reseller API, or the method and path of the operator API. */
  readonly request: string;
  readonly path?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The identifier in the response gets this name. */
  readonly names?: string;
}

export interface Scenario {
  readonly events: readonly Event[];
  readonly end: Seconds;
  /** The instants at which the service itself does something or prices change: month ends, renewals, VAT dates, ends of sales. */
  readonly edges: readonly Seconds[];
}

const DAY = 86_400;
const MONTHS = 14;

export function scenarioOf(dice: Dice, start: Seconds): Scenario {
  const end = monthsAfter(start, MONTHS) + 12_345;
  const odd = (from: Seconds, days: number): Seconds => from + dice.integer(1, days * DAY) + 1;
  const vatFrom = monthsAfter(start, 2) + dice.integer(2, 20) * DAY;
  const saleEnd = odd(start, 40);
  const prices = [odd(start, 30), monthsAfter(start, 3), odd(monthsAfter(start, 5), 25)];
  const events: Event[] = [...catalogueEvents(dice, start, { vatFrom, saleEnd, prices })];
  const edges: Seconds[] = [saleEnd, vatFrom - 3_600, ...prices];
  for (let month = monthOf(start); month <= end; month = monthAfter(month)) edges.push(month);
  for (let number = 0; number < 8; number++) events.push(...vmEvents(dice, number, odd(start, 300)));
  for (let number = 0; number < 3; number++) {
    const at = odd(start, 25);
    events.push({
      at,
      account: number % 2,
      request: 'registerDomain',
      body: { domain: `same-${number}.net`, handle: `{handle-${number % 2}}` },
    });
    edges.push(anniversary(at, 1));
    if (number === 2) events.push({ at: odd(at, 200), request: 'POST /domains/same-2.net/terminate' });
  }
  for (let number = 0; number < 3; number++) {
    const [at, days] = [odd(start, 60), dice.pick([5, 30, 31])];
    events.push(...serverEvents(dice, { number, at, days }));
    for (let due = at + 900; due < end; due += days * DAY) edges.push(due);
  }
  for (let number = 0; number < 6; number++) {
    const path = { account_id: `{account-${number % 2}}` };
    const amount = `${dice.integer(1, 90)}.${String(dice.integer(0, 99)).padStart(2, '0')}`;
    const body = { amount, date: '2026-11-10', method: 'bank_transfer', reference: `payment ${number}` };
    events.push({ at: odd(start, 400), request: `PUT /accounts/{account_id}/payments/payment-${number}`, path, body });
  }
  for (let number = 0; number < 4; number++) {
    const body = { amount: `0.${dice.integer(10, 99)}`, reason: `Outage ${number}` };
    const path = { invoice_id: `{invoice-${dice.integer(0, 3)}}` };
    events.push({ at: odd(monthsAfter(start, 5), 200), request: `PUT /invoices/{invoice_id}/credit-notes/note-${number}`, path, body });
  }
  return { events: events.toSorted((one, other) => one.at - other.at), end, edges: edges.filter((edge) => edge > start && edge < end) };
}

/** Eight decimals. */
function price(dice: Dice, most: number): string {
  return `${dice.integer(0, most)}.${String(dice.integer(1, 99_999_999)).padStart(8, '0')}`;
}

function pricesOf(dice: Dice) {
  const others = { hdd: price(dice, 0), extra_ip: price(dice, 1), extra_backup_slot: price(dice, 0), extra_gbit: price(dice, 4) };
  return { core: price(dice, 3), mem: price(dice, 1), nvme: price(dice, 0), ...others };
}

function* catalogueEvents(
  dice: Dice,
  at: Seconds,
  { vatFrom, saleEnd, prices }: { vatFrom: Seconds; saleEnd: Seconds; prices: readonly Seconds[] },
) {
  const rates = [
    { basis_points: 1900, valid_from: '2021-01-01' },
    { basis_points: 1600, valid_from: new Date(vatFrom * 1000).toISOString().slice(0, 10) },
  ];
  yield { at, request: 'PUT /settings/vat-rates', body: { vat_rates: rates } };
  const upgradable = dice.chance(0.5);
  const sale = { title: 'Sale', upgradable, max_volume: 3, pricings: { nl_ryzen: { core: '0.12345679' } } };
  yield { at, request: 'POST /sales', body: { ...sale, stop_date: new Date(saleEnd * 1000).toISOString() } };
  for (const [index, from] of prices.entries()) {
    const version = { prices: pricesOf(dice), valid_from: new Date(from * 1000).toISOString() };
    const applies_to = index === 0 ? 'new_purchases' : 'all_vms';
    yield { at, request: 'POST /host-systems/nl_ryzen/price-versions', body: { ...version, applies_to } };
  }
  for (const account of [0, 1]) {
    const person = { gender: 'MALE', firstname: 'A', lastname: 'B', street: 'C', number: '1', zipcode: '10115', city: 'D', region: 'E' };
    const body = { ...person, countrycode: 'DE', email: 'a@reseller-customer.example', phone: '+49.301234567' };
    yield { at, account, request: 'createHandle', body, names: `handle-${account}` };
  }
}

function* vmEvents(dice: Dice, number: number, bought: Seconds): Generator<Event> {
  const account = number % 2;
  const body = { cores: dice.integer(1, 3), mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' };
  yield { at: bought, account, request: 'createVm', body, names: `vm-${number}` };
  const path = { vmid: `{vm-${number}}` };
  let at = bought;
  for (let count = dice.integer(0, 6); count > 0; count--) {
    at += dice.integer(1, 50 * DAY);
    const change = dice.pick(['start', 'stop', 'change', 'change'] as const);
    if (change === 'change') yield { at, account, request: 'changeVm', path, body: { cores: dice.integer(1, 4), mem: 4096, disk: 40 } };
    else yield { at, account, request: 'setVmPower', path, body: { mode: change } };
  }
  if (dice.chance(0.4)) yield { at: at + dice.integer(1, 40 * DAY), account, request: 'deleteVm', path };
}

function* serverEvents(dice: Dice, { number, at, days }: { number: number; at: Seconds; days: number }): Generator<Event> {
  const body = marketItem(price(dice, 9), days);
  yield { at: at - 1, request: 'POST /dedicated/market', body, names: `server-${number}` };
  const order = { account_id: `{account-${number % 2}}`, market_id: `{server-${number}}` };
  yield { at, request: 'POST /dedicated/servers', body: order };
  const path = { identifier: `{server-${number}}` };
  if (number > 0) yield { at: at + dice.integer(1, 200 * DAY), account: number % 2, request: 'deleteDedicatedServer', path };
}

function monthsAfter(start: Seconds, count: number): Seconds {
  let month = monthOf(start);
  for (let passed = 0; passed < count; passed++) month = monthAfter(month);
  return month;
}
