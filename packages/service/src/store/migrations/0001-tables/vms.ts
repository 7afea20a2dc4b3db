import { sql } from 'kysely';

import type { CreateTable, Integer } from './create-table.ts';

export async function createVms(createTable: CreateTable, integer: Integer): Promise<void> {
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
      created ${integer} not null,
      name text,
      labels text not null default '{}',
      is_sample ${integer} not null default 0,
      iso text,
      password_enabled ${integer},
      backup_schedule text,
      backup_due ${integer},
      backup_anchor ${integer},
      backup_failing ${integer} not null default 0,
      abuse_status text not null default 'CLEAN',
      abuse_reason text,
      abuse_statement text
    `,
  );
  await createTable(
    'vm_backups',
    sql`
      id text primary key not null,
      vm_id ${integer} not null references vms (id),
      description text not null,
      state text not null,
      is_scheduled ${integer} not null,
      created ${integer} not null,
      disk ${integer} not null,
      os text not null,
      hostname text not null,
      ssh_key text,
      ssh_key_displayname text,
      password_enabled ${integer},
      repeats_failure ${integer} not null default 0
    `,
  );
}

export async function createAddresses(createTable: CreateTable, integer: Integer): Promise<void> {
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
      pending ${integer} not null default 0,
      added ${integer} not null default 0,
      requires_restart ${integer} not null default 0
    `,
  );
  await createTable(
    'rdns_entries',
    sql`
      address text primary key not null,
      assigned text not null references ip_addresses (address),
      vm_id ${integer} not null references vms (id),
      domain text,
      changed ${integer} not null
    `,
  );
}

export async function createVmUsage(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'vm_counters',
    sql`
      vm_id ${integer} primary key not null references vms (id),
      at ${integer} not null,
      run text not null,
      run_time ${integer} not null,
      cpu_time ${integer},
      disk_read ${integer},
      disk_written ${integer},
      received ${integer},
      sent ${integer}
    `,
  );
  await createTable(
    'vm_usage',
    sql`
      vm_id ${integer} not null references vms (id),
      at ${integer} not null,
      cpu ${integer},
      mem ${integer},
      disk ${integer},
      disk_read ${integer},
      disk_written ${integer},
      received ${integer},
      sent ${integer},
      primary key (vm_id, at)
    `,
  );
  await createTable(
    'vm_traffic',
    sql`
      vm_id ${integer} not null references vms (id),
      day ${integer} not null,
      received ${integer} not null,
      sent ${integer} not null,
      primary key (vm_id, day)
    `,
  );
}

export async function createVmRecords(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'ssh_keys',
    sql`
      id text primary key not null,
      account_id text not null references accounts (id),
      displayname text not null,
      public_key text not null,
      fingerprint text not null,
      created ${integer} not null,
      constraint ssh_keys_fingerprint unique (account_id, fingerprint)
    `,
  );
  await createTable(
    'vm_user_data',
    sql`
      vm_id ${integer} not null references vms (id),
      is_pending ${integer} not null,
      sealed_text text not null,
      sha256 text not null,
      primary key (vm_id, is_pending)
    `,
  );
  await createTable(
    'vm_consoles',
    sql`
      hash text primary key not null,
      vm_id ${integer} not null,
      account_id text not null,
      key_id text not null,
      expires ${integer} not null,
      ends ${integer},
      seen ${integer}
    `,
  );
  await createTable(
    'vm_monitors',
    sql`
      vm_id ${integer} primary key not null references vms (id),
      enabled ${integer} not null,
      port ${integer} not null,
      status text not null,
      failures ${integer} not null,
      next_check ${integer} not null
    `,
  );
}
