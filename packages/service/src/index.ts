export { memoryFence, StaleTokenError } from '@reseller/adapters';
export type {
  AutomaticSetUp,
  Contact,
  DoneOrStarted,
  DomainOrder,
  DsRecord,
  Fence,
  FencingToken,
  Fleet,
  Hypervisor,
  Registrar,
  ServerAccess,
  ServerOrder,
  StartedTask,
  Subject,
  TaskState,
  VmOrder,
  VmSize,
} from '@reseller/adapters';
export { createService } from './service.ts';
export type { Service, ServiceOptions } from './service-options.ts';
export { storeBackupFigures } from './store/backups.ts';
export { StoreOpenError, StoreUnavailableError, StoreUnreachableError } from './store/store.ts';
export type { QueueFigures } from './rules/queue-figures.ts';
export { hasIdentity, serviceIdOf } from './store/identity.ts';
export type { Store } from './store/store.ts';
export { openPostgresStore } from './store/postgres/open.ts';
export { damageOr, openSqliteStore } from './store/sqlite/open.ts';
export { makePrivate } from './store/sqlite/private-files.ts';
export { RELOAD_SCRIPT } from './http/operator/console.ts';
export { systemClock, systemRandom } from './ports/system.ts';
export type { Clock } from './ports/system.ts';
export type { Random } from './rules/random.ts';
export { ClockError } from './delivery/clock-check.ts';
export type { ClockLimits } from './delivery/clock-check.ts';
export { storeFence } from './delivery/reservation.ts';
export type { Ports, SimulatedPort } from './ports/ports.ts';
export { simulatedPorts } from './ports/simulated.ts';
export { createAccount, issueApiKey, issueSharedDemoKey } from './core/account/account.ts';
export { seedDemoAccount } from './sandbox/seed-demo-account.ts';
export { startNameServer } from './sandbox/name-server.ts';
export type { NameServer } from './sandbox/name-server.ts';
export type { Delays } from './sandbox/delays.ts';
export { DEMO_ACCOUNT, seedSandbox } from './sandbox/seed-sandbox.ts';
export { recordsAfter as auditRecordsAfter, verifyAuditChain } from './operator/access/audit-chain.ts';
export type { ChainedRecord } from './operator/access/audit-chain.ts';
export { reseal } from './core/reseal.ts';
export type { Resealed } from './core/reseal.ts';
export { addIpPool } from './core/catalogue/ip-pool.ts';
export type { IpPool } from './core/catalogue/ip-pool.ts';
export { euros } from './rules/money.ts';
export type { Money } from './rules/money.ts';
