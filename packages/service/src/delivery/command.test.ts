import { describe, expect, test } from 'vitest';

import { seededStore } from '../../test/shared-store.ts';
import { trialOn } from '../../test/trial-deliveries.ts';
import type { Db } from '../store/store.ts';
import { runCommand } from './command.ts';

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
  return { ...one, runtime, request, seen, hooks };
}

describe('a command', () => {
  test('that gives something runs its hooks before its reservation and after its confirmation', async () => {
    const { runtime, give, request, hooks, seen } = await newHooks();
    await expect(runCommand(runtime, give, request, hooks)).resolves.toBe('given 5');
    expect(seen).toEqual([
      ['before', 0, 0, undefined],
      ['after', 0, 5, 'confirm'],
    ]);
  });

  test('that takes something away runs its hooks before and after its reservation, which is when it takes effect', async () => {
    const { runtime, take, request, hooks, seen } = await newHooks();
    await expect(runCommand(runtime, take, request, hooks)).resolves.toBe('taken 5');
    expect(seen).toEqual([
      ['before', 0, 0, undefined],
      ['after', 5, 0, 'reserve'],
    ]);
  });

  test('needs no hooks, and belongs to no Idempotency-Key', async () => {
    const { runtime, give, request, before, reservations, clock } = await newHooks();
    let during: Awaited<ReturnType<typeof reservations>> = [];
    before.call = async () => {
      during = await reservations();
    };
    await expect(runCommand(runtime, give, request)).resolves.toBe('given 5');
    expect(during).toMatchObject([{ delivery: 'give', key_hash: null }]);
    // A UUID of version 7 begins with the time.
    expect(Number.parseInt(during[0]?.id.replaceAll('-', '').slice(0, 12) ?? '', 16)).toBe(clock.now());
  });

  test('without a result ends when it is delivered', async () => {
    const { runtime, give, request, steps } = await newHooks();
    const nothing = { ...give, reserve: async () => ({ result: '' }) };
    await expect(runCommand(runtime, nothing, request)).resolves.toBe('');
    expect(steps).toEqual([]);
  });

  test('whose hook fails changes nothing', async () => {
    for (const when of ['before', 'after'] as const) {
      const { runtime, give, take, request, amounts, reservations } = await newHooks();
      const hooks = {
        before: async () => {},
        after: async () => {},
        [when]: async () => {
          throw failure;
        },
      };
      await expect(runCommand(runtime, give, request, hooks)).rejects.toBe(failure);
      await expect(runCommand(runtime, take, request, hooks)).rejects.toBe(failure);
      expect([await amounts(), await reservations()]).toEqual([{ held: 0, unpaid: 0 }, []]);
    }
  });
});
