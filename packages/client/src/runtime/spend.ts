/** The spend guard: what costs money is refused before it is sent. */
import { SpendRefusedError } from './errors.ts';
import type { DryRun, Prepared, Sender } from './prepare.ts';
import { redact } from './redact.ts';

/**
 * Asks whether the request may be sent, and takes its price out of the budget.
 *
 * @returns What gives the price back, for a request that certainly had no effect.
 * @throws SpendRefusedError
 */
export async function authorise(
  { client: { state }, config }: Sender,
  { facts, form, pathValues, failure }: Prepared,
): Promise<() => void> {
  const refuse = (why: string, cause?: unknown) =>
    new SpendRefusedError(`${facts.id} was refused by ${why}. Nothing was sent.`, failure(0), cause);
  if (!facts.billable) return () => {};
  const purchase = { operation: facts.id, path: pathValues, form };
  const { budget } = config;
  let price = 0;
  try {
    await config.beforeBillable?.(purchase);
    if (budget) price = budget.priceOf ? await budget.priceOf(purchase) : 1;
  } catch (cause) {
    throw refuse('beforeBillable or priceOf', cause);
  }
  // Turned round so that a price that is not a number is refused.
  if (budget && !(price >= 0 && state.spent + price <= budget.limit))
    throw refuse(`the budget: ${price} on top of ${state.spent} is more than ${budget.limit}`);
  state.spent += price;
  return () => void (state.spent -= price);
}

/** What would be sent. The guard is asked; the budget stays as it is. */
export async function rehearse(sender: Sender, prepared: Prepared): Promise<DryRun> {
  (await authorise(sender, prepared))();
  const { facts, method, url, form, failure } = prepared;
  return { operation: facts.id, billable: facts.billable ?? false, method, url, form: redact(form), curl: failure(0).curl };
}
