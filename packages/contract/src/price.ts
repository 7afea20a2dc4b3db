import type { Money } from './money.ts';
import type { Step } from './step.ts';

/** What one request that costs money costs when it succeeds, as the service itself says. */
export interface Price {
  readonly net: Money;
  /** Undefined where the service says net alone. */
  readonly gross: Money | undefined;
  /** The purchase, and the source of its price: "the first year of .net, by getDomainPricings". */
  readonly basis: string;
}

/** The price of a step; undefined where nobody knows. */
export type PriceOf = (step: Step) => Price | undefined;

/** How much a run may spend. */
export interface Budget {
  /** Sum of the known prices of requests that succeeded, of each the greater of net and gross. */
  readonly amount: Money;
  /** How many requests may succeed of which nobody knows the price. */
  readonly unknown: number;
}

export const NO_BUDGET: Budget = { amount: 0n, unknown: 0 };

/** The amount that a price takes from a budget: the greater of net and gross. */
export function worthOf({ net, gross }: Price): Money {
  return gross === undefined || gross < net ? net : gross;
}
