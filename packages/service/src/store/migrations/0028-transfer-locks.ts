import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { DELEGATION, differs, domains, IN_USE, triggerOf } from './0025-events.ts';
import type { Occasion } from './0025-events.ts';
import { createTrigger, dropTrigger } from './triggers.ts';

export const DOMAIN_CHANGED: Occasion & { readonly when: string } = {
  type: 'domain.changed',
  change: 'update on domains',
  when: `old.state in ${IN_USE} and ${differs([...DELEGATION, 'transfer_lock'])}`,
};

/** Adds the transfer lock of domains, whose change is an event. */
export function transferLocks(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table domains add column transfer_lock ${integer} not null default 0`.execute(db);
      await replaceOccasion(db, engine, DOMAIN_CHANGED);
    },
  };
}

/** Replaces the trigger of an event about domains whose type has one trigger. */
export async function replaceOccasion(db: Kysely<Schema>, engine: Engine, occasion: Occasion): Promise<void> {
  const index = domains.occasions.findIndex(({ type }) => type === occasion.type);
  const trigger = triggerOf(engine, domains, occasion, index);
  await dropTrigger(db, engine, trigger.trigger, 'domains');
  await createTrigger(db, engine, trigger);
}
