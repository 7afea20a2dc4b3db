/** Asks `beforeBillable` and the budget before anything that costs money is sent. */
import { SpendRefusedError } from './runtime/errors.ts';
import type { Budget, Purchase } from './runtime/options.ts';
import type { Prepared } from './runtime/prepare.ts';
import { errorOf } from './runtime/request.ts';

export interface SpendGuardConfig {
  /** Is asked before each purchase. Throw to refuse it. */
  beforeBillable?: ((purchase: Purchase) => void | Promise<void>) | undefined;
  /** Purchases beyond it are refused. A purchase whose outcome is unknown counts. */
  budget?: Budget | undefined;
  /** Refuses every call that changes something. */
  readOnly?: boolean | undefined;
}

/** Returns the function that gives the price of a purchase back to the budget. */
export type Authorise = (prepared: Prepared) => Promise<() => void>;

export function spendGuardOf({ beforeBillable, budget }: Omit<SpendGuardConfig, 'readOnly'>): Authorise {
  const { limit = Infinity, priceOf } = budget ?? {};
  let spent = 0;
  return async (prepared) => {
    const { operation, path, form } = prepared;
    if (operation.effect !== 'purchase') return () => {};
    const purchase = { operation: operation.id, path, form };
    function refusal(message: string, cause?: unknown) {
      return errorOf(SpendRefusedError, prepared, message, {}, cause);
    }
    let price: number;
    try {
      await beforeBillable?.(purchase);
      price = (await priceOf?.(purchase)) ?? 1;
    } catch (cause) {
      throw refusal(`beforeBillable or priceOf refused it: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
    }
    if (!(price >= 0)) throw refusal(`priceOf returned ${price}, which is not a price`);
    if (spent + price > limit) throw refusal(`the budget refused it: ${spent} spent, price ${price}, limit ${limit}`);
    spent += price;
    let isGivenBack = false;
    return () => {
      if (!isGivenBack) spent -= price;
      isGivenBack = true;
    };
  };
}
