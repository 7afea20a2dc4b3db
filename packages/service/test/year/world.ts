/** A sandbox filled through its APIs, with the exact expected charges of each account, calculated without code of the service. */
import type { HostSystem, ResizeVmRequest } from '@reseller/operator-client';
import { pino } from 'pino';

import { createAccount, createService, euros, issueApiKey, seedSandbox, simulatedPorts } from '../../src/index.ts';
import type { Service, Store } from '../../src/index.ts';
import type { OperationId } from '../../src/reseller/operation.ts';
import { marketItem } from '../dedicated.ts';
import { callOperation, injectedInto, operatorRequest } from '../http-client.ts';
import { START } from '../ports/clock.ts';
import { decimal, over, sum, times } from '../simulator/fraction.ts';
import type { Fraction } from '../simulator/fraction.ts';
import { anniversary, monthAfter, monthOf } from '../simulator/virtual-clock.ts';

/** Of the start, as billing counts. */
const START_SECOND = Math.floor(START / 1000);
const TOKEN = 'operator-token-of-a-year-0123456789';
/** Number of concurrent requests. */
const CONCURRENT_REQUESTS = 50;
/** Seconds between them: a number that no month or day is a multiple of. */
const BETWEEN = 7_919;

/** A time span in which a VM has one price. */
interface Stretch {
  readonly type: string;
  readonly start: number;
  stop: number | null;
  readonly price: Fraction;
}

/** A charge in advance for a time span. */
interface Charge {
  readonly kind: 'domains' | 'dedicated';
  readonly subject: string;
  readonly type: string;
  readonly start: number;
  readonly stop: number;
  readonly amount: Fraction;
}

export interface YearAccount {
  readonly id: string;
  readonly apiKey: string;
  readonly vms: Map<string, Stretch[]>;
  readonly charges: Charge[];
}

/** The number of each resource, distributed over the accounts in turn. */
export interface Amount {
  readonly accounts: number;
  readonly vms: number;
  readonly domains: number;
  readonly servers: number;
}

export interface YearWorld {
  readonly service: Service;
  readonly accounts: readonly YearAccount[];
  /** The time of the clock in seconds. */
  now(): number;
  /** Advances the clock through the operator API, which runs the jobs that are due. */
  advance(seconds: number): Promise<void>;
  call(account: YearAccount, id: OperationId, sent?: { path?: Record<string, string>; form?: object }): Promise<ServiceResponse>;
  /** Sends a request to the operator API, and returns the body of the response. */
  operate(method: 'GET' | 'POST' | 'PUT', path: string, body?: object): Promise<ServiceResponse>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- the responses of many operations, whose shapes the caller knows
type ServiceResponse = any;

/** Buys everything, in the course of some days; stops, starts and resizes some of the VMs. */
export async function fillYear(store: Store, amount: Amount): Promise<YearWorld> {
  const ports = simulatedPorts({ clock: { now: () => START } });
  await seedSandbox(store, ports);
  const accounts = await store.commit(async ({ db }) => {
    // Enough capacity for every purchase.
    await db.updateTable('host_nodes').set({ cores: 1e9, mem: 1e12, disk: 1e12, storage: 1e12 }).execute();
    const made: YearAccount[] = [];
    for (let number = 0; number < amount.accounts; number++) {
      const id = await createAccount(db, ports, { name: `year ${number}`, creditLimit: euros('10000000') });
      made.push({ id, apiKey: await issueApiKey(db, ports, id, { label: 'year', mode: 'sandbox' }), vms: new Map(), charges: [] });
    }
    return made;
  });
  const logger = pino({ level: 'silent' });
  const service = await createService({ store, ports, secret: 'a year of it'.repeat(3), operatorToken: TOKEN, logger });
  const world = worldOf(service, accounts);
  await prepare(world, amount);
  await buyVms(world, amount);
  await changeVms(world);
  await registerDomains(world, amount);
  await orderServers(world, amount);
  return world;
}

function worldOf(service: Service, accounts: readonly YearAccount[]): YearWorld {
  let now = START_SECOND;
  const reseller = injectedInto(service.app);
  const operator = injectedInto(service.operator);
  const world: YearWorld = {
    service,
    accounts,
    now: () => now,
    async operate(method, url, body) {
      const { status, text, body: result } = await operator(operatorRequest(method, url, TOKEN, body));
      if (status >= 300) throw new Error(`${method} ${url} returned ${status}: ${text}`);
      return result;
    },
    async advance(seconds) {
      await world.operate('POST', '/sandbox/clock/advance', { by_seconds: seconds });
      now += seconds;
    },
    async call({ apiKey }, id, { path = {}, form } = {}) {
      const { status, text, body } = await callOperation(reseller, id, { path, ...(form && { form: { ...form } }) }, apiKey);
      if (status !== 200) throw new Error(`${id} returned ${status}: ${text}`);
      return body.data;
    },
  };
  return world;
}

/** Enough addresses, and no sales, so that the prices are those of the host systems. */
async function prepare({ operate }: YearWorld, { vms }: Amount): Promise<void> {
  for (const { id, ended } of (await operate('GET', '/sales')).items) if (ended === null) await operate('POST', `/sales/${id}/end`);
  const bits = Math.max(2, Math.ceil(Math.log2(vms * 4)));
  for (const [index, datacenter] of ['FRA1', 'AMS1'].entries()) {
    const pool = (family: string, cidr: string) =>
      operate('PUT', `/ip-pools/year-${family}-${index}`, { datacenter, account_id: null, cidr, ddos_protection: 'none' });
    await pool('v4', `10.${index * 64}.0.0/${32 - bits}`);
    await pool('v6', `2001:db8:${index === 0 ? 'a000' : 'b000'}::/${64 - bits}`);
  }
}

/** Runs work for each number, in concurrent batches, and advances the clock between the batches. */
async function spread(world: YearWorld, count: number, work: (number: number, account: YearAccount) => Promise<void>): Promise<void> {
  const { accounts } = world;
  for (let from = 0; from < count; from += CONCURRENT_REQUESTS) {
    const numbers = Array.from({ length: Math.min(CONCURRENT_REQUESTS, count - from) }, (_, index) => from + index);
    await Promise.all(
      numbers.map((number) => {
        const account = accounts[number % accounts.length];
        return account && work(number, account);
      }),
    );
    await world.advance(BETWEEN);
  }
}

type Resources = Required<Omit<ResizeVmRequest, 'storage'>> & { readonly storage: number | null };

/** Resources of many sizes, so that prices have many digits. */
function resourcesOf(number: number, hostsystem: string): Resources {
  return {
    cores: 1 + (number % 4),
    mem: 1024 + 512 * (number % 7),
    disk: 10 + 5 * (number % 9),
    ips: 1 + (number % 2),
    backup_slots: 2 + (number % 3),
    network_speed: hostsystem === 'nl_ryzen' ? 1000 * (1 + (number % 3)) : 1000,
    storage: hostsystem === 'nl_ryzen' || number % 5 > 0 ? null : 100 * (1 + (number % 4)),
  };
}

function priceOf({ prices }: Pick<HostSystem, 'prices'>, resources: Resources): Fraction {
  const { cores, mem, disk, ips, backup_slots: slots, network_speed: speed, storage } = resources;
  return sum([
    times(decimal(prices.core), cores),
    over(times(decimal(prices.mem), mem), 1024),
    times(decimal(prices.nvme), disk),
    times(decimal(prices.hdd), storage ?? 0),
    times(decimal(prices.extra_ip), ips - 1),
    times(decimal(prices.extra_backup_slot), slots - 2),
    times(decimal(prices.extra_gbit), Math.ceil(speed / 1000) - 1),
  ]);
}

const hostsOf = async ({ operate }: YearWorld): Promise<HostSystem[]> => (await operate('GET', '/host-systems')).items;

async function buyVms(world: YearWorld, { vms }: Amount): Promise<void> {
  const hosts = await hostsOf(world);
  await spread(world, vms, async (number, account) => {
    const host = hosts[number % hosts.length];
    if (!host) throw new Error('The sandbox has no host systems.');
    const { storage, ...others } = resourcesOf(number, host.name);
    const form = { ...others, ...(storage !== null && { storage }), os: 'debian_12', hostsystem: host.name };
    const { identifier } = await world.call(account, 'createVm', { form });
    const price = priceOf(host, { ...others, storage });
    account.vms.set(String(identifier), [{ type: 'CREATE', start: world.now(), stop: null, price }]);
  });
}

/** Of each ten VMs one is resized, one is stopped, and one is stopped and started again. */
async function changeVms(world: YearWorld): Promise<void> {
  const hosts = new Map((await hostsOf(world)).map((host) => [host.name, host]));
  const all = world.accounts.flatMap(({ vms }) => [...vms]);
  const tenth = (which: number) => all.filter((_, index) => index % 10 === which);
  const each = (which: number, does: (id: string, stretches: Stretch[]) => Promise<void>) =>
    Promise.all(tenth(which).map(([id, stretches]) => does(id, stretches)));
  const end = (stretches: Stretch[]) => {
    const last = stretches.at(-1);
    if (last) last.stop = world.now();
    return last;
  };
  await each(1, async (id, stretches) => {
    const { hostsystem, ...vm } = await world.operate('POST', `/vms/${id}/resize`, { cores: 8, mem: 8192 });
    const host = hosts.get(hostsystem);
    if (!host) throw new Error(`There is no host system ${hostsystem}.`);
    end(stretches);
    stretches.push({ type: 'UP-DOWNGRADE', start: world.now(), stop: null, price: priceOf(host, vm) });
  });
  for (const which of [2, 3])
    await each(which, async (id, stretches) => {
      await world.operate('POST', `/vms/${id}/stop`);
      end(stretches);
    });
  await world.advance(BETWEEN);
  await each(3, async (id, stretches) => {
    await world.operate('POST', `/vms/${id}/start`);
    const { price } = stretches[0] ?? {};
    if (price) stretches.push({ type: 'BILLINGRESTART', start: world.now(), stop: null, price });
  });
}

/**
 * Schedules other prices of every host system for all VMs. VMs that run get them at the start of a month.
 *
 * @param month First second of the month.
 * @param before Milliseconds between the date of the prices and the month.
 */
export async function changePrices(world: YearWorld, month: number, before: number): Promise<void> {
  const hosts = new Map<string, HostSystem>();
  for (const host of await hostsOf(world)) {
    const prices = Object.entries(host.prices).map(([resource, price], index) => [
      resource,
      (Number(price) * (1.07 + index / 100)).toFixed(7),
    ]);
    const body = { prices: Object.fromEntries(prices), valid_from: new Date(month * 1000 - before).toISOString(), applies_to: 'all_vms' };
    hosts.set(host.name, { ...host, ...(await world.operate('POST', `/host-systems/${host.name}/price-versions`, body)) });
  }
  for (const [id, stretches] of world.accounts.flatMap(({ vms }) => [...vms])) {
    const running = stretches.find(({ stop }) => stop === null);
    if (!running) continue;
    const { hostsystem, ...vm } = await world.operate('GET', `/vms/${id}`);
    const host = hosts.get(hostsystem);
    if (!host) throw new Error(`There is no host system ${hostsystem}.`);
    running.stop = month;
    stretches.push({ type: 'BILLINGRESTART', start: month, stop: null, price: priceOf(host, vm) });
  }
}

async function registerDomains(world: YearWorld, { domains }: Amount): Promise<void> {
  const person = {
    gender: 'MALE',
    firstname: 'A',
    lastname: 'B',
    street: 'C',
    number: '1',
    zipcode: '10115',
    city: 'Berlin',
    region: 'Berlin',
  };
  const form = { ...person, countrycode: 'DE', email: 'a@reseller-customer.example', phone: '+49.301234567' };
  const handles = new Map<YearAccount, string>();
  for (const account of world.accounts) handles.set(account, (await world.call(account, 'createHandle', { form })).handle);
  const { items } = await world.operate('GET', '/tld-prices?limit=200');
  const tlds: { tld: string; create: string; renew: string }[] = items.filter(({ tld }: { tld: string }) => !tld.includes('.')).slice(0, 5);
  await spread(world, domains, async (number, account) => {
    const tld = tlds[number % tlds.length];
    if (!tld) throw new Error('The sandbox has no TLD prices.');
    const name = `year-${number}.${tld.tld}`;
    await world.call(account, 'registerDomain', { form: { domain: name, handle: handles.get(account) } });
    const start = world.now();
    const stop = anniversary(start, 1);
    const charge = { kind: 'domains', subject: name } as const;
    account.charges.push({ ...charge, type: 'CREATE', start, stop, amount: decimal(tld.create) });
    account.charges.push({ ...charge, type: 'RENEW', start: stop, stop: anniversary(start, 2), amount: decimal(tld.renew) });
  });
}

/** Years of renewals to expect. Later renewals are on no invoice. */
const RENEWALS = 80;

async function orderServers(world: YearWorld, { servers }: Amount): Promise<void> {
  await spread(world, servers, async (number, account) => {
    const [days, price] = [[30, 14, 90][number % 3] ?? 30, `${40 + number}.${10 + (number % 90)}345671`];
    const { id } = await world.operate('POST', '/dedicated/market', marketItem(price, days));
    await world.operate('POST', '/dedicated/servers', { account_id: account.id, market_id: id });
    // The simulated fleet needs a quarter of an hour.
    const begin = world.now() + 900;
    for (let count = 0; count < RENEWALS; count++) {
      const start = begin + count * days * 86_400;
      const type = count === 0 ? 'CREATE' : 'RENEW';
      account.charges.push({ kind: 'dedicated', subject: id, type, start, stop: start + days * 86_400, amount: decimal(price) });
    }
  });
}

/** Months that have ended since the world began, by their first seconds. */
export function monthsUntil(now: number): number[] {
  const months: number[] = [];
  for (let month = monthOf(START_SECOND); monthAfter(month) <= now; month = monthAfter(month)) months.push(month);
  return months;
}
