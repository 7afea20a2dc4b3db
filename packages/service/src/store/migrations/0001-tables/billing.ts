import { sql } from 'kysely';

import type { CreateTable, Integer } from './create-table.ts';

export async function createBilling(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'invoices',
    sql`
      id text primary key not null,
      account_id text not null references accounts (id),
      created ${integer} not null,
      period_start ${integer} not null,
      period_end ${integer} not null,
      total ${integer} not null,
      status text not null,
      credited ${integer} not null default 0,
      paid ${integer} not null default 0 check (paid >= 0),
      number text,
      constraint credited_up_to_total check (credited between 0 and total),
      constraint one_invoice_a_period unique (account_id, period_start)
    `,
  );
  // No foreign key to the VM, because a position outlives its VM.
  await createTable(
    'positions',
    sql`
      vm_id ${integer} not null,
      number ${integer} not null,
      account_id text not null,
      invoice_id text references invoices (id),
      type text not null,
      start ${integer} not null,
      stop ${integer} check (stop >= start),
      monthly_price ${integer} not null,
      hold ${integer} not null,
      hostname text not null,
      hostsystem text not null,
      cores ${integer} not null,
      mem ${integer} not null,
      disk ${integer} not null,
      storage ${integer},
      ips ${integer} not null,
      backup_slots ${integer} not null,
      network_speed ${integer} not null,
      constraint positions_key primary key (vm_id, number)
    `,
  );
  await createTable(
    'charges',
    sql`
      id text primary key not null,
      account_id text not null references accounts (id),
      invoice_id text references invoices (id),
      kind text not null,
      subject text not null,
      type text not null,
      start ${integer} not null,
      stop ${integer} not null check (stop >= start),
      amount ${integer} not null check (amount >= 0),
      created ${integer} not null
    `,
  );
}

export async function createDocuments(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'billing_profiles',
    sql`
      account_id text primary key not null references accounts (id),
      company text not null,
      street text not null,
      postal_code text not null,
      city text not null,
      country text not null,
      vat_id text,
      reverse_charge ${integer} not null,
      tax_statuses text,
      language text not null default 'en',
      constraint reverse_charge_needs_vat_id check (reverse_charge = 0 or vat_id is not null)
    `,
  );
  await createTable(
    'document_series',
    sql`
      kind text primary key not null,
      prefix text not null,
      next_number ${integer} not null,
      digits ${integer} not null
    `,
  );
  await createTable(
    'issued_documents',
    sql`
      id text primary key not null,
      account_id text not null references accounts (id),
      invoice_id text not null references invoices (id),
      kind text not null,
      name text,
      number text not null,
      net ${integer} not null,
      vat ${integer} not null,
      vat_by_rate text not null default '[]',
      reason text,
      issued ${integer} not null,
      due ${integer},
      content text not null,
      pdf text,
      constraint one_number unique (number),
      constraint one_name_an_invoice unique (invoice_id, name)
    `,
  );
  await createTable(
    'logos',
    sql`
      hash text primary key not null,
      image text not null
    `,
  );
}

export async function createPayments(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'payments',
    sql`
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
    `,
  );
  await createTable(
    'payment_uses',
    sql`
      payment_id text not null references payments (id),
      used_for text not null,
      kind text not null check (kind in ('invoice', 'refund')),
      amount ${integer} not null check (amount > 0),
      constraint payment_uses_key primary key (payment_id, used_for)
    `,
  );
}
