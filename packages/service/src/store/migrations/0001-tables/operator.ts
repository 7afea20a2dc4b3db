import { sql } from 'kysely';

import type { CreateTable, Integer } from './create-table.ts';

export async function createOperatorTables(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'identity',
    sql`
      id ${integer} primary key not null check (id = 1),
      secret_verifier text not null,
      mode text not null,
      service_id text
    `,
  );
  await createTable(
    'settings',
    sql`
      name text primary key not null,
      value text not null
    `,
  );
  await createTable(
    'catalogue_version',
    sql`
      id ${integer} primary key not null check (id = 1),
      version text not null
    `,
  );
  await createTable(
    'faults',
    sql`
      id text primary key not null,
      operations text,
      api_key_ids text,
      effect text not null,
      times ${integer} not null,
      remaining ${integer} not null check (remaining between 0 and times),
      created ${integer} not null
    `,
  );
  await createTable(
    'snapshots',
    sql`
      name text primary key not null,
      taken ${integer} not null
    `,
  );
  await createTable(
    'snapshot_rows',
    sql`
      snapshot text not null references snapshots (name),
      position ${integer} not null,
      table_name text not null,
      rows text not null,
      constraint snapshot_rows_key primary key (snapshot, position)
    `,
  );
}

export async function createAccess(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'operator_tokens',
    sql`
      id text primary key not null,
      name text not null,
      hash text not null unique,
      scopes text not null,
      created ${integer} not null,
      valid_until ${integer},
      revoked ${integer},
      created_by text
    `,
  );
  await createTable(
    'ended_sessions',
    sql`
      hash text primary key not null,
      ends ${integer} not null
    `,
  );
  await createTable(
    'failed_authentications',
    sql`
      minute ${integer} not null,
      api text not null,
      network text not null,
      count ${integer} not null,
      constraint failed_authentications_key primary key (minute, api, network)
    `,
  );
  await createTable(
    'confirmations',
    sql`
      operation text not null,
      target text not null,
      actor text not null,
      requested ${integer} not null,
      constraint confirmations_key primary key (operation, target)
    `,
  );
}

export async function createAudit(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'audit_records',
    sql`
      id text primary key not null,
      time ${integer} not null,
      actor text not null,
      actor_name text not null,
      address text not null,
      operation text not null,
      target text,
      state_before text not null,
      state_after text not null,
      request_id text not null,
      seq ${integer},
      salt text,
      content_hash text,
      hash text
    `,
  );
  await createTable(
    'audit_chain',
    sql`
      id ${integer} primary key not null check (id = 1),
      seq ${integer} not null,
      hash text not null,
      deleted_seq ${integer} not null,
      deleted_hash text not null
    `,
  );
}
