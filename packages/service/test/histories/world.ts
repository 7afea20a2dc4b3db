/** The world of a history: a catalogue with drawn prices, and four accounts. */
import { PERSON, PHONE } from '../domains.ts';
import type { Received } from '../http-client.ts';
import { decimal } from '../simulator/fraction.ts';
import type { Dice } from '../simulator/seeded-random.ts';
import { dayIn, iso, midnight, plusDays } from './calendar.ts';
import { WrongFact } from './check.ts';
import type { Door } from './door.ts';
import { passTime } from './ledger.ts';
import type { Account, Ledger, Prices } from './ledger.ts';

/** Half hours, southern summers, and a change of summer time by half an hour. */
const ZONES = ['Europe/Berlin', 'America/New_York', 'America/St_Johns', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Auckland'];
/** Before an ordinary month, both changes of summer time, a leap day and the end of a year. */
export const STARTS = [
  '2026-11-10T12:03:17Z',
  '2027-02-20T23:59:58Z',
  '2027-10-20T06:30:00Z',
  '2028-02-15T11:59:59Z',
  '2026-12-28T00:00:00Z',
];
export const HOSTS = ['de_epyc', 'nl_ryzen'];
export const TLDS = ['com', 'net', 'de'];

export async function done(response: Promise<Received>): Promise<Received['body']> {
  const { status, text, body } = await response;
  if (status >= 300) throw new WrongFact(`A request that should succeed is ${status}: ${text}`);
  return body;
}

export async function advanceTo(door: Door, ledger: Ledger, to: number): Promise<void> {
  await done(door.operate('POST', '/sandbox/clock/advance', { to: iso(to) }));
  passTime(ledger, to);
}

/** An amount with half a cent, or with eight decimals, or in whole cents. */
export function amount(dice: Dice, least: number, most: number): string {
  const decimals = dice.pick([2, 3, 3, 8]);
  const last = decimals === 3 ? '5' : String(dice.integer(0, 10 ** (decimals - 2) - 1)).padStart(decimals - 2, '0');
  return `${dice.integer(least, most)}.${String(dice.integer(0, 99)).padStart(2, '0')}${decimals === 2 ? '' : last}`;
}

export function drawnPrices(dice: Dice): Prices {
  return {
    core: amount(dice, 0, 3),
    mem: amount(dice, 0, 2),
    nvme: `0.0${dice.integer(1, 9_999_999)}`.slice(0, 10),
    hdd: `0.00${dice.integer(1, 999_999)}`,
    extra_ip: amount(dice, 0, 3),
    extra_backup_slot: amount(dice, 0, 1),
    extra_gbit: amount(dice, 1, 9),
  };
}

export const tldPrices = (dice: Dice) => ({ create: amount(dice, 1, 12), renew: amount(dice, 1, 30), transfer: amount(dice, 1, 12) });

export async function openLedger(door: Door, dice: Dice, start: number): Promise<Ledger> {
  const zone = dice.pick(ZONES);
  for (const { id, state } of (await done(door.operate('GET', '/sales'))).items)
    if (state !== 'ended') await done(door.operate('POST', `/sales/${id}/end`));
  // A quarter of all amounts has half a cent of VAT at 25 %, and a hundredth at 19 %.
  const tomorrow = plusDays(dayIn(zone, start), 1);
  const vatRates = [
    { basis_points: 1900, valid_from: '1970-01-01' },
    { basis_points: 2500, valid_from: tomorrow },
  ];
  await done(door.operate('PUT', '/settings/vat-rates', { vat_rates: vatRates, time_zone: zone }));
  const hosts: Ledger['hosts'] = new Map();
  const tlds: Ledger['tlds'] = new Map();
  for (const host of HOSTS) {
    const prices = drawnPrices(dice);
    await definePrices(door, host, prices);
    hosts.set(host, [{ from: start, prices, isForAll: false }]);
  }
  for (const tld of TLDS) {
    const prices = tldPrices(dice);
    await done(door.operate('PUT', `/tld-prices/${tld}`, prices));
    tlds.set(tld, [{ from: start, ...prices }]);
  }
  const ledger: Ledger = {
    now: start,
    zone,
    accounts: [],
    hosts,
    tlds,
    sales: [],
    rates: [
      { from: 0, basisPoints: 1900 },
      { from: midnight(zone, tomorrow), basisPoints: 2500 },
    ],
  };
  for (const [name, limit] of [
    ['rich', '100000.00'],
    ['poor', amount(dice, 20, 60).slice(0, 5)],
    ['prepaid', '0.00'],
    ['abroad', '5000.00'],
  ] as const)
    ledger.accounts.push(await openAccount(door, ledger, name, limit));
  return ledger;
}

async function openAccount(door: Door, ledger: Ledger, name: string, limit: string): Promise<Account> {
  const { id } = await done(door.operate('POST', '/accounts', { name, credit_limit: limit }));
  const issued = await done(door.operate('POST', `/accounts/${id}/api-keys`, { label: 'history', access: 'full' }));
  const { handle } = (await done(door.call(issued.key, 'createHandle', { form: { ...PERSON, phone: PHONE } }))).data;
  const account: Account = {
    name,
    id,
    apiKey: issued.key,
    handle,
    limit: decimal(limit),
    isSuspended: false,
    reverseCharge: [],
    vms: [],
    charges: [],
    domains: [],
    servers: [],
    bills: [],
    balance: 0n,
    refunded: 0n,
    period: Date.UTC(new Date(ledger.now * 1000).getUTCFullYear(), new Date(ledger.now * 1000).getUTCMonth()) / 1000,
  };
  if (name === 'abroad') {
    await done(door.operate('PUT', `/accounts/${id}/billing-profile`, profile(true)));
    account.reverseCharge.push({ from: 0, applies: true });
  }
  return account;
}

export const profile = (reverse_charge: boolean, valid_from?: string) => ({
  company: 'Kunde GmbH',
  street: 'Ring 1',
  postal_code: '1010',
  city: 'Wien',
  country: 'AT',
  vat_id: 'ATU12345675',
  reverse_charge,
  ...(valid_from !== undefined && { valid_from }),
});

async function definePrices(door: Door, host: string, prices: Prices): Promise<void> {
  const known = await done(door.operate('GET', `/host-systems/${host}`));
  const kept = ['displayname', 'datacenter', 'processor', 'memory', 'nvme_hard_drives', 'ranges', 'position', 'included_traffic'];
  const nodes = known.nodes.map(({ name, cores, mem, disk, storage }: Record<string, unknown>) => ({ name, cores, mem, disk, storage }));
  await done(door.operate('PUT', `/host-systems/${host}`, { ...Object.fromEntries(kept.map((key) => [key, known[key]])), prices, nodes }));
}
