import { sql } from 'kysely';

import type { CreateTable, Integer } from './create-table.ts';

export async function createTlds(createTable: CreateTable, integer: Integer): Promise<void> {
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

export async function createDomains(createTable: CreateTable, integer: Integer): Promise<void> {
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
      hold ${integer} not null default 0,
      transfer_lock ${integer} not null default 0,
      dnssec_by text,
      ds_records text not null default '[]',
      delegation_settled ${integer} not null default 0
    `,
  );
}

export async function createZones(createTable: CreateTable, integer: Integer): Promise<void> {
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
  await createTable(
    'zone_changes',
    sql`
      domain text primary key not null,
      version ${integer} not null,
      next_attempt ${integer} not null,
      claimed_until ${integer} not null,
      attempts ${integer} not null,
      reason text
    `,
  );
}
