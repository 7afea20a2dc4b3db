import { v7 as uuidv7 } from 'uuid';

import type { Db } from '../store/store.ts';
import { deliver } from './deliver.ts';
import type { Delivery } from './delivery.ts';
import type { Runtime } from './runtime.ts';

/**
 * Work in the transaction that makes a command take effect. This is the first transaction of a finishable delivery, and the last one of an
 * undoable delivery.
 */
export interface CommandHooks {
  /** Runs in the first transaction, before the change. */
  before(db: Db): Promise<void>;
  after(db: Db): Promise<void>;
}

/** Carries out a delivery for the provider. It has no Idempotency-Key and no entry in the request log. */
export async function runCommand<Request, Details, Plan, Result>(
  runtime: Runtime,
  delivery: Delivery<Request, Details, Plan, Result>,
  request: Request,
  hooks?: CommandHooks,
): Promise<Result> {
  const { clock, random } = runtime.ports;
  // Wrapped, because a result may be undefined.
  const { result } = await deliver<Request, Details, Plan, Result, { readonly result: Result }>(runtime, withHook(delivery, hooks), {
    id: uuidv7({ msecs: clock.now(), random: random.bytes(16) }),
    request,
    keyHash: null,
    async claim({ db }) {
      await hooks?.before(db);
      return undefined;
    },
    async record({ db }, ended) {
      if ('refusal' in ended) throw ended.refusal;
      if (delivery.recovery === 'undo') await hooks?.after(db);
      return ended;
    },
  });
  return result;
}

/** A finishable delivery takes effect with its reservation. */
function withHook<Request, Details, Plan, Result>(
  delivery: Delivery<Request, Details, Plan, Result>,
  hooks: CommandHooks | undefined,
): Delivery<Request, Details, Plan, Result> {
  if (delivery.recovery === 'undo' || !hooks) return delivery;
  return {
    ...delivery,
    async reserve(transaction, request) {
      const reserved = await delivery.reserve(transaction, request);
      await hooks.after(transaction.db);
      return reserved;
    },
  };
}
