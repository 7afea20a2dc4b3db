/** The price of a purchase, read from the service before it is made. */
import { ResellerError } from '@reseller/client/extension';
import type { Operation } from '@reseller/contract';
import { showMoney } from '@reseller/contract/engine';
import type { Price } from '@reseller/contract/engine';
import { hasNoQuotes, priceOf, priceOfQuote, priceReads, quoteOperation, readKey, serviceTime } from '@reseller/prices';

import type { Api } from './api.ts';
import type { Caller, Result } from './caller.ts';
import type { Input } from './input.ts';

/** The price of a purchase, and what its responses say about the service. */
export interface Quote {
  /** Undefined if the service does not state it. */
  readonly price: Price | undefined;
  /** How long the service keeps an Idempotency-Key, in seconds; undefined if it does not say that it keeps them. */
  readonly keyLifetime: number | undefined;
}

const KEY_LIFETIME = 'idempotency-key-lifetime';

/** Asks the service for the price of a purchase, or reads its price lists if it has no quotes. Sends only calls that change nothing. */
export async function quote(api: Api, caller: Caller, operation: Operation, input: Input): Promise<Quote> {
  const quoted = await askForQuote(api, caller, operation, input);
  if (!quoted) return priceFromLists(api, caller, operation, input);
  return { price: priceOfQuote(operation.id, quoted.data), keyLifetime: lifetimeIn(quoted) };
}

/** @returns when the domain that is renewed expires; undefined for every other purchase, and if the input says it already */
export async function presentExpiry(api: Api, caller: Caller, { form }: Operation, { path, body }: Input): Promise<string | undefined> {
  if (!form?.fields.has('expire') || body?.['expire'] !== undefined) return undefined;
  const read = api.commands.find(({ operation }) => operation.id === 'getDomain');
  if (!read) return undefined;
  const { data } = await caller.call(read.operation, { path, query: {}, body: undefined });
  const expires: unknown = Object(Object(data).timings).expire;
  return typeof expires === 'string' ? expires : undefined;
}

/** @returns undefined if the service has no quotes */
async function askForQuote(api: Api, caller: Caller, operation: Operation, input: Input): Promise<Result | undefined> {
  const asked = quoteOperation(operation, api.document);
  if (!asked) return undefined;
  try {
    return await caller.call(asked, input);
  } catch (error) {
    if (error instanceof ResellerError && hasNoQuotes(error.status)) return undefined;
    throw error;
  }
}

function lifetimeIn({ headers }: Result): number | undefined {
  return Number(headers.get(KEY_LIFETIME)) || undefined;
}

async function priceFromLists(api: Api, caller: Caller, operation: Operation, input: Input): Promise<Quote> {
  const purchase = { operation: operation.id, path: input.path, form: input.body ?? {} };
  const data = new Map<string, unknown>();
  let lifetime: number | undefined;
  let now = Date.now();
  for (const read of priceReads(purchase)) {
    const command = api.commands.find((one) => one.operation.id === read.operation);
    if (!command) continue;
    const result = await caller.call(command.operation, { path: read.path, query: {}, body: undefined });
    data.set(readKey(read), result.data);
    lifetime ??= lifetimeIn(result);
    now = serviceTime(result.headers.get('date'));
  }
  return { price: priceOf(purchase, data, api.document, now), keyLifetime: lifetime };
}

const CENT = 1_000_000n;

/** The amount of an invoice: whole cents, half a cent to the even one. */
function inCents(amount: bigint): bigint {
  const [cents, rest] = [amount / CENT, amount % CENT];
  const isUp = rest * 2n > CENT || (rest * 2n === CENT && cents % 2n === 1n);
  return (cents + (isUp ? 1n : 0n)) * CENT;
}

/** `10.40 EUR net, 12.38 EUR gross: the first year of .net`. */
export function describePrice(price: Price | undefined): string {
  if (!price) return 'unknown: the service does not state it';
  const gross = price.gross === undefined ? '' : `, ${showMoney(inCents(price.gross))} EUR gross`;
  return `${showMoney(price.net)} EUR net${gross}: ${price.basis}`;
}

/** What a person has seen of a purchase. */
export interface SeenPurchase {
  readonly price: Price | undefined;
  /** See `presentExpiry`. */
  readonly expires: string | undefined;
}

/** The fields that make the service refuse a higher price than this one, if its form has such a field, and the renewal of another expiry. */
export function guardOf({ form }: Operation, { price, expires }: SeenPurchase): Readonly<Record<string, string>> {
  const most = price && form?.fields.has('max_price') ? { max_price: showMoney(price.net) } : {};
  return expires === undefined ? most : { ...most, expire: expires };
}
