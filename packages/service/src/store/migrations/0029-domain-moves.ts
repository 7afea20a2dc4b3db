import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { domains, triggerOf } from './0025-events.ts';
import type { Occasion } from './0025-events.ts';
import { DOMAIN_CHANGED, replaceOccasion } from './0028-transfer-locks.ts';
import { createTrigger } from './triggers.ts';

const MOVES: readonly Occasion[] = [
  { type: 'domain.registered', change: 'update of account_id on domains', when: 'old.account_id <> new.account_id' },
  {
    type: 'domain.transferred',
    change: 'update of account_id on domains',
    when: 'old.account_id <> new.account_id',
    // The account that no longer has the domain learns nothing of the other one.
    with: { account: 'old.account_id', facts: { ...domains.facts, handle: 'old.handle', terminated: 'old.terminated' } },
  },
];

/** Adds the events of domains that move to another account, which are not changes of the domain. */
export function domainMoves(engine: Engine): Migration {
  return {
    async up(db: Kysely<Schema>) {
      await replaceOccasion(db, engine, { ...DOMAIN_CHANGED, when: `${DOMAIN_CHANGED.when} and old.account_id = new.account_id` });
      for (const [index, occasion] of MOVES.entries())
        await createTrigger(db, engine, triggerOf(engine, domains, occasion, domains.occasions.length + index));
    },
  };
}
