import { v7 as uuidv7 } from 'uuid';

import type { Db } from '../store/store.ts';
import { deliver } from './deliver.ts';
import type { Delivery } from './delivery.ts';
import type { Runtime } from './runtime.ts';

/**
 * Work in the transaction that makes a command take effect. This is the first transaction of a finishable delivery, and the last one of an
 * undoable delivery.
 */
export interface Witness {
  /** Runs in the first transaction, before the change. */
  before(db: Db): Promise<void>;
  after(db: Db): Promise<void>;
}

/** Carries out a delivery that no request of the reseller API started. It has no Idempotency-Key and no entry in the request log. */
export async function deliverCommand<Request, Details, Plan, Result>(
  runtime: Runtime,
  name: string,
  delivery: Delivery<Request, Details, Plan, Result>,
  request: Request,
  witness?: Witness,
): Promise<Result> {
  const { clock, random } = runtime.ports;
  const outcome = await deliver<Request, Details, Plan, Result, { readonly result: Result }>(runtime, delivery, {
    id: uuidv7({ msecs: clock.now(), random: random.bytes(16) }),
    name,
    request,
    keyHash: null,
    async reserving({ db }, reserve) {
      await witness?.before(db);
      const reserved = await reserve();
      if (delivery.recovery === 'finish') await witness?.after(db);
      return reserved;
    },
    // Wrapped, because a result may be undefined.
    async confirming({ db }, result) {
      if (delivery.recovery === 'undo') await witness?.after(db);
      return { result };
    },
  });
  return outcome.result;
}
