import { sql } from 'kysely';
import type { Kysely, RawBuilder } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { createCatalogueTriggers } from './catalogue-triggers.ts';

/** All tables of the first schema. The files in tables/ say what the columns mean. Later migrations change it; this file stays as it is. */
export function firstSchema(engine: Engine): Migration {
  // 64 bits on both engines.
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const options = sql.raw(engine === 'sqlite' ? ' strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      async function createTable(name: keyof Schema, columns: RawBuilder<unknown>): Promise<void> {
        await sql`create table ${sql.table(name)} (${columns})${options}`.execute(db);
      }
      await createAccounts(createTable, integer);
      await createCodes(createTable, integer);
      await createHostSystems(createTable, integer);
      await createSales(createTable, integer);
      await createVms(createTable, integer);
      await createDomains(createTable, integer);
      await createHandles(createTable, integer);
      await createDedicatedServers(createTable, integer);
      await createBilling(createTable, integer);
      await createDocuments(createTable, integer);
      await createPayments(createTable, integer);
      await createRequestsAndDeliveries(createTable, integer);
      await createRequestLog(db, engine, integer);
      await createOperatorTables(createTable, integer);
      await createAccess(createTable, integer);
      await createIndexes(db);
      await createCatalogueTriggers(db, engine);
      if (engine === 'postgres') await createPostgresTables(db, integer);
    },
  };
}

type CreateTable = (name: keyof Schema, columns: RawBuilder<unknown>) => Promise<void>;
type Integer = RawBuilder<unknown>;

async function createAccounts(createTable: CreateTable, integer: Integer): Promise<void> {
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

async function createCodes(createTable: CreateTable, integer: Integer): Promise<void> {
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

async function createHostSystems(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'os_images',
    sql`
      name text primary key not null,
      displayname text not null,
      username text not null
    `,
  );
  await createTable(
    'host_systems',
    sql`
      name text primary key not null,
      displayname text not null,
      datacenter_name text not null,
      datacenter_displayname text not null,
      datacenter_country text not null,
      datacenter_city text not null,
      processor text not null,
      memory text not null,
      nvme_hard_drives text not null,
      ranges text not null,
      position ${integer} not null
    `,
  );
  await createTable(
    'host_system_prices',
    sql`
      hostsystem text not null references host_systems (name),
      valid_from ${integer} not null,
      prices text not null,
      applies_to text not null check (applies_to in ('new_purchases', 'all_vms')),
      constraint host_system_prices_key primary key (hostsystem, valid_from)
    `,
  );
  await createTable(
    'host_nodes',
    sql`
      name text primary key not null,
      hostsystem text not null references host_systems (name),
      cores ${integer} not null,
      used_cores ${integer} not null check (used_cores between 0 and cores),
      mem ${integer} not null,
      used_mem ${integer} not null check (used_mem between 0 and mem),
      disk ${integer} not null,
      used_disk ${integer} not null check (used_disk between 0 and disk),
      storage ${integer} not null,
      used_storage ${integer} not null check (used_storage between 0 and storage),
      retired ${integer} not null default 0
    `,
  );
}

async function createSales(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'sales',
    sql`
      id text primary key not null,
      account_id text references accounts (id),
      title text not null,
      start ${integer} not null,
      stop ${integer} check (stop > start),
      upgradable ${integer} not null,
      max_volume ${integer} not null check (max_volume > 0),
      used_volume ${integer} not null check (used_volume between 0 and max_volume),
      ended ${integer},
      descriptions text not null,
      created ${integer} not null
    `,
  );
  await createTable(
    'sale_prices',
    sql`
      sale_id text not null references sales (id),
      hostsystem text not null references host_systems (name),
      resource text not null check (resource in ('core', 'mem', 'nvme')),
      price_net ${integer} not null check (price_net >= 0),
      constraint sale_prices_key primary key (sale_id, hostsystem, resource)
    `,
  );
}

async function createVms(createTable: CreateTable, integer: Integer): Promise<void> {
  // The tables that every purchase writes have no foreign keys to rows that many purchases share. Checking one would lock the shared row, and
  // PostgreSQL would record all transactions that lock it at the same time.
  await createTable(
    'vms',
    sql`
      id ${integer} primary key not null check (id between 10000 and 99999),
      account_id text not null,
      state text not null,
      hostsystem text not null,
      node text not null,
      cores ${integer} not null,
      mem ${integer} not null,
      disk ${integer} not null,
      os text not null,
      ips ${integer} not null,
      backup_slots ${integer} not null,
      network_speed ${integer} not null,
      hostname text not null,
      storage ${integer},
      ssh_key text,
      ssh_key_displayname text,
      default_ptr text not null,
      monthly_price ${integer} not null,
      prices_from ${integer} not null,
      price_basis text not null,
      sale_id text,
      changing ${integer} not null default 0,
      booted ${integer},
      stopped_by_provider ${integer} not null default 0,
      removed ${integer},
      created ${integer} not null
    `,
  );
  await createTable(
    'ip_pools',
    sql`
      id text primary key not null,
      family ${integer} not null check (family in (4, 6)),
      datacenter_name text not null,
      account_id text references accounts (id),
      cidr text not null,
      gateway text not null,
      ddos_protection text not null
    `,
  );
  await createTable(
    'ip_addresses',
    sql`
      address text primary key not null,
      pool_id text not null references ip_pools (id),
      position ${integer} not null,
      datacenter_name text not null,
      family ${integer} not null,
      owner text not null,
      vm_id ${integer} references vms (id),
      pending ${integer} not null default 0
    `,
  );
}

async function createDomains(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'tlds',
    sql`
      tld text primary key not null
    `,
  );
  await createTable(
    'tld_prices',
    sql`
      tld text not null references tlds (tld),
      valid_from ${integer} not null,
      create_price ${integer} not null check (create_price >= 0),
      renew_price ${integer} not null check (renew_price >= 0),
      transfer_price ${integer} not null check (transfer_price >= 0),
      constraint tld_prices_key primary key (tld, valid_from)
    `,
  );
}

async function createHandles(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'handles',
    sql`
      id text primary key not null,
      account_id text not null references accounts (id),
      type text not null,
      gender text not null,
      firstname text not null,
      lastname text not null,
      organisation text,
      street text not null,
      number text not null,
      zipcode text not null,
      city text not null,
      region text not null,
      countrycode text not null,
      email text not null,
      phone text,
      fax text,
      created ${integer} not null
    `,
  );
  await createTable(
    'domains',
    sql`
      name text primary key not null,
      account_id text not null references accounts (id),
      state text not null,
      sld text not null,
      tld text not null references tlds (tld),
      handle text not null references handles (id),
      sealed_authcode text,
      terminated ${integer} not null check (terminated in (0, 1)),
      ns1 text not null,
      ns2 text not null,
      ns3 text,
      ns4 text,
      ns5 text,
      created ${integer} not null,
      expires ${integer} not null check (expires > created),
      locked_until ${integer} not null,
      hold ${integer} not null default 0
    `,
  );
  await createTable(
    'dns_records',
    sql`
      id text primary key not null,
      domain text not null references domains (name),
      sub text not null,
      type text not null,
      data text not null,
      ttl ${integer} not null,
      changed ${integer} not null
    `,
  );
}

async function createDedicatedServers(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'dedicated_servers',
    sql`
      id text primary key not null,
      account_id text references accounts (id),
      state text not null check (state in ('offered', 'ordered', 'deployed', 'ended')),
      terminated ${integer} not null check (terminated in (0, 1)),
      due ${integer},
      version ${integer} not null,
      offered_to text references accounts (id),
      offered_ips text,
      datacenter_name text not null,
      datacenter_displayname text not null,
      datacenter_country text not null,
      datacenter_city text not null,
      hardware text not null,
      network text not null,
      status_type text not null,
      status_description text not null,
      price ${integer} not null check (price >= 0),
      runtime_days ${integer} not null check (runtime_days > 0),
      hold ${integer} not null check (hold >= 0),
      dashboard text,
      username text,
      email text,
      sealed_password text,
      created ${integer} not null,
      ordered ${integer},
      deployed ${integer},
      ended ${integer},
      constraint owned_unless_offered check ((state = 'offered') = (account_id is null)),
      constraint deployed_has_renewal check (state <> 'deployed' or due is not null)
    `,
  );
  await createTable(
    'dedicated_addresses',
    sql`
      address text primary key not null,
      server_id text not null references dedicated_servers (id),
      family ${integer} not null check (family in (4, 6)),
      gateway text not null,
      position ${integer} not null
    `,
  );
}

async function createBilling(createTable: CreateTable, integer: Integer): Promise<void> {
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

async function createDocuments(createTable: CreateTable, integer: Integer): Promise<void> {
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
}

async function createPayments(createTable: CreateTable, integer: Integer): Promise<void> {
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

async function createRequestsAndDeliveries(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'request_log_bodies',
    sql`
      month ${integer} not null,
      account_id text not null,
      hash text not null,
      body text not null,
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
      created ${integer} not null
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
      lease_until ${integer} not null
    `,
  );
  await createTable(
    'clock_mark',
    sql`
      id ${integer} primary key not null check (id = 1),
      newest ${integer} not null
    `,
  );
}

async function createOperatorTables(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'identity',
    sql`
      id ${integer} primary key not null check (id = 1),
      secret_verifier text not null,
      mode text not null
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

async function createAccess(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'operator_tokens',
    sql`
      id text primary key not null,
      name text not null,
      hash text not null unique,
      scopes text not null,
      created ${integer} not null,
      valid_until ${integer},
      revoked ${integer}
    `,
  );
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

/** PostgreSQL has a partition for each month, so that an old month is deleted without touching its rows. */
async function createRequestLog(db: Kysely<Schema>, engine: Engine, integer: Integer): Promise<void> {
  const [key, options] =
    engine === 'sqlite' ? [sql`account_id, number`, sql`strict`] : [sql`account_id, number, month`, sql`partition by list (month)`];
  await sql`
    create table request_log (
      account_id text not null,
      number ${integer} not null,
      position ${integer} not null,
      ${logColumns(integer)},
      constraint request_log_key primary key (${key})
    ) ${options}
  `.execute(db);
}

function logColumns(integer: Integer): RawBuilder<unknown> {
  return sql`
    month ${integer} not null,
    request_id text not null,
    date ${integer} not null,
    success ${integer} not null,
    endpoint text not null,
    method text not null,
    request_body text not null,
    error_type text,
    response_body text,
    response_hash text
  `;
}

/**
 * The invoices of an account need no further index. The index of their unique constraint is read backwards, so that the newest come first.
 */
async function createIndexes(db: Kysely<Schema>): Promise<void> {
  for (const index of [
    sql`limits_of_account on spending_limits (account_id)`,
    sql`keys_of_account on api_keys (account_id, created, id)`,
    sql`accounts_by_period on accounts (period_start, id)`,
    sql`nodes_of_host_system on host_nodes (hostsystem)`,
    sql`sale_prices_of_host_system on sale_prices (hostsystem)`,
    sql`vms_of_account on vms (account_id)`,
    sql`free_addresses on ip_addresses (datacenter_name, family, owner, pool_id, position) where vm_id is null`,
    sql`addresses_of_pool on ip_addresses (pool_id)`,
    sql`addresses_of_vm on ip_addresses (vm_id)`,
    sql`domains_of_account on domains (account_id, name)`,
    sql`records_of_name on dns_records (domain, sub)`,
    sql`domains_by_expiry on domains (state, expires, name)`,
    sql`servers_of_account on dedicated_servers (account_id, due)`,
    sql`servers_by_due on dedicated_servers (due, id) where due is not null`,
    sql`servers_on_market on dedicated_servers (created, id) where state = 'offered'`,
    sql`addresses_of_server on dedicated_addresses (server_id, family, position)`,
    sql`positions_of_account on positions (account_id, invoice_id, start)`,
    sql`invoices_without_document on invoices (period_end, id) where number is null`,
    sql`charges_of_account on charges (account_id, invoice_id)`,
    sql`documents_by_time on issued_documents (issued, id)`,
    sql`payments_by_time on payments (created, id)`,
    sql`uses_by_purpose on payment_uses (used_for)`,
    sql`audit_records_by_time on audit_records (time, id)`,
    sql`idempotency_keys_by_age on idempotency_keys (created)`,
  ])
    await sql`create index ${index}`.execute(db);
  await sql`create unique index otps_by_hash on otps (hash)`.execute(db);
  await sql`create unique index audit_records_by_seq on audit_records (seq)`.execute(db);
}

/** Tables that only PostgreSQL needs, because a SQLite store belongs to one process. */
async function createPostgresTables(db: Kysely<Schema>, integer: Integer): Promise<void> {
  // Entries of the request log that have no number yet.
  await sql`
    create table request_log_inbox (
      id bigint generated always as identity primary key,
      account_id text not null,
      size bigint not null,
      ${logColumns(integer)}
    )
  `.execute(db);
  await sql`create index inbox_of_account on request_log_inbox (account_id, id)`.execute(db);
  // The table is unlogged, so a write does not wait for the disk and a crash may lose the counts.
  await sql`
    create unlogged table event_windows (
      name text primary key,
      ends bigint not null,
      count bigint not null
    )
  `.execute(db);
}
