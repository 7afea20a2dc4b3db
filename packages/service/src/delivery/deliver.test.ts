import { describe, expect, test } from 'vitest';

import { seededStore, sharedStore } from '../../test/shared-store.ts';
import { deliverTrial, trialOn } from '../../test/trial-deliveries.ts';
import type { Trial } from '../../test/trial-deliveries.ts';
import { Refusal } from '../rules/refusal.ts';
import { StoreUnavailableError } from '../store/store.ts';
import type { Transaction } from '../store/store.ts';
import { InfrastructureError } from './deliver.ts';
import { recoverDeliveries } from './recover.ts';
import { ReservationLostError } from './reservation.ts';
import type { Steps } from './steps.ts';

const failure = new Error('The port failed.');
const fail =
  (error: unknown = failure) =>
  () => {
    throw error;
  };
const namesOf = ({ steps }: Pick<Trial, 'steps'>) => steps.map(({ step }) => step);
const NOTHING_LEFT = { held: 0, unpaid: 0 };

async function trial() {
  const one = await trialOn(await seededStore());
  const runtime = await one.runtime();
  const request = { accountId: one.accountId, amount: 5 };
  return {
    ...one,
    trial: one,
    runtime,
    request,
    give: (order = {}, changed = {}) =>
      deliverTrial(runtime, (change: Steps<string>) => one.give(change, request, { ...one.giving, ...changed }), order),
    take: (order = {}, changed = {}) =>
      deliverTrial(runtime, (change: Steps<void>) => one.take(change, request, { ...one.taking, ...changed }), order),
  };
}

/** Adds an Idempotency-Key as an API does when it claims one. */
const claimKey = (store: Trial['store'], accountId: string, keyHash: string, state = 'pending') =>
  store.commit(({ db }) =>
    db
      .insertInto('idempotency_keys')
      .values({ account_id: accountId, key_hash: keyHash, fingerprint: '', state, response: null, created: 0 })
      .execute(),
  );
const keysOf = async (store: Trial['store']) =>
  (await store.read((db) => db.selectFrom('idempotency_keys').select('key_hash').orderBy('key_hash').execute())).map((row) => row.key_hash);

describe('a delivery that works', () => {
  test('reserves, calls and confirms, and leaves no reservation', async () => {
    const { give, steps, amounts, reservations, runtime } = await trial();
    await expect(give()).resolves.toBe('given 5');
    expect(steps).toEqual([{ step: 'reserve' }, { step: 'call', token: 1 }, { step: 'confirm' }]);
    expect([await amounts(), await reservations()]).toEqual([{ held: 0, unpaid: 5 }, []]);
    expect([...runtime.instance.delivering]).toEqual([]);
  });

  test('has a reservation during its call, with its details and nothing else, and recovery leaves it alone', async () => {
    const { give, before, reservations, runtime, accountId } = await trial();
    const during: unknown[] = [];
    before.call = async () => {
      during.push(await reservations(), [...runtime.instance.delivering], await recoverDeliveries(runtime, new Set()));
    };
    await give({ keyHash: 'hash' });
    expect(during).toEqual([
      [
        {
          id: 'delivery-1',
          owner: 'one',
          delivery: 'give',
          details: JSON.stringify({ accountId, amount: 5 }),
          subject: `server/${accountId}`,
          key_hash: 'hash',
        },
      ],
      ['delivery-1'],
      { settled: 0, failures: [], failedTasks: [] },
    ]);
  });

  test('reserves, calls and confirms once if it takes something away', async () => {
    const { take, steps } = await trial();
    await expect(take()).resolves.toBeUndefined();
    expect(steps).toEqual([{ step: 'reserve' }, { step: 'call', token: 1 }, { step: 'confirm' }]);
  });

  test('passes a higher token in each call about a subject', async () => {
    const { give, take, steps } = await trial();
    await give();
    await take({ id: 'delivery-2' });
    expect(steps.flatMap(({ token }) => token ?? [])).toEqual([1, 2]);
  });

  test.each(['give', 'take'] as const)('%s: ends before any call if the first transaction has an outcome', async (kind) => {
    const one = await trial();
    await expect(one[kind]({ claim: async () => 'stored response' })).resolves.toBe('stored response');
    expect(namesOf(one)).toEqual([]);
    expect(await one.reservations()).toEqual([]);
  });

  test('calls no port and stores no reservation if there is nothing to deliver', async () => {
    const one = await trial();
    const order = { record: async (_: unknown, ended: unknown) => `recorded: ${JSON.stringify(ended)}` };
    const change = async (steps: Steps<string>) => {
      await steps.reserve(one.giving, async () => steps.inPlace('in place'));
      throw new Error('A change that is in place goes no further.');
    };
    await expect(deliverTrial(one.runtime, change, order)).resolves.toBe('recorded: {"result":"in place"}');
    expect(namesOf(one)).toEqual([]);
    expect(await one.reservations()).toEqual([]);
  });

  test('confirms as urgent work, which overtakes new purchases', async () => {
    const one = await trial();
    const urgent: (boolean | undefined)[] = [];
    const store: Trial['store'] = {
      ...one.store,
      commit(work, options) {
        urgent.push(options?.isUrgent);
        return one.store.commit(work, options);
      },
    };
    await deliverTrial({ ...one.runtime, store }, (steps: Steps<string>) => one.trial.give(steps, one.request));
    expect(urgent).toEqual([undefined, true]);
  });

  test('does not begin if recovery does not know it', async () => {
    const one = await trial();
    await expect(one.give({}, { name: 'unknown' })).rejects.toThrow('Recovery does not know the delivery unknown.');
    expect(namesOf(one)).toEqual([]);
  });

  test('is undone if its change returns without an end, or takes its steps in another order', async () => {
    for (const { change, message } of [
      { change: async () => 'no end', message: 'The change has returned before its delivery ended. It must call confirm or wait.' },
      {
        change: async (steps: Steps<string>) => steps.wait(async () => 'no task'),
        message: 'The port started no task, for which the delivery give could wait.',
      },
    ]) {
      const one = await trial();
      const early = (steps: Steps<string>) =>
        steps.reserve(one.giving, async ({ db }) => {
          await db.updateTable('accounts').set({ held: 5 }).where('id', '=', one.accountId).execute();
          return { accountId: one.accountId, details: one.request };
        });
      const reserved = async (steps: Steps<string>) => {
        await early(steps);
        return change(steps);
      };
      await expect(deliverTrial(one.runtime, reserved)).rejects.toThrow(message);
      expect([await one.amounts(), await one.reservations()]).toEqual([NOTHING_LEFT, []]);
    }
    const one = await trial();
    const early = (steps: Steps<string>) => steps.confirm(async () => 'nothing reserved');
    await expect(deliverTrial(one.runtime, early)).rejects.toThrow('The change has no reservation yet. It must call reserve first.');
  });

  test('whose reservation is refused changes nothing, and records the refusal in the same transaction', async () => {
    const one = await trial();
    const refusal = new Refusal(402, 'credit_limit_exceeded', 'Too much.');
    one.after.reserve = fail(refusal);
    const record = async ({ db }: Transaction, ended: unknown) => {
      expect(ended).toEqual({ refusal });
      const { held } = await db.selectFrom('accounts').select('held').where('id', '=', one.accountId).executeTakeFirstOrThrow();
      return `refused with ${held} held`;
    };
    await expect(one.give({ record })).resolves.toBe('refused with 0 held');
    expect(namesOf(one)).toEqual(['reserve']);
    expect([await one.amounts(), await one.reservations()]).toEqual([NOTHING_LEFT, []]);
    expect([...one.runtime.instance.delivering]).toEqual([]);
  });

  test.each(['call', 'confirm'] as const)('is undone if its step %s fails, before its work or after it', async (step) => {
    for (const moment of ['before', 'after'] as const) {
      const one = await trial();
      one[moment][step] = fail();
      await expect(one.give()).rejects.toBe(failure);
      const tokens = one.steps.filter(({ token }) => token !== undefined);
      expect(tokens).toEqual([
        { step: 'call', token: 1 },
        { step: 'compensate', token: 2 },
      ]);
      expect(namesOf(one).slice(-2)).toEqual(['compensate', 'rollBack']);
      expect([await one.amounts(), await one.reservations()]).toEqual([NOTHING_LEFT, []]);
    }
  });

  test('frees its Idempotency-Key when it is undone, and keeps the other keys', async () => {
    const one = await trial();
    for (const key of ['mine', 'other']) await claimKey(one.store, one.accountId, key);
    await claimKey(one.store, 'another account', 'mine');
    one.before.call = fail();
    await expect(one.give({ keyHash: 'mine' })).rejects.toBe(failure);
    expect(await keysOf(one.store)).toEqual(['mine', 'other']);
    // The remaining key belongs to another account.
    expect(
      await one.store.read((db) => db.selectFrom('idempotency_keys').select('account_id').where('key_hash', '=', 'mine').execute()),
    ).toEqual([{ account_id: 'another account' }]);
  });

  test('keeps a key whose response is stored, and works without a key', async () => {
    const one = await trial();
    await claimKey(one.store, one.accountId, 'mine', 'done');
    one.before.call = fail();
    await expect(one.give({ keyHash: 'mine' })).rejects.toBe(failure);
    await expect(one.give({ id: 'delivery-2' })).rejects.toBe(failure);
    expect(await keysOf(one.store)).toEqual(['mine']);
  });

  test.each(['compensate', 'rollBack'] as const)('whose %s fails as well is undone once by recovery', async (step) => {
    const one = await trial();
    one.before.call = fail();
    one.before[step] = fail();
    await expect(one.give()).rejects.toBe(failure);
    expect([await one.amounts(), await one.reservations()]).toMatchObject([{ held: 5 }, [{ id: 'delivery-1' }]]);
    expect(await recoverDeliveries(one.runtime, new Set())).toEqual({
      settled: 0,
      failures: [{ reservation: 'delivery-1', error: failure }],
      failedTasks: [],
    });
    delete one.before[step];
    expect(await recoverDeliveries(one.runtime, new Set())).toEqual({ settled: 1, failures: [], failedTasks: [] });
    expect([await one.amounts(), await one.reservations()]).toEqual([NOTHING_LEFT, []]);
    expect(await recoverDeliveries(one.runtime, new Set())).toEqual({ settled: 0, failures: [], failedTasks: [] });
    const tokens = one.steps.flatMap(({ token }) => token ?? []);
    expect(tokens).toEqual(tokens.map((_, index) => index + 1));
  });

  test('returns a refusal of the port after it was undone', async () => {
    const one = await trial();
    const refusal = new Refusal(409, 'wrong_state', 'Not now.');
    one.before.call = fail(refusal);
    await expect(one.give({}, { describeFailure: () => 'never shown' })).rejects.toBe(refusal);
    expect(await one.amounts()).toEqual(NOTHING_LEFT);
  });

  test('describes its failure, and whether it has been undone', async () => {
    for (const [fault, words] of [
      [undefined, 'undone true'],
      [fail(), 'undone false'],
    ] as const) {
      const one = await trial();
      one.before.call = fail();
      one.before.compensate = fault ?? (() => {});
      const describeFailure = ({ amount }: { amount: number }, isSettled: boolean) => `${amount}: undone ${isSettled}`;
      const error = await one.give({}, { describeFailure }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(InfrastructureError);
      expect(error).toMatchObject({ name: 'InfrastructureError', message: `5: ${words}`, cause: failure });
    }
  });

  test('does not describe a failure of the store as one of the infrastructure', async () => {
    const one = await trial();
    const unavailable = new StoreUnavailableError('The database is down.');
    one.before.confirm = fail(unavailable);
    await expect(one.give({}, { describeFailure: () => 'never shown' })).rejects.toBe(unavailable);
  });
});

describe('a delivery that takes something away', () => {
  test.each([
    ['call', ['reserve', 'call', 'call', 'confirm']],
    ['confirm', ['reserve', 'call', 'confirm', 'call', 'confirm']],
  ] as const)('is finished at once if its step %s fails once', async (step, expected) => {
    for (const moment of ['before', 'after'] as const) {
      const one = await trial();
      one[moment][step] = () => {
        delete one[moment][step];
        throw failure;
      };
      await expect(one.take()).resolves.toBeUndefined();
      expect(namesOf(one)).toEqual(expected);
      expect([await one.amounts(), await one.reservations()]).toEqual([{ held: 0, unpaid: 5 }, []]);
    }
  });

  test('is finished once by recovery if it fails again', async () => {
    const one = await trial();
    one.before.call = fail();
    await expect(one.take({}, { describeFailure: (_: unknown, isSettled: boolean) => `settled: ${isSettled}` })).rejects.toThrow(
      new InfrastructureError('settled: false'),
    );
    expect(await one.amounts()).toEqual({ held: 5, unpaid: 0 });
    delete one.before.call;
    expect(await recoverDeliveries(one.runtime, new Set())).toEqual({ settled: 1, failures: [], failedTasks: [] });
    expect(await recoverDeliveries(one.runtime, new Set())).toEqual({ settled: 0, failures: [], failedTasks: [] });
    expect([await one.amounts(), await one.reservations()]).toEqual([{ held: 0, unpaid: 5 }, []]);
  });

  test('keeps its Idempotency-Key when it is finished at once, because its caller gets the response', async () => {
    const one = await trial();
    await claimKey(one.store, one.accountId, 'mine');
    one.before.call = () => {
      delete one.before.call;
      throw failure;
    };
    await one.take({ keyHash: 'mine' });
    expect(await keysOf(one.store)).toEqual(['mine']);
  });
});

describe('recovery', () => {
  /** Starts deliveries whose call and compensation fail, and returns their reservations. */
  async function interruptDeliveries(...ids: readonly string[]) {
    const one = await trial();
    one.before.call = fail();
    one.before.compensate = fail();
    for (const id of ids) {
      one.clock.advance(id === 'earlier' ? -1 : 0);
      await expect(one.give({ id })).rejects.toBe(failure);
    }
    one.steps.length = 0;
    return one;
  }

  test('settles the oldest delivery first, and simultaneous ones in the order of their identifiers', async () => {
    const one = await interruptDeliveries('b', 'a', 'earlier');
    const { failures } = await recoverDeliveries(one.runtime, new Set());
    expect(failures.map(({ reservation }) => reservation)).toEqual(['earlier', 'a', 'b']);
  });

  test('continues after a delivery that fails, and skips excluded ones', async () => {
    const one = await interruptDeliveries('a', 'b', 'c');
    one.before.compensate = () => {
      delete one.before.compensate;
      throw failure;
    };
    expect(await recoverDeliveries(one.runtime, new Set(['b']))).toMatchObject({
      settled: 1,
      failures: [{ reservation: 'a', error: failure }],
    });
    expect((await one.reservations()).map(({ id }) => id)).toEqual(['a', 'b']);
    expect([...one.runtime.instance.delivering]).toEqual([]);
  });

  test('skips deliveries that this instance is already recovering', async () => {
    const one = await interruptDeliveries('a');
    let during: unknown;
    one.before.compensate = async () => {
      during = await recoverDeliveries(one.runtime, new Set());
    };
    expect(await recoverDeliveries(one.runtime, new Set())).toEqual({ settled: 1, failures: [], failedTasks: [] });
    expect(during).toEqual({ settled: 0, failures: [], failedTasks: [] });
    expect(one.steps.map(({ step }) => step)).toEqual(['compensate', 'rollBack']);
  });

  test('starts nothing while the service closes', async () => {
    const one = await interruptDeliveries('a');
    const runtime = { ...one.runtime, closing: AbortSignal.abort() };
    expect(await recoverDeliveries(runtime, new Set())).toEqual({ settled: 0, failures: [], failedTasks: [] });
    expect(one.steps).toEqual([]);
  });

  test('reports a reservation of an unknown delivery, or with details of another form, and keeps it', async () => {
    const one = await interruptDeliveries('a', 'b');
    await one.store.commit(({ db }) => db.updateTable('reservations').set({ delivery: 'unknown' }).where('id', '=', 'a').execute());
    await one.store.commit(({ db }) => db.updateTable('reservations').set({ details: '{}' }).where('id', '=', 'b').execute());
    const { settled, failures } = await recoverDeliveries(one.runtime, new Set());
    expect(settled).toBe(0);
    expect(failures).toEqual([
      { reservation: 'a', error: new Error('The reservation a names an unknown delivery: unknown.') },
      { reservation: 'b', error: expect.objectContaining({ name: 'ValiError' }) },
    ]);
    expect(await one.reservations()).toHaveLength(2);
  });

  test('frees the Idempotency-Key of a settled delivery', async () => {
    const one = await trial();
    for (const key of ['mine', 'other']) await claimKey(one.store, one.accountId, key);
    one.before.call = fail();
    await expect(one.take({ keyHash: 'mine' })).rejects.toBe(failure);
    expect(await keysOf(one.store)).toEqual(['mine', 'other']);
    delete one.before.call;
    await recoverDeliveries(one.runtime, new Set());
    expect(await keysOf(one.store)).toEqual(['other']);
  });
});

describe('a delivery whose reservation another instance takes over', () => {
  /** Two instances. The first one is declared dead while it delivers, and the second one recovers its delivery. */
  async function takenOver(kind: 'give' | 'take', during: 'call' | 'confirm') {
    const { store } = await sharedStore();
    const one = await trialOn(store);
    const [first, second] = [await one.runtime('one'), await one.runtime('two')];
    one.before[during] = async () => {
      delete one.before[during];
      await store.commit(({ db }) => db.deleteFrom('instances').where('id', '=', 'one').execute());
      expect(await recoverDeliveries(second, new Set())).toEqual({ settled: 1, failures: [], failedTasks: [] });
    };
    const request = { accountId: one.accountId, amount: 5 };
    const deliver = () =>
      kind === 'give'
        ? deliverTrial(first, (steps: Steps<string>) => one.give(steps, request))
        : deliverTrial(first, (steps: Steps<void>) => one.take(steps, request));
    return { ...one, deliver };
  }

  test('is not confirmed after it was undone', async () => {
    const one = await takenOver('give', 'call');
    await expect(one.deliver()).rejects.toThrow(ReservationLostError);
    expect(one.steps).toEqual([{ step: 'reserve' }, { step: 'call', token: 1 }, { step: 'compensate', token: 2 }, { step: 'rollBack' }]);
    expect([await one.amounts(), await one.reservations()]).toEqual([NOTHING_LEFT, []]);
  });

  test('is not finished twice', async () => {
    const one = await takenOver('take', 'call');
    await expect(one.deliver()).rejects.toThrow('Another instance has taken over the reservation and recovers it.');
    expect(await one.amounts()).toEqual({ held: 0, unpaid: 5 });
    expect(one.steps.map(({ step }) => step)).toEqual(['reserve', 'call', 'call', 'confirm']);
  });

  test.each(['give', 'take'] as const)('%s: reports the lost reservation, not the failure of its late call', async (kind) => {
    const one = await takenOver(kind, 'call');
    const recover = one.before.call;
    one.before.call = async () => {
      await recover?.();
      throw failure;
    };
    await expect(one.deliver()).rejects.toMatchObject({ name: 'StoreUnavailableError', cause: failure });
  });

  test('stays with a live instance', async () => {
    const { store } = await sharedStore();
    const one = await trialOn(store);
    const [first, second] = [await one.runtime('one'), await one.runtime('two')];
    one.before.call = async () => {
      expect(await recoverDeliveries(second, new Set())).toEqual({ settled: 0, failures: [], failedTasks: [] });
    };
    const request = { accountId: one.accountId, amount: 5 };
    await expect(deliverTrial(first, (steps: Steps<string>) => one.give(steps, request))).resolves.toBe('given 5');
  });
});
