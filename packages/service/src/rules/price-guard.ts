/** The price guard of the extension: a purchase names the highest net price that it accepts (`max_price`). */
import { decimalOf, euros } from './money.ts';
import type { Money } from './money.ts';
import { Refusal } from './refusal.ts';

/**
 * @param price Net price: of 30 days of a VM, of the first year of a domain, of one runtime of a dedicated server.
 * @param maxPrice The field of the form, in EUR. Undefined accepts every price.
 * @throws Refusal 412 if the price is higher.
 */
export function assertPriceAccepted(price: Money, maxPrice: string | undefined): void {
  if (maxPrice === undefined || price <= euros(maxPrice)) return;
  throw new Refusal(
    412,
    'precondition_failed',
    `The net price is ${decimalOf(price)} EUR, which is more than the max_price ${maxPrice} EUR, so nothing was bought. Check the current prices, then send a higher max_price or none.`,
  );
}
