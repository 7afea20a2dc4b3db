import { readOperations } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';
import { isObject, moneyOf, worthOf } from '@reseller/contract/engine';
import type { Money, Price } from '@reseller/contract/engine';

/** A resource with a price, and its field in the form. */
interface PricedResource {
  readonly field: string;
  /** The amount of the field that one price covers. Partial units count pro rata unless `isWhole`. */
  readonly unit: bigint;
  readonly isWhole?: boolean;
  /** Whether the price applies only to the amount beyond the included one. */
  readonly isExtra?: boolean;
}

/** The parts of the price of a VM (section "Billing" of the document), by price name. */
const RESOURCES: Readonly<Record<string, PricedResource>> = {
  core: { field: 'cores', unit: 1n },
  mem: { field: 'mem', unit: 1024n },
  nvme: { field: 'disk', unit: 1n },
  hdd: { field: 'storage', unit: 1n },
  extra_ip: { field: 'ips', unit: 1n, isExtra: true },
  extra_backup_slot: { field: 'backup_slots', unit: 1n, isExtra: true },
  extra_gbit: { field: 'network_speed', unit: 1000n, isWhole: true, isExtra: true },
};

/** The responses of the API with the prices of VMs. */
export interface VmPriceResponses {
  /** The data of `GET /vm/list/hosts`. */
  readonly hosts: unknown;
  /** The data of `GET /accounting/sales`. */
  readonly sales: unknown;
  /** The time of the service when it responded, in milliseconds. */
  readonly now: number;
}

/** The fields of `PUT /vm/create`. */
type Form = Readonly<Record<string, unknown>>;

/** The amount of each resource in a form, in units of its price. */
type Amounts = ReadonlyMap<string, { readonly amount: bigint; readonly unit: bigint }>;

/**
 * The price of a VM for 30 days, by the prices of its host system or of the cheapest active sale.
 *
 * @param form The fields of `PUT /vm/create`.
 * @returns undefined if no response has the price of a requested resource
 */
export function priceOfVm(form: Form, { hosts, sales, now }: VmPriceResponses, document: OpenApiDocument): Price | undefined {
  const { host, amounts } = amountsFor(form, hosts, document);
  if (!amounts) return undefined;
  const standard = valueIn(host, 'prices');
  const offers = [
    priceBy('listVmHosts', amounts, standard),
    ...(isList(sales) ? sales : [])
      .filter((sale) => isActive(sale, now))
      .map((sale) =>
        priceBy(
          `the sale "${textAt(sale, 'title')}" of listSales`,
          amounts,
          valueIn(sale, 'pricings', 'value', String(form['hostsystem'])),
          standard,
        ),
      ),
  ].filter((price) => price !== undefined);
  return offers.toSorted((one, other) => (worthOf(one) < worthOf(other) ? -1 : 1))[0];
}

/** The price of a VM for 30 days by the prices of its host system alone: the most that an existing VM can cost. */
export function standardPriceOfVm(form: Form, hosts: unknown, document: OpenApiDocument): Price | undefined {
  const { host, amounts } = amountsFor(form, hosts, document);
  return amounts && priceBy('listVmHosts', amounts, valueIn(host, 'prices'));
}

function amountsFor(
  form: Form,
  hosts: unknown,
  document: OpenApiDocument,
): { readonly host: unknown; readonly amounts: Amounts | undefined } {
  const host = isList(hosts) ? hosts.find((one) => valueIn(one, 'name') === form['hostsystem']) : undefined;
  return { host, amounts: amountsOf(form, valueIn(host, 'included'), document) };
}

/** @param lists price lists by resource; the first list with a resource applies */
function priceBy(source: string, amounts: Amounts, ...lists: readonly unknown[]): Price | undefined {
  function sum(kind: 'price_net' | 'price_gross'): Money | undefined {
    let total = 0n;
    for (const [resource, { amount, unit }] of amounts) {
      const price = moneyOf(lists.map((list) => valueIn(list, resource, kind)).find((one) => one !== undefined));
      if (price === undefined) return undefined;
      // Rounded up, so that this price is never less than the amount charged.
      total += (price * amount + unit - 1n) / unit;
    }
    return total;
  }
  const net = sum('price_net');
  if (net === undefined) return undefined;
  return { net, gross: grossOf(net, sum('price_gross')), basis: `at most, for each 30 days that it runs, by ${source}` };
}

/** Units of 10^-8 in a cent. */
const CENT = 1_000_000n;

/**
 * The gross amount of an invoice with this price alone: the net amount in cents, and its VAT in cents.
 *
 * @param units The gross prices of the units, which show the rate.
 */
function grossOf(net: Money, units: Money | undefined): Money | undefined {
  if (units === undefined || net < CENT) return units;
  const basisPoints = (units * 10_000n + net / 2n) / net - 10_000n;
  const invoiced = halfEven(net, CENT) * CENT;
  return invoiced + ((invoiced * basisPoints + 5_000n * CENT) / (10_000n * CENT)) * CENT;
}

function halfEven(amount: bigint, divisor: bigint): bigint {
  const [whole, rest] = [amount / divisor, amount % divisor];
  const isUp = 2n * rest > divisor || (2n * rest === divisor && whole % 2n === 1n);
  return isUp ? whole + 1n : whole;
}

/** @returns undefined when the form has a number without a known price, or an invalid amount */
function amountsOf(form: Form, included: unknown, document: OpenApiDocument): Amounts | undefined {
  const fields = readOperations(document).find(({ id }) => id === 'createVm')?.form?.fields;
  function defaultOf(name: string): unknown {
    const field = fields?.get(name);
    return field && valueIn(document, ...field.pointer.split('/').slice(1), 'default');
  }
  const amounts = new Map<string, { readonly amount: bigint; readonly unit: bigint }>();
  for (const [resource, { field, unit, isWhole, isExtra }] of Object.entries(RESOURCES)) {
    const requested = form[field] ?? defaultOf(field) ?? 0;
    const free = isExtra ? (valueIn(included, field) ?? defaultOf(field) ?? 0) : 0;
    if (!isCount(requested) || !isCount(free)) return undefined;
    const amount = BigInt(Math.max(0, requested - free));
    if (amount > 0n) amounts.set(resource, isWhole ? { amount: (amount + unit - 1n) / unit, unit: 1n } : { amount, unit });
  }
  const priced: ReadonlySet<string> = new Set(Object.values(RESOURCES).map(({ field }) => field));
  const isUnpriced = Object.keys(form).some((name) => fields?.get(name)?.kind === 'integer' && !priced.has(name));
  return isUnpriced ? undefined : amounts;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isActive(sale: unknown, now: number): boolean {
  const [start, stop] = [valueIn(sale, 'startDate', 'value'), valueIn(sale, 'stopDate', 'value')];
  const [used, most] = [valueIn(sale, 'usedVolume', 'value'), valueIn(sale, 'maxVolume', 'value')];
  const isBegun = typeof start === 'string' && Date.parse(start) <= now;
  const isOver = stop !== null && !(typeof stop === 'string' && Date.parse(stop) > now);
  return isBegun && !isOver && typeof used === 'number' && typeof most === 'number' && used < most;
}

/** The value at a path of names in a value of unknown type, or undefined. */
export function valueIn(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value);
}

/** The string or number at a path, for messages. */
export function textAt(value: unknown, ...names: readonly string[]): string {
  const found = valueIn(value, ...names);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : '?';
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
