/** Two small deliveries with a port that fails when a test says so, for tests of the behaviour that all deliveries share. */
import * as v from 'valibot';

import { createClockCheck } from '../src/delivery/clock-check.ts';
import { deliver } from '../src/delivery/deliver.ts';
import type { DeliveryOrder } from '../src/delivery/deliver.ts';
import type { FinishableDelivery, UndoableDelivery } from '../src/delivery/delivery.ts';
import { joinCluster } from '../src/delivery/instance.ts';
import type { Runtime } from '../src/delivery/runtime.ts';
import { finish } from '../src/delivery/steps.ts';
import type { Steps } from '../src/delivery/steps.ts';
import { VM_IDENTIFIERS } from '../src/generated/facts.gen.ts';
import { createAccount } from '../src/index.ts';
import type { Store } from '../src/index.ts';
import { simulatedPorts } from '../src/ports/simulated.ts';
import { DEFAULT_CONSOLE_LIMITS } from '../src/rules/vm-console.ts';
import type { Transaction } from '../src/store/store.ts';
import { SECRET } from './harness.ts';
import { TestClock } from './ports/clock.ts';

export interface Request {
  readonly accountId: string;
  readonly amount: number;
}
const Details = v.strictObject({ accountId: v.string(), amount: v.number() });
type Details = v.InferOutput<typeof Details>;

/** A step of a delivery. */
export type Step = 'reserve' | 'call' | 'confirm' | 'compensate' | 'rollBack';

/** A store with an account, and deliveries that add to its amounts: `held` by the reservation, `unpaid` by the confirmation. */
export interface Trial {
  readonly store: Store;
  readonly accountId: string;
  readonly clock: TestClock;
  /** The steps in the order in which they began, with the tokens of port calls. */
  readonly steps: { readonly step: Step; readonly token?: number }[];
  /** Runs before the work of a step, so that a test can make it fail or wait. */
  readonly before: Partial<Record<Step, () => Promise<void> | void>>;
  /** The same after its work. */
  readonly after: Partial<Record<Step, () => Promise<void> | void>>;
  readonly giving: UndoableDelivery<Details>;
  readonly taking: FinishableDelivery<Details>;
  /** Is undone if it fails. @param delivery Default: `giving`. */
  give(steps: Steps<string>, request: Request, delivery?: UndoableDelivery<Details>): Promise<string>;
  /** Is finished if it fails. @param delivery Default: `taking`. */
  take(steps: Steps<void>, request: Request, delivery?: FinishableDelivery<Details>): Promise<void>;
  /** The amounts of the account. */
  amounts(): Promise<{ held: number; unpaid: number }>;
  reservations(): Promise<{ id: string; owner: string; details: string; delivery: string; subject: string; key_hash: string | null }[]>;
  /** An instance of the service. The first one has the identifier `one`. */
  runtime(id?: string, given?: Partial<Runtime>): Promise<Runtime>;
}

export async function trialOn(store: Store): Promise<Trial> {
  const clock = new TestClock();
  const ports = simulatedPorts({ clock });
  const accountId = await store.commit(({ db }) => createAccount(db, ports, { name: 'trial', creditLimit: 0n }));
  const steps: { step: Step; token?: number }[] = [];
  const before: Trial['before'] = {};
  const after: Trial['after'] = {};
  async function run<T>(step: Step, token: number | undefined, work: () => Promise<T>): Promise<T> {
    steps.push(token === undefined ? { step } : { step, token });
    await before[step]?.();
    const result = await work();
    await after[step]?.();
    return result;
  }
  const add = ({ db }: Transaction, account: string, held: number, unpaid: number) =>
    db
      .updateTable('accounts')
      .set((eb) => ({ held: eb('held', '+', held), unpaid: eb('unpaid', '+', unpaid) }))
      .where('id', '=', account)
      .execute();
  const subject: Trial['giving']['subject'] = ({ accountId: account }) => `server/${account}`;
  const reserve = (transaction: Transaction, { accountId: account, amount }: Request) =>
    run('reserve', undefined, async () => {
      await add(transaction, account, amount, 0);
      return { accountId: account, details: { accountId: account, amount }, password: 'never stored' };
    });
  const giving: Trial['giving'] = {
    name: 'give',
    details: Details,
    subject,
    undo: {
      call: (_, __, token) => run('compensate', token, async () => {}),
      store: (transaction, details) =>
        run('rollBack', undefined, async () => void (await add(transaction, details.accountId, -details.amount, 0))),
    },
  };
  const give: Trial['give'] = async (change, request, delivery = giving) => {
    const { amount } = request;
    const { password } = await change.reserve(delivery, (transaction) => reserve(transaction, request));
    await change.call((_, token) => run('call', token, async () => void password));
    return change.confirm((transaction) =>
      run('confirm', undefined, async () => {
        await add(transaction, request.accountId, -amount, amount);
        return `given ${amount}`;
      }),
    );
  };
  const taking: Trial['taking'] = {
    name: 'take',
    details: Details,
    subject,
    finish: {
      call: (_, __, token) => run('call', token, async () => {}),
      store: (transaction, { accountId: account, amount }) =>
        run('confirm', undefined, async () => void (await add(transaction, account, -amount, amount))),
    },
  };
  const take: Trial['take'] = (change, request, delivery = taking) =>
    finish(change, delivery, (transaction) => reserve(transaction, request));
  return {
    store,
    accountId,
    clock,
    steps,
    before,
    after,
    giving,
    taking,
    give,
    take,
    amounts: () =>
      store.read((db) => db.selectFrom('accounts').select(['held', 'unpaid']).where('id', '=', accountId).executeTakeFirstOrThrow()),
    reservations: () =>
      store.read((db) =>
        db.selectFrom('reservations').select(['id', 'owner', 'details', 'delivery', 'subject', 'key_hash']).orderBy('id').execute(),
      ),
    async runtime(id = 'one', given = {}) {
      const limits = { maxSkewMs: Infinity, maxJumpMs: Infinity, confirmedUntilMs: -Infinity };
      const instance = await joinCluster({
        store,
        id,
        leaseMs: 600_000,
        clockCheck: createClockCheck({ store, clock, limits, onChange: () => {} }),
        onFailure: () => {},
        onOutdated: () => {},
      });
      return {
        store,
        ports,
        secret: SECRET,
        previousSecret: undefined,
        mode: 'sandbox',
        hasExtension: true,
        ownQueues: {},
        invoiceLinkDays: 30,
        consoleLimits: DEFAULT_CONSOLE_LIMITS,
        portTimeoutMs: 30_000,
        vmIdentifiers: VM_IDENTIFIERS,
        instance,
        deliveries: { [giving.name]: giving, [taking.name]: taking },
        closing: new AbortController().signal,
        publicUrl: () => 'https://api.example.com',
        listeningAddresses: () => [],
        ...given,
      };
    },
  };
}

/** Carries out a change as an API does, with the result as its outcome. */
export function deliverTrial<Result>(
  runtime: Runtime,
  change: (steps: Steps<Result>) => Promise<Result>,
  order: Partial<DeliveryOrder<Result, unknown>> = {},
): Promise<unknown> {
  return deliver<Result, unknown>(
    runtime,
    {
      id: 'delivery-1',
      keyHash: null,
      claim: async () => undefined,
      async record(_, ended) {
        if ('refusal' in ended) throw ended.refusal;
        return ended.result;
      },
      ...order,
    },
    change,
  );
}
