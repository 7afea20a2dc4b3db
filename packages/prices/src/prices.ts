/** The prices of purchases, from the responses of the API. */
import type { OpenApiDocument } from '@reseller/contract';
import { isObject, moneyOf } from '@reseller/contract/engine';
import type { Price } from '@reseller/contract/engine';

import { isList, priceOfVm, standardPriceOfVm, textAt, valueIn } from './price-of-vm.ts';

/** A billable request. */
export interface Purchase {
  /** The operationId of the document: `createVm`. */
  readonly operation: string;
  readonly path: Readonly<Record<string, string>>;
  readonly form: Readonly<Record<string, unknown>>;
}

/** A read-only call whose response has a price. */
export interface PriceRead {
  readonly operation: string;
  readonly path: Readonly<Record<string, string>>;
}

/** The data of the responses, by `readKey`. */
export type PriceData = ReadonlyMap<string, unknown>;

/** The responses to the calls of a rule. */
interface Responses {
  dataOf(operation: string): unknown;
  /** Milliseconds. */
  readonly now: number;
  readonly document: OpenApiDocument;
}

interface PriceRule {
  /** The operations with the prices. */
  readonly reads: readonly string[];
  readonly price: (purchase: Purchase, responses: Responses) => Price | undefined;
}

/** The rules by operation. The price of any other operation is unknown. */
const RULES: Readonly<Record<string, PriceRule>> = {
  createVm: {
    reads: ['listVmHosts', 'listSales'],
    price: ({ form }, { dataOf, now, document }) =>
      priceOfVm(form, { hosts: dataOf('listVmHosts'), sales: dataOf('listSales'), now }, document),
  },
  changeVm: {
    reads: ['getVmConfig', 'listVmHosts'],
    price: ({ form }, { dataOf, document }) => {
      const vm = dataOf('getVmConfig');
      const hostsystem = valueIn(vm, 'hostsystem', 'name');
      return standardPriceOfVm({ ...resourcesOf(valueIn(vm, 'config')), ...form, hostsystem }, dataOf('listVmHosts'), document);
    },
  },
  purchaseDedicatedServer: {
    reads: ['listDedicatedMarket'],
    price: ({ path }, { dataOf }) => priceOfServer(path['identifier'], { offered: dataOf('listDedicatedMarket') }, 'the first'),
  },
  undeleteDedicatedServer: {
    reads: ['listDedicatedServers', 'listDedicatedMarket'],
    price: ({ path }, { dataOf }) =>
      priceOfServer(path['identifier'], { owned: dataOf('listDedicatedServers'), offered: dataOf('listDedicatedMarket') }, 'each further'),
  },
  registerDomain: {
    reads: ['getDomainPricings'],
    price: ({ form }, { dataOf }) =>
      priceOfDomain(form['domain'], form['authcode'] === undefined ? 'create' : 'transfer', dataOf('getDomainPricings')),
  },
  undeleteDomain: {
    reads: ['getDomainPricings'],
    price: ({ path }, { dataOf }) => priceOfDomain(path['domain'], 'renew', dataOf('getDomainPricings')),
  },
};

/** Reads of the resource that the purchase names. */
const READS_OF_THE_RESOURCE: ReadonlySet<string> = new Set(['getVmConfig']);

/** The calls whose responses have the price of a purchase: none if its price is unknown. Without a path, those of its resource are left out. */
export function priceReads({ operation, path }: Pick<Purchase, 'operation' | 'path'>): readonly PriceRead[] {
  const isNamed = Object.keys(path).length > 0;
  return (RULES[operation]?.reads ?? []).flatMap((read) => {
    if (!READS_OF_THE_RESOURCE.has(read)) return [{ operation: read, path: {} }];
    return isNamed ? [{ operation: read, path }] : [];
  });
}

/** Identifies a call among those of several purchases. */
export function readKey({ operation, path }: PriceRead): string {
  return JSON.stringify([operation, path]);
}

/**
 * The price of a purchase.
 *
 * @param data The data of the responses to `priceReads`.
 * @param now The time of the service, which decides whether a sale is active: see `serviceTime`.
 * @returns undefined if the responses do not state it
 */
export function priceOf(purchase: Purchase, data: PriceData, document: OpenApiDocument, now: number): Price | undefined {
  const reads = new Map(priceReads(purchase).map((read) => [read.operation, data.get(readKey(read))]));
  return RULES[purchase.operation]?.price(purchase, { dataOf: (operation) => reads.get(operation), now, document });
}

/**
 * The time of a service in milliseconds.
 *
 * @param date The header `Date` of its response. Without it, the time of this machine counts.
 */
export function serviceTime(date: string | null | undefined): number {
  const time = Date.parse(date ?? '');
  return Number.isNaN(time) ? Date.now() : time;
}

const RESOURCES = ['cores', 'mem', 'disk', 'storage', 'ips', 'backup_slots', 'network_speed'];

/** The resources of an existing VM. The API states some of them as texts. */
function resourcesOf(config: unknown): Readonly<Record<string, number>> {
  const given = RESOURCES.map((name) => [name, valueIn(config, name)] as const).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(given.map(([name, value]) => [name, Number(value)]));
}

const DOMAIN_BASIS = { create: 'the first year', renew: 'the next renewal', transfer: 'the transfer' } as const;

function priceOfDomain(domain: unknown, what: keyof typeof DOMAIN_BASIS, prices: unknown): Price | undefined {
  if (typeof domain !== 'string' || !isObject(prices)) return undefined;
  // The longest matching TLD applies, such as .co.uk instead of .uk.
  const [tld] = Object.keys(prices)
    .filter((one) => domain.toLowerCase().endsWith(`.${one.toLowerCase()}`))
    .toSorted((one, other) => other.length - one.length);
  if (tld === undefined) return undefined;
  const [net, gross] = (['price_net', 'price_gross'] as const).map((kind) => valueIn(prices, tld, kind, what));
  return priceFrom(net, gross, `${DOMAIN_BASIS[what]} of .${tld}, by getDomainPricings`);
}

/** The price of one runtime of a server: that of the owner, else that of the market. */
function priceOfServer(
  identifier: string | undefined,
  lists: { readonly owned?: unknown; readonly offered: unknown },
  which: 'the first' | 'each further',
): Price | undefined {
  if (identifier === undefined) return undefined;
  const owned = itemOf(lists.owned, identifier);
  const offered = itemOf(lists.offered, identifier);
  const price = valueIn(owned, 'accounting', 'price') ?? valueIn(offered, 'price');
  const runtime = valueIn(owned, 'accounting', 'runtime') ?? valueIn(offered, 'price', 'runtime');
  const source = owned === undefined ? 'listDedicatedMarket' : 'listDedicatedServers';
  const basis = `${which} ${textAt(runtime, 'amount')} ${textAt(runtime, 'unit')} of the server, by ${source}`;
  return priceFrom(valueIn(price, 'net'), valueIn(price, 'gross'), basis);
}

function itemOf(data: unknown, identifier: string): unknown {
  const list = isList(data) ? data : valueIn(data, 'list');
  return isList(list) ? list.find((item) => valueIn(item, 'identifier') === identifier) : undefined;
}

function priceFrom(net: unknown, gross: unknown, basis: string): Price | undefined {
  const amount = moneyOf(net);
  return amount === undefined ? undefined : { net: amount, gross: moneyOf(gross), basis };
}
