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

/** Prices are summed in integers of this part of their unit, because sums of fractions miss the limit by a hair: 0.1 + 0.2 > 0.3. */
const PARTS_PER_UNIT = 1e8;

/** @throws TypeError when the limit is not an amount, such as NaN, which nothing would exceed. */
export function spendGuardOf({ beforeBillable, budget }: Omit<SpendGuardConfig, 'readOnly'>): Authorise {
  const { limit = Infinity, priceOf } = budget ?? {};
  if (!(limit >= 0)) throw new TypeError(`The limit of the budget must be a number from 0, got ${limit}.`);
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
    if (!(price >= 0 && price < Infinity)) throw refusal(`priceOf returned ${price}, which is not a price`);
    const parts = partsOf(price);
    if (spent + parts > partsOf(limit)) {
      throw refusal(`the budget refused it: ${spent / PARTS_PER_UNIT} spent, price ${price}, limit ${limit}`);
    }
    spent += parts;
    let isGivenBack = false;
    return () => {
      if (!isGivenBack) spent -= parts;
      isGivenBack = true;
    };
  };
}

function partsOf(amount: number): number {
  return Math.round(amount * PARTS_PER_UNIT);
}
