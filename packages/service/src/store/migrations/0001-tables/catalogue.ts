import { sql } from 'kysely';

import type { CreateTable, Integer } from './create-table.ts';

export async function createHostSystems(createTable: CreateTable, integer: Integer): Promise<void> {
  await createTable(
    'os_images',
    sql`
      name text primary key not null,
      displayname text not null,
      username text not null,
      platform text not null default 'linux',
      icon text,
      min_disk ${integer} not null default 1
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
      position ${integer} not null,
      included_traffic ${integer}
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

export async function createSales(createTable: CreateTable, integer: Integer): Promise<void> {
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
