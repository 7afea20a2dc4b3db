import { sql } from 'kysely';

import type { CreateTable, Integer } from './create-table.ts';

export async function createDedicatedServers(createTable: CreateTable, integer: Integer): Promise<void> {
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
