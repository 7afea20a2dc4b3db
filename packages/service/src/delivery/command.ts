import { v7 as uuidv7 } from 'uuid';

import { deliver } from './deliver.ts';
import type { Delivery } from './delivery.ts';
import type { Runtime } from './runtime.ts';

/** Carries a delivery out that has no request of the reseller API behind it: no Idempotency-Key, and no entry in the request log. */
export async function deliverCommand<Request, Details, Plan, Result>(
  runtime: Runtime,
  name: string,
  delivery: Delivery<Request, Details, Plan, Result>,
  request: Request,
): Promise<Result> {
  const { clock, random } = runtime.ports;
  const outcome = await deliver<Request, Details, Plan, Result, { readonly result: Result }>(runtime, delivery, {
    id: uuidv7({ msecs: clock.now(), random: random.bytes(16) }),
    name,
    request,
    keyHash: null,
    reserving: (_transaction, reserve) => reserve(),
    // Wrapped, because a result may be undefined.
    confirming: async (_transaction, result) => ({ result }),
  });
  return outcome.result;
}
