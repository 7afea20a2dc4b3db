import { sql } from 'kysely';

import type { CreateTable, Integer } from './create-table.ts';

export async function createRequests(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'request_log_bodies',
    sql`
      month ${integer} not null,
      account_id text not null,
      hash text not null,
      body text not null,
      size ${integer},
      stored ${integer},
      constraint request_log_bodies_key primary key (month, account_id, hash)
    `,
  );
  await createTable(
    'idempotency_keys',
    sql`
      account_id text not null,
      key_hash text not null,
      fingerprint text not null,
      state text not null,
      response text,
      created ${integer} not null,
      constraint idempotency_keys_key primary key (account_id, key_hash)
    `,
  );
}

export async function createDeliveries(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'reservations',
    sql`
      id text primary key not null,
      account_id text not null,
      delivery text not null,
      details text not null,
      subject text not null,
      owner text not null,
      key_hash text,
      created ${integer} not null,
      extra_hold ${integer} not null default 0,
      task text,
      task_percentage ${integer},
      undoing ${integer} not null default 0
    `,
  );
  await createTable(
    'fencing_tokens',
    sql`
      subject text primary key not null,
      token ${integer} not null
    `,
  );
  await createTable(
    'instances',
    sql`
      id text primary key not null,
      lease_until ${integer} not null,
      serves text
    `,
  );
  await createTable(
    'clock_mark',
    sql`
      id ${integer} primary key not null check (id = 1),
      newest ${integer} not null
    `,
  );
  await createTable(
    'failed_jobs',
    sql`
      account_id text not null,
      work text not null,
      kind text not null,
      subject text not null,
      due ${integer} not null,
      reason text not null,
      attempts ${integer} not null,
      last_attempt ${integer} not null,
      next_attempt ${integer} not null,
      constraint failed_jobs_key primary key (account_id, work)
    `,
  );
}
