import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds payments, the balance of an account, and the paid amount of an invoice. Invoices that were marked paid before have no payment. */
export function payments(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const strict = sql.raw(engine === 'sqlite' ? ' strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      await sql`
        create table payments (
          id text primary key not null,
          account_id text not null references accounts (id),
          kind text not null check (kind in ('payment', 'refund')),
          name text not null,
          amount ${integer} not null check (amount > 0),
          date text not null,
          method text not null,
          reference text not null,
          invoice_id text references invoices (id),
          unused ${integer} not null check (unused >= 0),
          created ${integer} not null,
          reversed ${integer},
          reversal_reason text,
          constraint payments_name unique (account_id, name)
        )${strict}
      `.execute(db);
      await sql`create index payments_by_time on payments (created, id)`.execute(db);
      await sql`
        create table payment_uses (
          payment_id text not null references payments (id),
          used_for text not null,
          kind text not null check (kind in ('invoice', 'refund')),
          amount ${integer} not null check (amount > 0),
          constraint payment_uses_key primary key (payment_id, used_for)
        )${strict}
      `.execute(db);
      await sql`create index uses_by_purpose on payment_uses (used_for)`.execute(db);
      await sql`alter table accounts add column balance ${integer} not null default 0 check (balance >= 0)`.execute(db);
      await sql`alter table accounts add column balance_credit ${integer} not null default 0 check (balance_credit >= 0)`.execute(db);
      await sql`alter table invoices add column paid ${integer} not null default 0 check (paid >= 0)`.execute(db);
    },
  };
}
