/** The prices that the model expects, and when they change. */
import { decimal, over, rounded, sum, times } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import type { Model, ModelAccount, ModelPrices, ModelVm, Resources, SalePrices, Seconds } from './model.ts';
import { monthAfter, monthOf } from './virtual-clock.ts';

/** The net price of 30 days, rounded once. */
export function priceOf({ prices }: ModelPrices, resources: Resources, sale: SalePrices = {}): Fraction {
  const { core, mem, nvme, hdd, extra_ip, extra_backup_slot, extra_gbit } = prices;
  const beyond = (count: number, included: number): number => Math.max(0, count - included);
  const exact = sum([
    times(sale.core ?? decimal(core), resources.cores),
    over(times(sale.mem ?? decimal(mem), resources.mem), 1024),
    times(sale.nvme ?? decimal(nvme), resources.disk),
    times(decimal(hdd), resources.storage ?? 0),
    times(decimal(extra_ip), beyond(resources.ips, 1)),
    times(decimal(extra_backup_slot), beyond(resources.backup_slots, 2)),
    times(decimal(extra_gbit), beyond(Math.ceil(resources.network_speed / 1000), 1)),
  ]);
  return rounded(exact);
}

/** The list prices of a host system, past and scheduled. */
export function listOf({ prices }: Model, hostsystem: string): ModelPrices[] {
  const list = prices.get(hostsystem);
  if (!list) throw new Error(`The catalogue has no host system ${hostsystem}.`);
  return list;
}

/** The list prices of a host system in force at an instant (milliseconds). */
export function listedAt(model: Model, hostsystem: string, now: number): ModelPrices {
  return newest(listOf(model, hostsystem).filter(({ from }) => from <= now)) ?? throwNoPrices(hostsystem);
}

/** The next instant at which list prices change (seconds); undefined if none is scheduled. */
export function nextPriceChange(model: Model, now: number): Seconds | undefined {
  const scheduled = [...model.prices.values()].flat().filter(({ from }) => from > now);
  return scheduled.length === 0 ? undefined : Math.floor(Math.min(...scheduled.map(({ from }) => from)) / 1000);
}

/**
 * Ends the months of an account up to an instant. At the beginning of each month, its VMs get the newest list prices that apply to all
 * VMs and are newer than their own. VMs in a sale keep its prices.
 */
export function advanceMonths(model: Model, account: ModelAccount, now: Seconds): void {
  while (account.period < monthOf(now)) {
    account.period = monthAfter(account.period);
    const begin = account.period;
    for (const vm of model.vms) {
      if (vm.account !== account || vm.state === 'removed') continue;
      const listed = listedFrom(model, vm, begin);
      if (listed === vm.listed) continue;
      vm.listed = listed;
      vm.price = priceOf(listed, vm.resources);
      const running = vm.segments.find(({ stop }) => stop === null);
      if (!running) continue;
      running.stop = begin;
      vm.segments.push({ type: 'BILLINGRESTART', start: begin, stop: null, price: vm.price });
    }
  }
}

/** The list prices of a VM from the beginning of a month on. */
export function listedFrom(model: Model, { host, listed, sale }: Pick<ModelVm, 'host' | 'listed' | 'sale'>, begin: Seconds): ModelPrices {
  if (sale) return listed;
  return newest([listed, ...listOf(model, host).filter(({ from, isForAll }) => isForAll && from <= begin * 1000)]) ?? listed;
}

function newest(list: readonly ModelPrices[]): ModelPrices | undefined {
  return list.reduce<ModelPrices | undefined>((one, other) => (one && one.from >= other.from ? one : other), undefined);
}

function throwNoPrices(hostsystem: string): never {
  throw new Error(`The host system ${hostsystem} has no prices yet.`);
}
