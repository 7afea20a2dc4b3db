import { describe, expect, test } from 'vitest';

import { seededStore } from '../../test/shared-store.ts';
import { trialOn } from '../../test/trial-deliveries.ts';
import type { Db } from '../store/store.ts';
import { deliverCommand } from './command.ts';

const failure = new Error('The port failed.');

/** A witness that records the amounts of the account before and after the change, in the transaction of the change. */
async function newWitness() {
  const one = await trialOn(await seededStore());
  const runtime = await one.runtime();
  const seen: unknown[] = [];
  const look = (when: string) => async (db: Db) => {
    const amounts = await db.selectFrom('accounts').select(['held', 'unpaid']).where('id', '=', one.accountId).executeTakeFirstOrThrow();
    seen.push([when, amounts.held, amounts.unpaid, one.steps.at(-1)?.step]);
  };
  const witness = { before: look('before'), after: look('after') };
  const request = { accountId: one.accountId, amount: 5 };
  return { ...one, runtime, request, seen, witness };
}

describe('a command', () => {
  test('that gives something calls the witness before its reservation and after its confirmation', async () => {
    const { runtime, give, request, witness, seen } = await newWitness();
    await expect(deliverCommand(runtime, 'give', give, request, witness)).resolves.toBe('given 5');
    expect(seen).toEqual([
      ['before', 0, 0, 'draw'],
      ['after', 0, 5, 'confirm'],
    ]);
  });

  test('that takes something away calls the witness before and after its reservation, which is when it takes effect', async () => {
    const { runtime, take, request, witness, seen } = await newWitness();
    await expect(deliverCommand(runtime, 'take', take, request, witness)).resolves.toBe('taken 5');
    expect(seen).toEqual([
      ['before', 0, 0, undefined],
      ['after', 5, 0, 'reserve'],
    ]);
  });

  test('needs no witness, and belongs to no Idempotency-Key', async () => {
    const { runtime, give, request, before, reservations, clock } = await newWitness();
    let during: Awaited<ReturnType<typeof reservations>> = [];
    before.call = async () => {
      during = await reservations();
    };
    await expect(deliverCommand(runtime, 'give', give, request)).resolves.toBe('given 5');
    expect(during).toMatchObject([{ delivery: 'give', key_hash: null }]);
    // A UUID of version 7 begins with the time.
    expect(Number.parseInt(during[0]?.id.replaceAll('-', '').slice(0, 12) ?? '', 16)).toBe(clock.now());
  });

  test('without a result ends when it is delivered', async () => {
    const { runtime, give, request, steps } = await newWitness();
    const nothing = { ...give, reserve: async () => ({ result: '' }) };
    await expect(deliverCommand(runtime, 'give', nothing, request)).resolves.toBe('');
    expect(steps.map(({ step }) => step)).toEqual(['draw']);
  });

  test('whose witness fails changes nothing', async () => {
    for (const when of ['before', 'after'] as const) {
      const { runtime, give, take, request, amounts, reservations } = await newWitness();
      const witness = {
        before: async () => {},
        after: async () => {},
        [when]: async () => {
          throw failure;
        },
      };
      await expect(deliverCommand(runtime, 'give', give, request, witness)).rejects.toBe(failure);
      await expect(deliverCommand(runtime, 'take', take, request, witness)).rejects.toBe(failure);
      expect([await amounts(), await reservations()]).toEqual([{ held: 0, unpaid: 0 }, []]);
    }
  });
});
