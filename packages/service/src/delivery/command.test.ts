import { describe, expect, test } from 'vitest';

import { seededStore } from '../../test/shared-store.ts';
import { trialOn } from '../../test/trial-deliveries.ts';
import type { Db } from '../store/store.ts';
import { runCommand } from './command.ts';
import type { Steps } from './steps.ts';

const failure = new Error('The port failed.');

/** Hooks that record the amounts of the account before and after the change, in the transaction of the change. */
async function newHooks() {
  const one = await trialOn(await seededStore());
  const runtime = await one.runtime();
  const seen: unknown[] = [];
  const look = (when: string) => async (db: Db) => {
    const amounts = await db.selectFrom('accounts').select(['held', 'unpaid']).where('id', '=', one.accountId).executeTakeFirstOrThrow();
    seen.push([when, amounts.held, amounts.unpaid, one.steps.at(-1)?.step]);
  };
  const hooks = { before: look('before'), after: look('after') };
  const request = { accountId: one.accountId, amount: 5 };
  const give = (steps: Steps<string>) => one.give(steps, request);
  const take = (steps: Steps<void>) => one.take(steps, request);
  return { ...one, runtime, give, take, seen, hooks };
}

describe('a command', () => {
  test('that gives something runs its hooks before its reservation and after its confirmation', async () => {
    const { runtime, give, hooks, seen } = await newHooks();
    await expect(runCommand(runtime, give, hooks)).resolves.toBe('given 5');
    expect(seen).toEqual([
      ['before', 0, 0, undefined],
      ['after', 0, 5, 'confirm'],
    ]);
  });

  test('that takes something away runs its hooks before and after its reservation, which is when it takes effect', async () => {
    const { runtime, take, hooks, seen } = await newHooks();
    await expect(runCommand(runtime, take, hooks)).resolves.toBeUndefined();
    expect(seen).toEqual([
      ['before', 0, 0, undefined],
      ['after', 5, 0, 'reserve'],
    ]);
  });

  test('needs no hooks, and belongs to no Idempotency-Key', async () => {
    const { runtime, give, before, reservations, clock } = await newHooks();
    let during: Awaited<ReturnType<typeof reservations>> = [];
    before.call = async () => {
      during = await reservations();
    };
    await expect(runCommand(runtime, give)).resolves.toBe('given 5');
    expect(during).toMatchObject([{ delivery: 'give', key_hash: null }]);
    // A UUID of version 7 begins with the time.
    expect(Number.parseInt(during[0]?.id.replaceAll('-', '').slice(0, 12) ?? '', 16)).toBe(clock.now());
  });

  test('that is in place runs its hooks, and calls no port', async () => {
    const { runtime, giving, steps, seen, hooks } = await newHooks();
    const nothing = async (change: Steps<string>) => {
      await change.reserve(giving, async () => change.inPlace('in place'));
      throw new Error('A change that is in place goes no further.');
    };
    await expect(runCommand(runtime, nothing, hooks)).resolves.toBe('in place');
    expect(steps).toEqual([]);
    expect(seen).toEqual([
      ['before', 0, 0, undefined],
      ['after', 0, 0, undefined],
    ]);
  });

  test('whose hook fails changes nothing', async () => {
    for (const when of ['before', 'after'] as const) {
      const { runtime, give, take, amounts, reservations } = await newHooks();
      const hooks = {
        before: async () => {},
        after: async () => {},
        [when]: async () => {
          throw failure;
        },
      };
      await expect(runCommand(runtime, give, hooks)).rejects.toBe(failure);
      await expect(runCommand(runtime, take, hooks)).rejects.toBe(failure);
      expect([await amounts(), await reservations()]).toEqual([{ held: 0, unpaid: 0 }, []]);
    }
  });
});
