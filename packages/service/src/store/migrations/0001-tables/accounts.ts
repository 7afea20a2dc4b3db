import { sql } from 'kysely';

import type { CreateTable, Integer } from './create-table.ts';

export async function createAccounts(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'accounts',
    sql`
      id text primary key not null,
      name text not null,
      credit_limit ${integer} not null check (credit_limit >= 0),
      unpaid ${integer} not null check (unpaid >= 0),
      held ${integer} not null check (held >= 0),
      balance ${integer} not null default 0 check (balance >= 0),
      balance_credit ${integer} not null default 0 check (balance_credit >= 0),
      period_start ${integer} not null,
      max_vms ${integer} check (max_vms >= 0),
      max_handles ${integer} check (max_handles >= 0),
      suspended_at ${integer},
      suspension_reason text,
      erased_at ${integer},
      isolated ${integer} not null default 0,
      created ${integer} not null,
      constraint suspended_with_reason check ((suspended_at is null) = (suspension_reason is null))
    `,
  );
  await createTable(
    'spending_limits',
    sql`
      id text primary key not null,
      account_id text not null references accounts (id),
      per_day ${integer},
      per_month ${integer},
      operations text
    `,
  );
  await createTable(
    'spendings',
    sql`
      limit_id text not null references spending_limits (id),
      period text not null,
      spent ${integer} not null,
      constraint spendings_key primary key (limit_id, period)
    `,
  );
  await createTable(
    'api_keys',
    sql`
      id text primary key not null,
      account_id text not null references accounts (id),
      hash text not null unique,
      label text not null,
      mode text not null default 'sandbox',
      access text not null default 'full' check (access in ('full', 'read')),
      reads_secrets ${integer} not null default 0,
      rate_requests ${integer},
      rate_seconds ${integer},
      limit_id text references spending_limits (id),
      allowed_networks text,
      last_used ${integer},
      valid_until ${integer},
      rotated ${integer} not null default 0,
      created ${integer} not null,
      revoked ${integer}
    `,
  );
}

export async function createCodes(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'otps',
    sql`
      account_id text primary key not null references accounts (id),
      hash text not null,
      expires ${integer} not null,
      used ${integer} not null
    `,
  );
  await createTable(
    'verifiers',
    sql`
      id text primary key not null,
      name text not null,
      hash text not null unique,
      created ${integer} not null,
      revoked ${integer}
    `,
  );
  await createTable(
    'otp_attempts',
    sql`
      verifier_id text not null,
      account_id text not null,
      since ${integer} not null,
      failed ${integer} not null check (failed >= 0),
      constraint otp_attempts_key primary key (verifier_id, account_id)
    `,
  );
}
