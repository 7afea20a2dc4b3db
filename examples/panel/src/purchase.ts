/** The rule of all purchases: an order buys once, whatever happens to the clicks and the connections. */
import { OutcomeUnknownError } from '@reseller/client/extension';
import type { Reconciliation, Reseller } from '@reseller/client/extension';

import type { Order, Orders } from './orders.ts';

/** The account and the store that all calls of the panel use. */
export interface Panel {
  readonly reseller: Reseller;
  readonly orders: Orders;
}

/** How the product of an order is bought, found and removed. */
export interface Product<Bought> {
  /** Sends the key of the order, with which the service buys once. */
  buy(): Promise<{ readonly resource: string; readonly bought: Bought }>;
  /** Finds it in the lists of the account. */
  find(): Promise<string | undefined>;
  remove(resource: string): Promise<void>;
}

/** The service remembers an Idempotency-Key for 24 hours. One hour is more than any request takes. */
const ORDER_LIFETIME_MS = 23 * 3_600_000;

/** Buys the product of an order. @returns The response of the purchase. Undefined if an earlier click has bought it. */
export async function provide<Bought>({ orders }: Panel, order: Order, product: Product<Bought>): Promise<Bought | undefined> {
  if (order.resource !== null) return undefined;
  const isOld = Date.now() - order.ordered > ORDER_LIFETIME_MS;
  const { resource, bought } = isOld ? { resource: await product.find(), bought: undefined } : await product.buy();
  // The key is forgotten, so nothing may be bought with it.
  if (resource === undefined) throw new Error(`The order ${order.id} is too old, and bought nothing. Terminate it, then order again.`);
  orders.activate(order, resource);
  const kept = orders.find(order.id);
  if (kept.key === order.key && kept.state !== 'terminated') return bought;
  await product.remove(resource);
  throw new Error(`The order ${order.id} was terminated during its purchase, which was then cancelled.`);
}

type Committed = Extract<Reconciliation, { outcome: 'committed' }>;

/** Finds out what happened to a purchase whose response was lost: the service sends the response to the key again. */
export async function recover({ reseller }: Panel, error: unknown): Promise<Committed> {
  if (!(error instanceof OutcomeUnknownError)) throw error;
  const found = await reseller.reconcile(error);
  if (found.outcome === 'committed') return found;
  throw found.outcome === 'not-committed' ? new Error(found.message, { cause: error }) : error;
}
