import type { AccountsTable } from './tables/accounts.ts';
import type { ApiKeysTable } from './tables/api-keys.ts';
import type { AuditChainTable } from './tables/audit-chain.ts';
import type { AuditRecordsTable } from './tables/audit-records.ts';
import type { BillingProfilesTable } from './tables/billing-profiles.ts';
import type { CatalogueVersionTable } from './tables/catalogue-version.ts';
import type { ChargesTable } from './tables/charges.ts';
import type { ClockMarkTable } from './tables/clock-mark.ts';
import type { ConfirmationsTable } from './tables/confirmations.ts';
import type { DedicatedAddressesTable } from './tables/dedicated-addresses.ts';
import type { DedicatedServersTable } from './tables/dedicated-servers.ts';
import type { DnsRecordsTable } from './tables/dns-records.ts';
import type { DocumentSeriesTable } from './tables/document-series.ts';
import type { DomainsTable } from './tables/domains.ts';
import type { EndedSessionsTable } from './tables/ended-sessions.ts';
import type { FailedAuthenticationsTable } from './tables/failed-authentications.ts';
import type { FailedJobsTable } from './tables/failed-jobs.ts';
import type { FaultsTable } from './tables/faults.ts';
import type { FencingTokensTable } from './tables/fencing-tokens.ts';
import type { HandlesTable } from './tables/handles.ts';
import type { HostNodesTable } from './tables/host-nodes.ts';
import type { HostSystemPricesTable } from './tables/host-system-prices.ts';
import type { HostSystemsTable } from './tables/host-systems.ts';
import type { IdempotencyKeysTable } from './tables/idempotency-keys.ts';
import type { IdentityTable } from './tables/identity.ts';
import type { InstancesTable } from './tables/instances.ts';
import type { InvoicesTable } from './tables/invoices.ts';
import type { IpAddressesTable } from './tables/ip-addresses.ts';
import type { IpPoolsTable } from './tables/ip-pools.ts';
import type { IssuedDocumentsTable } from './tables/issued-documents.ts';
import type { OperatorTokensTable } from './tables/operator-tokens.ts';
import type { OsImagesTable } from './tables/os-images.ts';
import type { OtpAttemptsTable } from './tables/otp-attempts.ts';
import type { OtpsTable } from './tables/otps.ts';
import type { PaymentUsesTable } from './tables/payment-uses.ts';
import type { PaymentsTable } from './tables/payments.ts';
import type { PositionsTable } from './tables/positions.ts';
import type { RequestLogBodiesTable } from './tables/request-log-bodies.ts';
import type { RequestLogTable } from './tables/request-log.ts';
import type { ReservationsTable } from './tables/reservations.ts';
import type { SalePricesTable } from './tables/sale-prices.ts';
import type { SalesTable } from './tables/sales.ts';
import type { SettingsTable } from './tables/settings.ts';
import type { SnapshotRowsTable } from './tables/snapshot-rows.ts';
import type { SnapshotsTable } from './tables/snapshots.ts';
import type { SpendingLimitsTable } from './tables/spending-limits.ts';
import type { SpendingsTable } from './tables/spendings.ts';
import type { TldPricesTable } from './tables/tld-prices.ts';
import type { TldsTable } from './tables/tlds.ts';
import type { VerifiersTable } from './tables/verifiers.ts';
import type { VmsTable } from './tables/vms.ts';

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
  // Domains
  tlds: TldsTable;
  tld_prices: TldPricesTable;
  handles: HandlesTable;
  domains: DomainsTable;
  dns_records: DnsRecordsTable;
  // Dedicated servers
  dedicated_servers: DedicatedServersTable;
  dedicated_addresses: DedicatedAddressesTable;
  // Billing
  invoices: InvoicesTable;
  issued_documents: IssuedDocumentsTable;
  document_series: DocumentSeriesTable;
  positions: PositionsTable;
  charges: ChargesTable;
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
