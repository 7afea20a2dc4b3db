/**
 * Accounts and their keys, host systems, addresses, VMs, billing, one-time codes, repeated
 * requests and the request log. What the columns mean stands in schema.ts.
 */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import { integerOf, tables } from './table.ts';
import type { Engine } from './table.ts';

export function initial(engine: Engine): Migration {
  const integer = integerOf(engine);

  return {
    async up(db: Kysely<Schema>) {
      const table = tables(db, engine);
      const account = 'accounts.id';

      await table('accounts', (t) =>
        t
          .addColumn('id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('name', 'text', (c) => c.notNull())
          .addColumn('credit_limit', integer, (c) => c.notNull().check(sql`credit_limit >= 0`))
          .addColumn('unpaid', integer, (c) => c.notNull().check(sql`unpaid >= 0`))
          .addColumn('held', integer, (c) => c.notNull().check(sql`held >= 0`))
          .addColumn('period_start', integer, (c) => c.notNull())
          .addColumn('created', integer, (c) => c.notNull()),
      );
      await table('api_keys', (t) =>
        t
          .addColumn('id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('account_id', 'text', (c) => c.notNull().references(account))
          .addColumn('hash', 'text', (c) => c.notNull().unique())
          .addColumn('label', 'text', (c) => c.notNull())
          .addColumn('created', integer, (c) => c.notNull())
          .addColumn('revoked', integer),
      );
      await table('os_images', (t) =>
        t
          .addColumn('name', 'text', (c) => c.primaryKey().notNull())
          .addColumn('displayname', 'text', (c) => c.notNull())
          .addColumn('username', 'text', (c) => c.notNull()),
      );
      await table('host_systems', (t) =>
        t
          .addColumn('name', 'text', (c) => c.primaryKey().notNull())
          .addColumn('displayname', 'text', (c) => c.notNull())
          .addColumn('datacenter_name', 'text', (c) => c.notNull())
          .addColumn('datacenter_displayname', 'text', (c) => c.notNull())
          .addColumn('datacenter_country', 'text', (c) => c.notNull())
          .addColumn('datacenter_city', 'text', (c) => c.notNull())
          .addColumn('processor', 'text', (c) => c.notNull())
          .addColumn('memory', 'text', (c) => c.notNull())
          .addColumn('nvme_hard_drives', 'text', (c) => c.notNull())
          .addColumn('ranges', 'text', (c) => c.notNull())
          .addColumn('prices', 'text', (c) => c.notNull())
          .addColumn('position', integer, (c) => c.notNull()),
      );
      await table('host_nodes', (t) =>
        t
          .addColumn('name', 'text', (c) => c.primaryKey().notNull())
          .addColumn('hostsystem', 'text', (c) => c.notNull().references('host_systems.name'))
          .addColumn('cores', integer, (c) => c.notNull())
          .addColumn('used_cores', integer, (c) => c.notNull().check(sql`used_cores between 0 and cores`))
          .addColumn('mem', integer, (c) => c.notNull())
          .addColumn('used_mem', integer, (c) => c.notNull().check(sql`used_mem between 0 and mem`))
          .addColumn('disk', integer, (c) => c.notNull())
          .addColumn('used_disk', integer, (c) => c.notNull().check(sql`used_disk between 0 and disk`))
          .addColumn('storage', integer, (c) => c.notNull())
          .addColumn('used_storage', integer, (c) => c.notNull().check(sql`used_storage between 0 and storage`)),
      );
      await table('vms', (t) =>
        t
          .addColumn('id', integer, (c) =>
            c
              .primaryKey()
              .notNull()
              .check(sql`id between 10000 and 99999`),
          )
          .addColumn('account_id', 'text', (c) => c.notNull().references(account))
          .addColumn('state', 'text', (c) => c.notNull())
          .addColumn('hostsystem', 'text', (c) => c.notNull().references('host_systems.name'))
          .addColumn('node', 'text', (c) => c.notNull().references('host_nodes.name'))
          .addColumn('cores', integer, (c) => c.notNull())
          .addColumn('mem', integer, (c) => c.notNull())
          .addColumn('disk', integer, (c) => c.notNull())
          .addColumn('os', 'text', (c) => c.notNull().references('os_images.name'))
          .addColumn('ips', integer, (c) => c.notNull())
          .addColumn('backup_slots', integer, (c) => c.notNull())
          .addColumn('network_speed', integer, (c) => c.notNull())
          .addColumn('hostname', 'text', (c) => c.notNull())
          .addColumn('storage', integer)
          .addColumn('ssh_key', 'text')
          .addColumn('ssh_key_displayname', 'text')
          .addColumn('default_ptr', 'text', (c) => c.notNull())
          .addColumn('monthly_price', integer, (c) => c.notNull())
          .addColumn('created', integer, (c) => c.notNull()),
      );
      await table('ip_pools', (t) =>
        t
          .addColumn('id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('family', integer, (c) => c.notNull().check(sql`family in (4, 6)`))
          .addColumn('datacenter_name', 'text', (c) => c.notNull())
          .addColumn('account_id', 'text', (c) => c.references(account))
          .addColumn('cidr', 'text', (c) => c.notNull())
          .addColumn('gateway', 'text', (c) => c.notNull())
          .addColumn('ddos_protection', 'text', (c) => c.notNull())
          .addColumn('free', integer, (c) => c.notNull().check(sql`free >= 0`)),
      );
      await table('ip_addresses', (t) =>
        t
          .addColumn('address', 'text', (c) => c.primaryKey().notNull())
          .addColumn('pool_id', 'text', (c) => c.notNull().references('ip_pools.id'))
          .addColumn('position', integer, (c) => c.notNull())
          .addColumn('vm_id', integer, (c) => c.references('vms.id')),
      );
      await table('invoices', (t) =>
        t
          .addColumn('id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('account_id', 'text', (c) => c.notNull().references(account))
          .addColumn('created', integer, (c) => c.notNull())
          .addColumn('period_start', integer, (c) => c.notNull())
          .addColumn('period_end', integer, (c) => c.notNull())
          .addColumn('total', integer, (c) => c.notNull())
          .addColumn('status', 'text', (c) => c.notNull())
          .addUniqueConstraint('one_invoice_a_period', ['account_id', 'period_start']),
      );
      await table('positions', (t) =>
        t
          .addColumn('vm_id', integer, (c) => c.notNull().references('vms.id'))
          .addColumn('number', integer, (c) => c.notNull())
          .addColumn('account_id', 'text', (c) => c.notNull().references(account))
          .addColumn('invoice_id', 'text', (c) => c.references('invoices.id'))
          .addColumn('type', 'text', (c) => c.notNull())
          .addColumn('start', integer, (c) => c.notNull())
          .addColumn('stop', integer, (c) => c.check(sql`stop >= start`))
          .addColumn('monthly_price', integer, (c) => c.notNull())
          .addColumn('hold', integer, (c) => c.notNull())
          .addPrimaryKeyConstraint('positions_key', ['vm_id', 'number']),
      );
      await table('otps', (t) =>
        t
          .addColumn('account_id', 'text', (c) => c.primaryKey().notNull().references(account))
          .addColumn('hash', 'text', (c) => c.notNull())
          .addColumn('expires', integer, (c) => c.notNull())
          .addColumn('used', integer, (c) => c.notNull()),
      );
      await table('idempotency_keys', (t) =>
        t
          .addColumn('account_id', 'text', (c) => c.notNull().references(account))
          .addColumn('key_hash', 'text', (c) => c.notNull())
          .addColumn('fingerprint', 'text', (c) => c.notNull())
          .addColumn('state', 'text', (c) => c.notNull())
          .addColumn('answer', 'text')
          .addColumn('created', integer, (c) => c.notNull())
          .addPrimaryKeyConstraint('idempotency_keys_key', ['account_id', 'key_hash']),
      );
      await table('reservations', (t) =>
        t
          .addColumn('id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('account_id', 'text', (c) => c.notNull().references(account))
          .addColumn('operation', 'text', (c) => c.notNull())
          .addColumn('details', 'text', (c) => c.notNull())
          .addColumn('key_hash', 'text')
          .addColumn('created', integer, (c) => c.notNull()),
      );
      await table('request_log', (t) =>
        t
          .addColumn('account_id', 'text', (c) => c.notNull().references(account))
          .addColumn('number', integer, (c) => c.notNull())
          .addColumn('request_id', 'text', (c) => c.notNull())
          .addColumn('date', integer, (c) => c.notNull())
          .addColumn('success', integer, (c) => c.notNull())
          .addColumn('endpoint', 'text', (c) => c.notNull())
          .addColumn('method', 'text', (c) => c.notNull())
          .addColumn('request_body', 'text', (c) => c.notNull())
          .addColumn('error_type', 'text')
          .addColumn('response_body', 'text', (c) => c.notNull())
          .addPrimaryKeyConstraint('request_log_key', ['account_id', 'number']),
      );

      // Several nodes share a PostgreSQL database, so the number of an account's newest entry is a row that they take in turn.
      if (engine === 'postgres') {
        await db.schema
          .createTable('request_counters')
          .addColumn('account_id', 'text', (c) => c.primaryKey().notNull().references(account))
          .addColumn('newest', integer, (c) => c.notNull())
          .execute();
      }

      await db.schema.createIndex('vms_of_account').on('vms').column('account_id').execute();
      await db.schema.createIndex('positions_of_account').on('positions').columns(['account_id', 'invoice_id']).execute();
      await db.schema
        .createIndex('free_addresses')
        .on('ip_addresses')
        .columns(['pool_id', 'position'])
        .where(sql.ref('vm_id'), 'is', null)
        .execute();
      await db.schema.createIndex('addresses_of_vm').on('ip_addresses').column('vm_id').execute();
      await db.schema.createIndex('nodes_of_host_system').on('host_nodes').column('hostsystem').execute();
    },
  };
}
