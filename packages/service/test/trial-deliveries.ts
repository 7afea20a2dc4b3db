/** Two small deliveries with a port that fails when a test says so, for tests of the behaviour that all deliveries share. */
import * as v from 'valibot';

import { createClockCheck } from '../src/delivery/clock-check.ts';
import { deliver } from '../src/delivery/deliver.ts';
import type { DeliveryOrder } from '../src/delivery/deliver.ts';
import type { Delivery, FinishableDelivery, UndoableDelivery } from '../src/delivery/delivery.ts';
import { joinCluster } from '../src/delivery/instance.ts';
import type { Runtime } from '../src/delivery/runtime.ts';
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
/** Never stored. */
export interface Plan extends Request {
  readonly password: string;
}

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
  /** Is undone if it fails. */
  readonly give: UndoableDelivery<Request, Details, Plan, string>;
  /** Is finished if it fails. */
  readonly take: FinishableDelivery<Request, Details, string>;
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
  const give: Trial['give'] = {
    name: 'give',
    recovery: 'undo',
    details: Details,
    subject: ({ accountId: account }) => `server/${account}`,
    reserve: (transaction, request) =>
      run('reserve', undefined, async () => {
        await add(transaction, request.accountId, request.amount, 0);
        const details = { accountId: request.accountId, amount: request.amount };
        return { accountId: request.accountId, details, plan: { ...request, password: 'never stored' } };
      }),
    call: (_, plan, token) => run('call', token, async () => void plan.password),
    confirm: (transaction, plan) =>
      run('confirm', undefined, async () => {
        await add(transaction, plan.accountId, -plan.amount, plan.amount);
        return `given ${plan.amount}`;
      }),
    compensate: (_, __, token) => run('compensate', token, async () => {}),
    rollBack: (transaction, details) =>
      run('rollBack', undefined, async () => void (await add(transaction, details.accountId, -details.amount, 0))),
  };
  const take: Trial['take'] = {
    name: 'take',
    recovery: 'finish',
    details: Details,
    subject: ({ accountId: account }) => `server/${account}`,
    reserve: (transaction, request) =>
      run('reserve', undefined, async () => {
        await add(transaction, request.accountId, request.amount, 0);
        return { accountId: request.accountId, details: { accountId: request.accountId, amount: request.amount } };
      }),
    call: (_, __, token) => run('call', token, async () => {}),
    confirm: (transaction, details) =>
      run('confirm', undefined, async () => {
        await add(transaction, details.accountId, -details.amount, details.amount);
        return `taken ${details.amount}`;
      }),
  };
  return {
    store,
    accountId,
    clock,
    steps,
    before,
    after,
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
        deliveries: { [give.name]: give, [take.name]: take },
        closing: new AbortController().signal,
        publicUrl: () => 'https://api.example.com',
        listeningAddresses: () => [],
        ...given,
      };
    },
  };
}

/** Carries out a delivery as an API does, with the result as its outcome. */
export function deliverTrial<Given extends Plan | Details>(
  runtime: Runtime,
  delivery: Delivery<Request, Details, Given, string>,
  request: Request,
  order: Partial<DeliveryOrder<Request, string, string>> = {},
): Promise<string> {
  return deliver<Request, Details, Given, string, string>(runtime, delivery, {
    id: 'delivery-1',
    request,
    keyHash: null,
    claim: async () => undefined,
    async record(_, ended) {
      if ('refusal' in ended) throw ended.refusal;
      return ended.result;
    },
    ...order,
  });
}
