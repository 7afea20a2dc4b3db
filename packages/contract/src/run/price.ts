import type { Money } from './money.ts';
import type { Step } from './step.ts';

/** The price of a purchase, as the service states it. */
export interface Price {
  readonly net: Money;
  /** Undefined when the service states only the net price. */
  readonly gross: Money | undefined;
  /** The purchase, and the source of its price: "the first year of .net, by getDomainPricings". */
  readonly basis: string;
}

/** Returns the price of a step; undefined when it is unknown. */
export type PriceOf = (step: Step) => Price | undefined;

/** How much a run may spend. */
export interface Budget {
  /** The sum of known prices of successful requests: for each, the greater of net and gross. */
  readonly amount: Money;
  /** How many purchases of unknown price may succeed. */
  readonly unknown: number;
}

export const NO_BUDGET: Budget = { amount: 0n, unknown: 0 };

/** The amount of a price that counts towards the budget: the greater of net and gross. */
export function worthOf({ net, gross }: Price): Money {
  return gross === undefined || gross < net ? net : gross;
}
