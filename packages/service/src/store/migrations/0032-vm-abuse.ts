import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { differs, triggerOf } from './0025-events.ts';
import type { Family } from './0025-events.ts';
import { createTrigger } from './triggers.ts';

const ABUSE: Family = {
  account: 'row.account_id',
  subject: `'vm/' || row.id`,
  facts: { vmid: 'row.id', abuse_status: 'row.abuse_status', reason: 'row.abuse_reason' },
  occasions: [
    {
      type: 'vm.abuse.changed',
      change: 'update of abuse_status, abuse_reason on vms',
      when: `new.abuse_reason is not null and ${differs(['abuse_status', 'abuse_reason'])}`,
    },
  ],
};

/** Adds the complaints about VMs: their status, the reason of the provider and the statement of the reseller. A new status is an event. */
export function vmAbuse(engine: Engine): Migration {
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table vms add column abuse_status text not null default 'CLEAN'`.execute(db);
      await sql`alter table vms add column abuse_reason text`.execute(db);
      await sql`alter table vms add column abuse_statement text`.execute(db);
      for (const [index, occasion] of ABUSE.occasions.entries()) await createTrigger(db, engine, triggerOf(engine, ABUSE, occasion, index));
    },
  };
}
