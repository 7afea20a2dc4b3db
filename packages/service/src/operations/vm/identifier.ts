import { sql } from 'kysely';

import { VM_IDENTIFIERS } from '../../generated/facts.gen.ts';
import { randomInteger } from '../../ports/random.ts';
import type { Random } from '../../ports/random.ts';
import { Refusal } from '../../refusal.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';

const { minimum: LEAST, maximum: MOST } = VM_IDENTIFIERS;

/**
 * A free VM identifier, a five-digit number (specification: "VM create result"): the first one
 * from a random place on, so that identifiers do not tell how many VMs there are.
 *
 * @throws Refusal 409 when every identifier is taken.
 */
export async function freeVmIdentifier(db: Db, random: Random): Promise<number> {
  const from = LEAST + randomInteger(random, MOST - LEAST + 1);
  const found = (await firstFree(db, from, MOST)) ?? (await firstFree(db, LEAST, from));
  if (found === undefined) throw new Refusal(409, 'out_of_capacity', 'No further VM can be created at the moment. Ask the provider.');
  return found;
}

const vmsOf = prepared<{ id: number }, { id: number }>((db, parameter) =>
  db.selectFrom('vms').select('id').where('id', '=', parameter('id')),
);

async function firstFree(db: Db, from: number, to: number): Promise<number | undefined> {
  if ((await vmsOf(db, { id: from })).length === 0) return from;
  const next = await db
    .selectFrom('vms as vm')
    .select(sql<number>`vm.id + 1`.as('id'))
    .where('vm.id', '>=', from)
    .where('vm.id', '<', to)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('vms as next')
            .select('next.id')
            .where(sql<boolean>`next.id = vm.id + 1`),
        ),
      ),
    )
    .orderBy('vm.id')
    .limit(1)
    .executeTakeFirst();
  return next?.id;
}
