import type { OpenApiDocument } from '@reseller/contract';
import { isObject, sendReads, moneyOf } from '@reseller/contract/engine';
import type { Exchange, ContractOptions, Money, Plan, Price, PriceOf, Step } from '@reseller/contract/engine';

import { CannotRunError } from './cannot-run.ts';
import { isList, priceOfVm, textAt, valueIn } from './price-of-vm.ts';

/** The responses of the API with prices, by operation. */
export type PriceResponses = ReadonlyMap<string, unknown>;

type Pricer = (step: Step, responses: PriceResponses, document: OpenApiDocument) => Price | undefined;

interface PriceRule {
  /** The operations with the prices. They take no identifiers. */
  readonly reads: readonly string[];
  readonly price: Pricer;
}

/** Calculates the price of each billable operation from responses of the API. The price of other operations is unknown. */
const RULES: Readonly<Record<string, PriceRule>> = {
  createVm: {
    reads: ['listVmHosts', 'listSales'],
    price: ({ form }, responses, document) =>
      priceOfVm(form?.values ?? {}, { hosts: responses.get('listVmHosts'), sales: responses.get('listSales') }, document),
  },
  registerDomain: {
    reads: ['getDomainPricings'],
    price: ({ form }, responses) =>
      priceOfDomain(form?.values['domain'], form?.values['authcode'] === undefined ? 'create' : 'transfer', responses),
  },
  undeleteDomain: { reads: ['getDomainPricings'], price: (step, responses) => priceOfDomain(namedIn(step), 'renew', responses) },
  undeleteDedicatedServer: {
    reads: ['listDedicatedServers', 'listDedicatedMarket'],
    price: (step, responses) => priceOfServer(namedIn(step), responses),
  },
};

const DOMAIN_BASIS = { create: 'the first year', renew: 'a renewal, when it comes', transfer: 'the transfer' } as const;

/** Reads the prices of the purchases of a plan from the target. Sends no requests when nothing costs money. */
export async function readPrices(options: ContractOptions, { steps }: Plan): Promise<PriceOf> {
  const costly = steps.filter(({ effect, purpose }) => effect === 'costs' && purpose !== 'invalid-form');
  const reads = new Set(costly.flatMap(({ operation }) => RULES[operation.id]?.reads ?? []));
  const given =
    reads.size === 0
      ? []
      : await sendReads(
          options,
          [...reads].map((operation) => ({ operation, path: {} })),
        );
  if (given.some(({ status }) => status === 401 || status === 403))
    throw new CannotRunError(`${options.target.href} refuses the API key. Check RESELLER_API_KEY.`);
  const responses: PriceResponses = new Map(given.flatMap((exchange) => readable(exchange)));
  return (step) =>
    // The price of an invalid form that the service accepts is unknown.
    step.purpose === 'invalid-form' ? undefined : RULES[step.operation.id]?.price(step, responses, options.document);
}

function readable({ operation, status, body }: Exchange): readonly (readonly [string, unknown])[] {
  return status === 200 && body.kind === 'json' ? [[operation.id, valueIn(body.value, 'data')]] : [];
}

/** The identifier of the resource of a step, if it was named. */
function namedIn({ path }: Step): string | undefined {
  return typeof path === 'string' ? undefined : Object.values(path)[0];
}

function priceOfDomain(domain: unknown, what: keyof typeof DOMAIN_BASIS, responses: PriceResponses): Price | undefined {
  const prices = responses.get('getDomainPricings');
  if (typeof domain !== 'string' || !isObject(prices)) return undefined;
  // The longest matching TLD applies, such as .co.uk instead of .uk.
  const [tld] = Object.keys(prices)
    .filter((one) => domain.toLowerCase().endsWith(`.${one.toLowerCase()}`))
    .toSorted((one, other) => other.length - one.length);
  return tld === undefined
    ? undefined
    : priceFrom(
        valueIn(prices, tld, 'price_net', what),
        valueIn(prices, tld, 'price_gross', what),
        `${DOMAIN_BASIS[what]} of .${tld}, by getDomainPricings`,
      );
}

/** The renewal price of a server whose cancellation is withdrawn: that of the owner, else that of the market. */
function priceOfServer(identifier: string | undefined, responses: PriceResponses): Price | undefined {
  if (identifier === undefined) return undefined;
  const owned = itemOf(responses.get('listDedicatedServers'), identifier);
  const offered = itemOf(responses.get('listDedicatedMarket'), identifier);
  const price = valueIn(owned, 'accounting', 'price') ?? valueIn(offered, 'price');
  const runtime = valueIn(owned, 'accounting', 'runtime') ?? valueIn(offered, 'price', 'runtime');
  const basis = `${textAt(runtime, 'amount')} ${textAt(runtime, 'unit')} of the server, when it is renewed, by ${owned === undefined ? 'listDedicatedMarket' : 'listDedicatedServers'}`;
  return priceFrom(valueIn(price, 'net'), valueIn(price, 'gross'), basis);
}

function itemOf(data: unknown, identifier: string): unknown {
  const list = valueIn(data, 'list');
  return isList(list) ? list.find((item) => valueIn(item, 'identifier') === identifier) : undefined;
}

function priceFrom(net: unknown, gross: unknown, basis: string): Price | undefined {
  const amount: Money | undefined = moneyOf(net);
  return amount === undefined ? undefined : { net: amount, gross: moneyOf(gross), basis };
}
