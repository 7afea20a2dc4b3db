/**
 * The sizes, limits and times that only decide how fast the service works. Another value changes no amount, no order and no response: tests
 * and the simulator choose small and odd values. So nothing happens only above a size that no test reaches. Timeouts and limits that refuse
 * requests are not here. They are constants next to their code, and each has a test at its edge.
 */
import type { Db } from './store.ts';

export interface Tuning {
  /** Positions that one transaction of a period end moves. An account with fewer closes its period in one transaction. */
  readonly periodEndStep: number;
  /** Rows of one statement. SQLite allows 32,766 parameters, and PostgreSQL 65,535. */
  readonly statementRows: number;
  /** Scheduled jobs of one transaction. A request of the same account may have to wait for it. */
  readonly jobBatch: number;
  /** VMs that are measured at once, and whose measurements one transaction stores. */
  readonly usageBatch: number;
  /** Invoice documents that one transaction issues. It holds the lock of the series. */
  readonly documentBatch: number;
  /** Positions from which on the lines of a document are written before its transaction. */
  readonly documentLines: number;
  /** Bytes of a part of a PDF. A longer one is stored and sent part by part. */
  readonly documentPartBytes: number;
  /** Rows that one transaction of a clean-up deletes, and rows that one of its queries reads. */
  readonly cleanUpBatch: number;
  /** Deliveries and events that one transaction adds, changes or deletes for one account. */
  readonly deliveryStep: number;
  /** Rows that a long read receives at once. */
  readonly streamedRows: number;
  /** Reads of many rows that run at the same time on the embedded store. Further ones wait. */
  readonly longReads: number;
  /** Connections of an instance to PostgreSQL. Further transactions wait. */
  readonly connections: number;
  /** How many of them work next to requests uses at the same time. */
  readonly backgroundConnections: number;
  /** Pages of the write-ahead log at which the embedded store copies it into the database. */
  readonly checkpointPages: number;
  /** Pages at which transactions wait for the copying. A full disk recovers once the whole log fits into its free space. */
  readonly maxLogPages: number;
  /** Transactions for each check of the length of the write-ahead log, because a check takes as long as several log entries. */
  readonly checkpointCheck: number;
  /** Characters of remembered responses. Beyond it, all are forgotten, and a repeated response may be stored twice. */
  readonly rememberedCharacters: number;
  /** Entries of the request log that an export reads at once. */
  readonly exportPage: number;
  /** Documents and payments that an export for bookkeeping reads at once. */
  readonly bookkeepingPage: number;
  /** Audit records that a verification reads at once. */
  readonly auditPage: number;
  /** Entries of the request log that PostgreSQL inserts with one statement. */
  readonly logGroup: number;
  /** Entries of the request log that one transaction numbers on PostgreSQL. */
  readonly logBatch: number;
  /** Entries of the request log that one page of a search reads. */
  readonly searchedEntries: number;
  /** Milliseconds for which a valid API key is cached. Within this time, every instance refuses a revoked key, and the requests of a suspended account. */
  readonly keyCacheMs: number;
  readonly maxCachedKeys: number;
  /** Milliseconds for which the settings of the operator are cached. Changes by other instances take effect within this time. */
  readonly controlsCacheMs: number;
  /** Milliseconds after which the embedded store commits a batch, so that it does not block the event loop. The rest runs in the next batch. */
  readonly batchMs: number;
  /** The shorter limit for a batch with entries of requests that only read, because their responses wait for its commit. */
  readonly batchWithEntriesMs: number;
  /** Milliseconds that a batch waits for transactions and log entries that are still arriving. */
  readonly gatherMs: number;
  /** Prepared statements of a connection of the embedded store. */
  readonly maxStatements: number;
  /** Interrupted deliveries that are settled at the same time. */
  readonly maxConcurrentDeliveries: number;
  /** Milliseconds that one of them delays the start of the next one. */
  readonly deliveryWaitMs: number;
  /** Requests to webhooks that an instance sends at the same time. Half of them may go to webhooks that are slow or fail. */
  readonly webhookRequests: number;
  /** Those to the webhooks of one account. */
  readonly webhookRequestsOfAccount: number;
  /** Those to one webhook. */
  readonly webhookRequestsEach: number;
  /** Those to all webhooks of one host that begin within a second, so that the service floods nobody. */
  readonly webhookRequestsOfHost: number;
  /** Milliseconds that a request to a webhook takes, from which on the webhook is slow, and gets one request at a time. */
  readonly slowWebhookMs: number;
  /** Ports of VMs that an instance checks at the same time. */
  readonly portChecks: number;
  /** Scheduled backups that an instance makes at the same time. Half of them may be for one account. */
  readonly scheduledBackups: number;
  /** Machines that ended by themselves and that an instance starts again at the same time. Half of them may be of one account. */
  readonly restartedMachines: number;
  /** Zones that an instance publishes at the same time. Half of them may be for one account. */
  readonly publishedZones: number;
  /** Milliseconds for which `/readyz` shows the same figures of the queues. */
  readonly queueFiguresMs: number;
  /** Milliseconds until a failed job is tried again. The wait doubles after each further failure. */
  readonly firstJobWaitMs: number;
  readonly maxJobWaitMs: number;
}

export const DEFAULT_TUNING: Tuning = {
  periodEndStep: 250,
  statementRows: 500,
  jobBatch: 25,
  usageBatch: 50,
  documentBatch: 25,
  documentLines: 250,
  documentPartBytes: 262_144,
  cleanUpBatch: 500,
  deliveryStep: 100,
  streamedRows: 500,
  longReads: 4,
  connections: 20,
  backgroundConnections: 4,
  // 4 MiB, and 8 MiB. A batch of purchases writes about 0.3 MiB.
  checkpointPages: 1_024,
  maxLogPages: 2_048,
  checkpointCheck: 8,
  rememberedCharacters: 8_000_000,
  exportPage: 200,
  bookkeepingPage: 100,
  auditPage: 500,
  logGroup: 500,
  logBatch: 1_000,
  searchedEntries: 20_000,
  keyCacheMs: 1_000,
  maxCachedKeys: 10_000,
  controlsCacheMs: 1_000,
  batchMs: 5,
  batchWithEntriesMs: 2,
  gatherMs: 5,
  maxStatements: 1_000,
  maxConcurrentDeliveries: 20,
  deliveryWaitMs: 250,
  webhookRequests: 200,
  webhookRequestsOfAccount: 20,
  webhookRequestsEach: 4,
  webhookRequestsOfHost: 50,
  slowWebhookMs: 5_000,
  portChecks: 20,
  scheduledBackups: 8,
  restartedMachines: 8,
  publishedZones: 16,
  queueFiguresMs: 5_000,
  firstJobWaitMs: 60_000,
  maxJobWaitMs: 3_600_000,
};

const tunings = new WeakMap<Db, Tuning>();

/** Gives a connection the tuning of its store. */
export function tune(db: Db, tuning: Tuning): void {
  tunings.set(db, tuning);
}

/** The tuning of the store of a connection. */
export function tuningOf(db: Db): Tuning {
  const tuning = tunings.get(db);
  if (!tuning) throw new Error('The connection belongs to no store.');
  return tuning;
}
