/** The resources of VMs and their prices (specification: "VM", the form of PUT /vm/create). */
import { DEFAULTS } from '../generated/facts.gen.ts';
import type { BrokenField } from './broken-field.ts';
import { counted } from './counted.ts';
import { everyNameOf } from './every-name.ts';
import { divideHalfEven, euros } from './money.ts';
import type { Money } from './money.ts';

/** Bounds of one resource of one VM. */
export interface Range {
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

/** Bounds of a host system. A host system without `storage` has no HDDs. */
export interface ResourceRanges {
  readonly cores: Range;
  /** MB. */
  readonly mem: Range;
  /** GB. */
  readonly disk: Range;
  readonly ips: Range;
  readonly backup_slots: Range;
  /** Mbit. */
  readonly network_speed: Range;
  /** GB of HDD. */
  readonly storage?: Range;
}

/** Net prices of 30 days, in EUR as decimals. */
export interface ResourcePrices {
  /** One core. */
  readonly core: string;
  /** One GB of memory. */
  readonly mem: string;
  /** One GB of NVMe storage. */
  readonly nvme: string;
  /** One GB of HDD storage. */
  readonly hdd: string;
  /** Each IP address after the first. */
  readonly extra_ip: string;
  /** Each backup slot after the second. */
  readonly extra_backup_slot: string;
  /** Each started 1,000 Mbit after the first. */
  readonly extra_gbit: string;
}

/** The resources that a VM is billed for. */
export interface BilledResources {
  readonly cores: number;
  readonly mem: number;
  readonly disk: number;
  readonly ips: number;
  readonly backup_slots: number;
  readonly network_speed: number;
  readonly storage: number | null;
}

/** Also the number of parts of the unit of a price, so that a quantity of memory is an integer. */
export const MB_PER_GB = 1024n;
const MBIT_PER_GBIT = 1000;

const { ips, backup_slots, network_speed } = DEFAULTS.CreateVmForm;
/** The resources that the price of a VM includes: the defaults of the form. */
export const INCLUDED = { ips, backup_slots, network_speed } as const;

/** The charged quantity of each resource of a VM, in 1/1024 of the unit of its price. The document has the formula under "Billing". */
export function chargedQuantities(vm: BilledResources): Readonly<Record<keyof ResourcePrices, bigint>> {
  function whole(count: number, included = 0): bigint {
    return BigInt(Math.max(0, count - included)) * MB_PER_GB;
  }
  return {
    core: whole(vm.cores),
    mem: BigInt(vm.mem),
    nvme: whole(vm.disk),
    hdd: whole(vm.storage ?? 0),
    extra_ip: whole(vm.ips, INCLUDED.ips),
    extra_backup_slot: whole(vm.backup_slots, INCLUDED.backup_slots),
    extra_gbit: whole(Math.ceil(vm.network_speed / MBIT_PER_GBIT), Math.ceil(INCLUDED.network_speed / MBIT_PER_GBIT)),
  };
}

/** Net price of 30 days: the sum of the prices of the resources. */
export function monthlyPriceOf(vm: BilledResources, prices: ResourcePrices): Money {
  const { core, mem, nvme, hdd, extra_ip, extra_backup_slot, extra_gbit } = chargedQuantities(vm);
  const sum =
    core * euros(prices.core) +
    mem * euros(prices.mem) +
    nvme * euros(prices.nvme) +
    hdd * euros(prices.hdd) +
    extra_ip * euros(prices.extra_ip) +
    extra_backup_slot * euros(prices.extra_backup_slot) +
    extra_gbit * euros(prices.extra_gbit);
  return divideHalfEven(sum, MB_PER_GB);
}

/** A resource in the price of a VM. */
export interface PricedResource {
  readonly name: keyof ResourcePrices;
  /** In 1/1024 of a unit. */
  readonly quantity: bigint;
  /** Net price of one unit. */
  readonly price: string;
  /** Quantity times price. */
  readonly amount: Money;
}

/** The resources that the price of a VM consists of. */
export function pricedResources(vm: BilledResources, prices: ResourcePrices): PricedResource[] {
  const quantities = chargedQuantities(vm);
  return PRICED_RESOURCES.map((name) => ({
    name,
    quantity: quantities[name],
    price: prices[name],
    amount: divideHalfEven(quantities[name] * euros(prices[name]), MB_PER_GB),
  })).filter(({ quantity }) => quantity > 0n);
}

const PRICED_RESOURCES = everyNameOf<ResourcePrices>()(['core', 'mem', 'nvme', 'hdd', 'extra_ip', 'extra_backup_slot', 'extra_gbit']);

/** Every disk that would shrink. */
export function brokenShrinking(from: BilledResources, to: BilledResources): BrokenRange[] {
  return (['disk', 'storage'] as const).flatMap((field): BrokenRange[] => {
    const present = from[field] ?? 0;
    if ((to[field] ?? 0) >= present) return [];
    return [{ field, rule: 'minimum', message: `must be at least its current size, ${present}: a disk cannot shrink` }];
  });
}

/** Fewer backup slots than backups. */
export function brokenSlots({ backup_slots: slots }: BilledResources, used: number): BrokenRange[] {
  if (slots >= used) return [];
  const message = `must be at least ${used}, because the VM has ${counted(used, 'backup')}; delete one first`;
  return [{ field: 'backup_slots', rule: 'minimum', message }];
}

/** A resource outside its bounds. */
export interface BrokenRange extends BrokenField {
  readonly field: keyof ResourceRanges;
}

/** Every resource that the host system does not offer in this amount. */
export function brokenRanges(vm: BilledResources, ranges: ResourceRanges, hostsystem: string): BrokenRange[] {
  const asked: readonly (readonly [keyof ResourceRanges, number | null])[] = [
    ['cores', vm.cores],
    ['mem', vm.mem],
    ['disk', vm.disk],
    ['ips', vm.ips],
    ['backup_slots', vm.backup_slots],
    ['network_speed', vm.network_speed],
    ['storage', vm.storage],
  ];
  return asked.flatMap(([field, value]): BrokenRange[] => {
    if (value === null) return [];
    const range = ranges[field];
    const on = `on the host system ${hostsystem}`;
    if (!range) return [{ field, rule: 'unavailable', message: `is not offered ${on}` }];
    if (value < range.min) return [{ field, rule: 'minimum', message: `must be at least ${range.min} ${on}` }];
    if (value > range.max) return [{ field, rule: 'maximum', message: `must be at most ${range.max} ${on}` }];
    if ((value - range.min) % range.step !== 0) {
      return [{ field, rule: 'multipleOf', message: `must be ${range.min} plus a multiple of ${range.step} ${on}` }];
    }
    return [];
  });
}
