import { sql } from 'kysely';
import type { Kysely, RawBuilder } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { createAccounts, createCodes } from './0001-tables/accounts.ts';
import { createBilling, createDocuments, createPayments } from './0001-tables/billing.ts';
import { createHostSystems, createSales } from './0001-tables/catalogue.ts';
import { createDedicatedServers } from './0001-tables/dedicated.ts';
import { createTlds, createDomains, createZones } from './0001-tables/domains.ts';
import { createEvents, createWebhooks, createQueues } from './0001-tables/events.ts';
import { createOperatorTables, createAccess, createAudit } from './0001-tables/operator.ts';
import { createRequestLog, createPostgresTables } from './0001-tables/request-log.ts';
import { createRequests, createDeliveries } from './0001-tables/requests.ts';
import { createVms, createAddresses, createVmUsage, createVmRecords } from './0001-tables/vms.ts';
import { createCatalogueTriggers } from './catalogue-triggers.ts';
import { createDeliveryTriggers } from './delivery-triggers.ts';
import { createEventTriggers } from './event-triggers.ts';
import { createNameTriggers } from './name-triggers.ts';
import { createZoneTriggers, ZONE_CHANGES } from './zone-triggers.ts';

/**
 * All tables of the first schema. The files in `../tables` say what the columns mean. Later migrations change it: this file, its folder and the
 * triggers stay as they are.
 */
export function tables(engine: Engine): Migration {
  // 64 bits on both engines.
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const options = sql.raw(engine === 'sqlite' ? ' strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      async function createTable(name: keyof Schema, columns: RawBuilder<unknown>): Promise<void> {
        await sql`create table ${sql.table(name)} (${columns})${options}`.execute(db);
      }
      for (const create of [
        createAccounts,
        createCodes,
        createHostSystems,
        createSales,
        createVms,
        createAddresses,
        createVmUsage,
        createVmRecords,
        createTlds,
        createDomains,
        createZones,
        createDedicatedServers,
        createBilling,
        createDocuments,
        createPayments,
        createRequests,
        createDeliveries,
        createOperatorTables,
        createAccess,
        createAudit,
        createEvents,
        createWebhooks,
      ])
        await create(createTable, integer);
      await createRequestLog(db, engine, integer);
      await createQueues(db, engine);
      await createIndexes(db);
      await createCatalogueTriggers(db, engine);
      await createZoneTriggers(db, engine, ZONE_CHANGES);
      await createNameTriggers(db, engine);
      await createEventTriggers(db, engine);
      await createDeliveryTriggers(db, engine);
      if (engine === 'postgres') await createPostgresTables(db, integer);
    },
  };
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
    sql`bodies_of_account on request_log_bodies (account_id, stored, size)`,
    sql`request_log_by_feed on request_log (feed) where feed is not null`,
    sql`names_of_assigned on rdns_entries (assigned)`,
    sql`names_of_vm on rdns_entries (vm_id)`,
    sql`backups_of_vm on vm_backups (vm_id)`,
    sql`backups_in_progress on vm_backups (vm_id) where state = 'creating'`,
    sql`vms_by_backup on vms (backup_due, account_id) where backup_due is not null`,
    sql`vms_by_account_and_backup on vms (account_id, backup_due) where backup_due is not null`,
    sql`handles_of_account on handles (account_id, created, id)`,
    sql`noted_events_of_account on event_inbox (account_id, id)`,
    sql`events_by_time on events (entered)`,
    sql`events_of_account_by_time on events (account_id, entered, position)`,
    sql`forgotten_feeds on event_feeds (account_id) where forgotten = 1`,
    sql`webhooks_of_account on webhooks (account_id, created, id)`,
    sql`webhooks_with_steps on webhooks (account_id) where has_steps = 1`,
    sql`secrets_of_webhook on webhook_secrets (webhook_id)`,
    sql`deliveries_by_subject on webhook_deliveries (webhook_id, subject, number) where state = 'pending'`,
    sql`first_deliveries on webhook_deliveries (webhook_id, next_attempt, number)
      where state = 'pending' and blocked = 0`,
    sql`deliveries_of_event on webhook_deliveries (event_id)`,
    sql`consoles_of_account on vm_consoles (account_id)`,
    sql`monitors_by_time on vm_monitors (next_check) where enabled = 1`,
  ])
    await sql`create index ${index}`.execute(db);
  await sql`create unique index otps_by_hash on otps (hash)`.execute(db);
  await sql`create unique index audit_records_by_seq on audit_records (seq)`.execute(db);
  await sql`create unique index waiting_deliveries on webhook_deliveries (webhook_id, event_id) where state = 'pending'`.execute(db);
}
