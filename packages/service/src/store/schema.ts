import type {
  AuditChainTable,
  AuditRecordsTable,
  ConfirmationsTable,
  EndedSessionsTable,
  FailedAuthenticationsTable,
  OperatorTokensTable,
  OtpAttemptsTable,
  OtpsTable,
  VerifiersTable,
} from './tables/access.ts';
import type {
  ChargesTable,
  DocumentSeriesTable,
  InvoicesTable,
  DocumentPartsTable,
  IssuedDocumentsTable,
  LogosTable,
  PaymentUsesTable,
  PaymentsTable,
  PositionsTable,
} from './tables/accounting.ts';
import type { AccountsTable, ApiKeysTable, BillingProfilesTable, SpendingLimitsTable, SpendingsTable } from './tables/accounts.ts';
import type {
  CatalogueVersionTable,
  HostNodesTable,
  HostSystemPricesTable,
  HostSystemsTable,
  IpAddressesTable,
  IpPoolsTable,
  OsImagesTable,
  SalePricesTable,
  SalesTable,
  TldPricesTable,
  TldsTable,
} from './tables/catalogue.ts';
import type { DedicatedAddressesTable, DedicatedServersTable } from './tables/dedicated.ts';
import type { DnsRecordsTable, DomainsTable, HandlesTable, ZoneChangesTable } from './tables/domains.ts';
import type {
  EventFeedsTable,
  EventInboxTable,
  EventsTable,
  WebhookDeliveriesTable,
  WebhookSecretsTable,
  WebhooksTable,
} from './tables/events.ts';
import type { IdempotencyKeysTable, RequestLogBodiesTable, RequestLogTable } from './tables/requests.ts';
import type {
  ClockMarkTable,
  FailedJobsTable,
  FaultsTable,
  FencingTokensTable,
  IdentityTable,
  InstancesTable,
  ReservationsTable,
  SettingsTable,
  SnapshotRowsTable,
  SnapshotsTable,
} from './tables/service.ts';
import type {
  RdnsChangesTable,
  RdnsEntriesTable,
  SshKeysTable,
  VmBackupsTable,
  VmConsolesTable,
  VmMonitorsTable,
  VmCountersTable,
  VmsTable,
  VmTrafficTable,
  VmUsageTable,
  VmUserDataTable,
} from './tables/vms.ts';

/**
 * The tables, in the portable subset of SQLite and PostgreSQL: integers for booleans, times and money, JSON as text. Instants are
 * milliseconds since 1970 UTC. Instants of billing are whole seconds. The comment of a column says which. Money is in units of
 * 10^-8 EUR.
 *
 * An integer column is read as a number. The store refuses a value beyond 2^53 (90 million EUR).
 */
export interface Schema {
  // Accounts and access
  accounts: AccountsTable;
  api_keys: ApiKeysTable;
  spending_limits: SpendingLimitsTable;
  spendings: SpendingsTable;
  otps: OtpsTable;
  payments: PaymentsTable;
  payment_uses: PaymentUsesTable;
  verifiers: VerifiersTable;
  otp_attempts: OtpAttemptsTable;
  billing_profiles: BillingProfilesTable;
  // VMs
  os_images: OsImagesTable;
  host_systems: HostSystemsTable;
  host_system_prices: HostSystemPricesTable;
  host_nodes: HostNodesTable;
  ip_pools: IpPoolsTable;
  ip_addresses: IpAddressesTable;
  sales: SalesTable;
  sale_prices: SalePricesTable;
  vms: VmsTable;
  ssh_keys: SshKeysTable;
  vm_backups: VmBackupsTable;
  vm_consoles: VmConsolesTable;
  vm_monitors: VmMonitorsTable;
  vm_user_data: VmUserDataTable;
  vm_counters: VmCountersTable;
  vm_usage: VmUsageTable;
  vm_traffic: VmTrafficTable;
  rdns_entries: RdnsEntriesTable;
  rdns_changes: RdnsChangesTable;
  // Domains
  tlds: TldsTable;
  tld_prices: TldPricesTable;
  handles: HandlesTable;
  domains: DomainsTable;
  dns_records: DnsRecordsTable;
  zone_changes: ZoneChangesTable;
  // Dedicated servers
  dedicated_servers: DedicatedServersTable;
  dedicated_addresses: DedicatedAddressesTable;
  // Billing
  invoices: InvoicesTable;
  issued_documents: IssuedDocumentsTable;
  document_parts: DocumentPartsTable;
  document_series: DocumentSeriesTable;
  logos: LogosTable;
  positions: PositionsTable;
  charges: ChargesTable;
  // Events
  event_inbox: EventInboxTable;
  event_feeds: EventFeedsTable;
  events: EventsTable;
  webhooks: WebhooksTable;
  webhook_secrets: WebhookSecretsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  // Requests and deliveries
  request_log: RequestLogTable;
  request_log_bodies: RequestLogBodiesTable;
  idempotency_keys: IdempotencyKeysTable;
  reservations: ReservationsTable;
  failed_jobs: FailedJobsTable;
  fencing_tokens: FencingTokensTable;
  instances: InstancesTable;
  clock_mark: ClockMarkTable;
  // The provider
  operator_tokens: OperatorTokensTable;
  audit_records: AuditRecordsTable;
  audit_chain: AuditChainTable;
  failed_authentications: FailedAuthenticationsTable;
  ended_sessions: EndedSessionsTable;
  confirmations: ConfirmationsTable;
  // The service itself
  identity: IdentityTable;
  settings: SettingsTable;
  catalogue_version: CatalogueVersionTable;
  // The sandbox
  faults: FaultsTable;
  snapshots: SnapshotsTable;
  snapshot_rows: SnapshotRowsTable;
}
