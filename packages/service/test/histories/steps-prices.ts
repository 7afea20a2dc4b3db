/** Steps that change prices, sales and VAT. */
import { decimal, times } from '../simulator/fraction.ts';
import { DAY, dayIn, iso, midnight, monthAfter, plusDays } from './calendar.ts';
import { inForce, setReverseCharge } from './ledger.ts';
import type { Sale } from './ledger.ts';
import { text } from './purchase.ts';
import type { Turn } from './purchase.ts';
import { HOSTS, TLDS, done, drawnPrices, profile, tldPrices } from './world.ts';

export async function changePrices({ door, ledger, dice, describe }: Turn): Promise<void> {
  const host = dice.pick(HOSTS);
  const versions = ledger.hosts.get(host) ?? [];
  const from = dice.chance(0.4)
    ? ledger.now
    : dice.chance(0.4)
      ? monthAfter(ledger.now)
      : ledger.now + dice.integer(1, 45) * DAY + dice.integer(0, DAY);
  if (versions.some((one) => one.from === from)) return;
  const prices = drawnPrices(dice);
  const isForAll = dice.chance(0.7);
  describe(`prices of ${host} from ${iso(from)} on${isForAll ? ' for all' : ''}: ${JSON.stringify(prices)}`);
  const body = { prices, valid_from: iso(from), applies_to: isForAll ? 'all_vms' : 'new_purchases' };
  await done(door.operate('POST', `/host-systems/${host}/price-versions`, body));
  versions.push({ from, prices, isForAll });
}

export async function changeTldPrices({ door, ledger, dice, describe }: Turn): Promise<void> {
  const tld = dice.pick(TLDS);
  const versions = ledger.tlds.get(tld) ?? [];
  const from = dice.chance(0.5) ? ledger.now : ledger.now + dice.integer(1, 400) * DAY;
  if (versions.some((one) => one.from === from)) return;
  const prices = tldPrices(dice);
  describe(`prices of .${tld} from ${iso(from)} on: ${JSON.stringify(prices)}`);
  await done(door.operate('POST', `/tld-prices/${tld}/versions`, { ...prices, valid_from: iso(from) }));
  versions.push({ from, ...prices });
}

export async function createSale({ door, ledger, dice, step, describe }: Turn): Promise<void> {
  const running = dice.pickAny(ledger.sales.filter(({ isEnded }) => !isEnded));
  if (running && dice.chance(0.3)) {
    describe(`the sale ${running.title} ends`);
    await done(door.operate('POST', `/sales/${running.id}/end`));
    running.isEnded = true;
    return;
  }
  const title = `Sale ${step}`;
  const isUpgradable = dice.chance(0.5);
  const volume = dice.integer(1, 3);
  const start = ledger.now + (dice.chance(0.7) ? 0 : dice.integer(1, 3 * DAY));
  const stop = dice.chance(0.5) ? null : start + dice.integer(1, 40 * DAY);
  const host = dice.pick(HOSTS);
  const { prices } = inForce(ledger.hosts.get(host) ?? [], start);
  const cheaper = (price: string) => text(times({ n: decimal(price).n, d: decimal(price).d * 100n }, dice.integer(20, 90)));
  const offered: Sale['prices'] = { [host]: { core: cheaper(prices.core), ...(dice.chance(0.5) && { mem: cheaper(prices.mem) }) } };
  describe(`${title} of ${host}: ${volume} VMs${isUpgradable ? ', upgradable' : ''}, ${JSON.stringify(offered)}`);
  const body = {
    title,
    upgradable: isUpgradable,
    max_volume: volume,
    pricings: offered,
    start_date: iso(start),
    stop_date: stop && iso(stop),
  };
  const { id } = await done(door.operate('POST', '/sales', body));
  ledger.sales.push({ id, title, start, stop, isUpgradable, volume, used: 0, isEnded: false, prices: offered });
}

export async function changeVat({ door, ledger, dice, describe }: Turn): Promise<void> {
  const day = plusDays(dayIn(ledger.zone, ledger.now), dice.integer(1, 40));
  const basisPoints = dice.pick([0, 700, 1900, 2500, 2550]);
  const future = ledger.rates.filter(({ from }) => from !== midnight(ledger.zone, day));
  describe(`VAT of ${basisPoints / 100} % from ${day} on in ${ledger.zone}`);
  const days = future.map((rate) => ({
    basis_points: rate.basisPoints,
    valid_from: rate.from === 0 ? '1970-01-01' : dayIn(ledger.zone, rate.from),
  }));
  await done(door.operate('PUT', '/settings/vat-rates', { vat_rates: [...days, { basis_points: basisPoints, valid_from: day }] }));
  ledger.rates.splice(0, ledger.rates.length, ...future, { from: midnight(ledger.zone, day), basisPoints });
}

export async function changeTaxStatus({ door, ledger, dice, describe }: Turn): Promise<void> {
  const account = ledger.accounts.find(({ name }) => name === 'abroad');
  if (!account) return;
  const day = plusDays(dayIn(ledger.zone, ledger.now), dice.integer(1, 40));
  const applies = dice.chance(0.5);
  describe(`reverse charge of ${account.name} ${applies ? 'begins' : 'ends'} on ${day} in ${ledger.zone}`);
  await done(door.operate('PUT', `/accounts/${account.id}/billing-profile`, profile(applies, day)));
  setReverseCharge(ledger, account, day, applies);
}
