import type { FencingToken } from '@reseller/adapters';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';

import { engines } from '../../test/engines.ts';
import { seededStore, sharedStore } from '../../test/shared-store.ts';
import { trialOn } from '../../test/trial-deliveries.ts';
import type { Store } from '../store/store.ts';
import type { Instance } from './instance.ts';
import {
  issueToken,
  claimReservation,
  deleteReservation,
  disownReservations,
  enqueueReservation,
  keepReservation,
  recoverableReservations,
} from './reservation.ts';
import type { NewReservation } from './reservation.ts';

const SUBJECT = 'server/server-1';
const reservation = (id: string, subject: NewReservation['subject'] = SUBJECT): NewReservation => ({
  id,
  accountId: 'account-1',
  delivery: 'give',
  details: '{}',
  keyHash: null,
  subject,
});

async function instances() {
  const { store } = await sharedStore();
  const trial = await trialOn(store);
  const [one, two] = [await trial.runtime('one'), await trial.runtime('two')].map(({ instance }) => instance);
  if (!one || !two) throw new Error('An instance is missing.');
  return { store, one, two };
}
async function keep(store: Store, id: string, owner: Instance, now = 0) {
  const kept = Promise.withResolvers<FencingToken>();
  await store.commit(async (transaction) => kept.resolve(keepReservation(transaction, reservation(id), { owner, now })));
  return kept.promise;
}
const enqueue = (store: Store, id: string, subject?: NewReservation['subject'], now = 0) =>
  store.commit(({ db }) => enqueueReservation(db, reservation(id, subject), now));
const ownersOf = (store: Store) =>
  store.read((db) => db.selectFrom('reservations').select(['id', 'owner', 'created']).orderBy('id').execute());
const idsOf = async (store: Store, instance: Instance) => (await recoverableReservations(store, instance)).map(({ id }) => id);
const leave = (store: Store, { id }: Instance) => store.commit(({ db }) => db.deleteFrom('instances').where('id', '=', id).execute());

describe('a kept reservation', () => {
  test('belongs to its instance, and only that instance can delete it, once', async () => {
    const { store, one, two } = await instances();
    await keep(store, 'a', one, 7);
    expect(await ownersOf(store)).toEqual([{ id: 'a', owner: 'one', created: 7 }]);
    const remove = (owner: Instance) => store.commit(({ db }) => deleteReservation(db, 'a', owner));
    expect([await remove(two), await remove(one), await remove(one)]).toEqual([false, true, false]);
  });

  test('gets the next token of its subject', async () => {
    const { store, one } = await instances();
    const tokens = [];
    for (const id of ['a', 'b']) tokens.push(await keep(store, id, one));
    expect(tokens).toEqual([1, 2]);
  });

  test('is claimed by its own instance, or by others after its death, each time with a higher token', async () => {
    const { store, one, two } = await instances();
    await keep(store, 'a', one);
    const claim = (instance: Instance) => claimReservation(store, instance, { id: 'a', subject: SUBJECT });
    expect([await claim(two), await claim(one)]).toEqual([undefined, 2]);
    await leave(store, one);
    expect(await claim(two)).toBe(3);
    expect(await ownersOf(store)).toMatchObject([{ owner: 'two' }]);
    // The second instance considers the first one dead, but not the reverse.
    expect(await claim(one)).toBeUndefined();
  });

  test('that no longer exists is not claimed, and no token is issued', async () => {
    const { store, one } = await instances();
    expect(await claimReservation(store, one, { id: 'gone', subject: SUBJECT })).toBeUndefined();
    expect(await store.read((db) => db.selectFrom('fencing_tokens').select('token').where('subject', '=', SUBJECT).execute())).toEqual([]);
  });

  test('is not affected by the claim of another one', async () => {
    const { store, one, two } = await instances();
    for (const id of ['a', 'b']) await keep(store, id, one);
    await leave(store, one);
    await claimReservation(store, two, { id: 'a', subject: SUBJECT });
    expect(await ownersOf(store)).toMatchObject([
      { id: 'a', owner: 'two' },
      { id: 'b', owner: 'one' },
    ]);
  });
});

describe('an enqueued reservation', () => {
  test('belongs to no instance, so that any instance can recover it', async () => {
    const { store, one, two } = await instances();
    await enqueue(store, 'a', SUBJECT, 7);
    expect(await ownersOf(store)).toEqual([{ id: 'a', owner: '', created: 7 }]);
    expect([await idsOf(store, one), await idsOf(store, two)]).toEqual([['a'], ['a']]);
  });

  test('supersedes only earlier ones of its subject, whose late calls become stale', async () => {
    const { store, one } = await instances();
    await enqueue(store, 'a');
    await enqueue(store, 'other', 'server/server-2');
    const token = await claimReservation(store, one, { id: 'a', subject: SUBJECT });
    await enqueue(store, 'b');
    expect((await ownersOf(store)).map(({ id }) => id)).toEqual(['b', 'other']);
    const newest = await store.commit(({ db }) => issueToken(db, SUBJECT));
    // One token for the first enqueueing, one for the claim, one for the second enqueueing, and this one.
    expect([token, newest]).toEqual([2, 4]);
    expect(await store.commit(({ db }) => deleteReservation(db, 'a', one))).toBe(false);
  });
});

test('returns recoverable reservations in the order of their creation, with the columns that recovery needs', async () => {
  const { store, one, two } = await instances();
  await keep(store, 'c', one, 1);
  await keep(store, 'b', one, 2);
  await keep(store, 'a', one, 2);
  await keep(store, 'd', two, 0);
  expect(await idsOf(store, one)).toEqual(['c', 'a', 'b']);
  const [first] = await recoverableReservations(store, one);
  expect(first).toEqual({
    id: 'c',
    accountId: 'account-1',
    delivery: 'give',
    details: '{}',
    keyHash: null,
    task: null,
    undoing: false,
    subject: 'server/server-1',
  });
  await leave(store, one);
  expect(await idsOf(store, two)).toEqual(['d', 'c', 'a', 'b']);
});

test('leaves every reservation to recovery after a restore', async () => {
  const { store, one, two } = await instances();
  await keep(store, 'a', one);
  await store.commit(({ db }) => disownReservations(db));
  expect(await ownersOf(store)).toMatchObject([{ owner: '' }]);
  expect(await idsOf(store, two)).toEqual(['a']);
});

test.each(engines)('%s: increases the token of a subject by one, and not that of others', async (engine) => {
  const store = await seededStore(engine);
  const issue = (subject: NewReservation['subject']) => store.commit(({ db }) => issueToken(db, subject));
  expect([await issue(SUBJECT), await issue(SUBJECT), await issue('server/server-2'), await issue(SUBJECT)]).toEqual([1, 2, 1, 3]);
});

describe('PostgreSQL', () => {
  async function onPostgres() {
    const store = await seededStore('postgres');
    const trial = await trialOn(store);
    const [one, two] = [await trial.runtime('one'), await trial.runtime('two')].map(({ instance }) => instance);
    if (!one || !two) throw new Error('An instance is missing.');
    return { store, one, two };
  }
  /** Resolves when another transaction waits for a lock in this database. */
  async function untilATransactionWaits(store: Store): Promise<void> {
    await expect
      .poll(() =>
        store.read(async (db) => {
          const { count } = await db
            .selectNoFrom(() =>
              sql<number>`(select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`.as(
                'count',
              ),
            )
            .executeTakeFirstOrThrow();
          return Number(count);
        }),
      )
      .toBeGreaterThan(0);
  }

  test('a claim waits for the transaction that confirms the reservation, and then does not find it', { tags: 'outer' }, async () => {
    const { store, one } = await onPostgres();
    await keep(store, 'a', one);
    const deleted = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const confirming = store.commit(async ({ db }) => {
      const isOwn = await deleteReservation(db, 'a', one);
      deleted.resolve();
      await mayCommit.promise;
      return isOwn;
    });
    await deleted.promise;
    const claiming = claimReservation(store, one, { id: 'a', subject: SUBJECT });
    await untilATransactionWaits(store);
    mayCommit.resolve();
    expect([await confirming, await claiming]).toEqual([true, undefined]);
  });

  test('a confirmation waits for the transaction that claims the reservation, and then reports it as lost', { tags: 'outer' }, async () => {
    const { store, one, two } = await onPostgres();
    await keep(store, 'a', one);
    const claimed = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const claiming = store.commit(async ({ db }) => {
      await db.updateTable('reservations').set({ owner: two.id }).where('id', '=', 'a').execute();
      claimed.resolve();
      await mayCommit.promise;
    });
    await claimed.promise;
    const confirming = store.commit(({ db }) => deleteReservation(db, 'a', one));
    await untilATransactionWaits(store);
    mayCommit.resolve();
    await claiming;
    expect(await confirming).toBe(false);
  });

  test('one of two instances that claim the reservation of a dead one concurrently gets it', { tags: 'outer' }, async () => {
    const { store, one, two } = await onPostgres();
    await store.commit(({ db }) => enqueueReservation(db, reservation('a'), 0));
    // Locks the row until both instances wait for it.
    const held = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const holding = store.commit(async ({ db }) => {
      await db.updateTable('reservations').set({ created: 1 }).where('id', '=', 'a').execute();
      held.resolve();
      await mayCommit.promise;
    });
    await held.promise;
    const claims = [one, two].map((instance) => claimReservation(store, instance, { id: 'a', subject: SUBJECT }));
    await untilATransactionWaits(store);
    mayCommit.resolve();
    await holding;
    const tokens = await Promise.all(claims);
    expect(tokens.filter((token) => token !== undefined)).toEqual([2]);
    expect(await ownersOf(store)).toMatchObject([{ owner: tokens[0] === undefined ? 'two' : 'one' }]);
  });
});
