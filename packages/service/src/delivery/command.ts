import { v7 as uuidv7 } from 'uuid';

import type { Db, Transaction } from '../store/store.ts';
import { deliver } from './deliver.ts';
import type { DeliveryEnd } from './deliver.ts';
import type { Runtime } from './runtime.ts';
import type { Steps } from './steps.ts';

/** Work in the transaction that makes a command take effect. */
export interface CommandHooks {
  /** Runs in the first transaction, before the change. */
  before(db: Db): Promise<void>;
  /** Runs in the transaction in which the change takes effect, after it. */
  after(db: Db): Promise<void>;
}

/** Carries out a change for the provider. It has no Idempotency-Key and no entry in the request log. */
export async function runCommand<Result>(
  runtime: Runtime,
  change: (steps: Steps<Result>) => Promise<Result>,
  hooks?: CommandHooks,
): Promise<Result> {
  const { clock, random } = runtime.ports;
  const order = {
    id: uuidv7({ msecs: clock.now(), random: random.bytes(16) }),
    keyHash: null,
    async claim({ db }: Transaction) {
      await hooks?.before(db);
      return undefined;
    },
    takeEffect: async ({ db }: Transaction) => hooks?.after(db),
    async record(_transaction: Transaction, ended: DeliveryEnd<Result>) {
      if ('refusal' in ended) throw ended.refusal;
      return ended;
    },
  };
  // Wrapped, because a result may be undefined.
  const { result } = await deliver<Result, { readonly result: Result }>(runtime, order, change);
  return result;
}
