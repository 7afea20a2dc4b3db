/** Appends each audit record to a file, for systems that collect logs. */
import { once } from 'node:events';
import { createReadStream, existsSync } from 'node:fs';
import { open, stat, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

import { auditRecordsAfter } from '@reseller/service';
import type { ChainedRecord, QueueFigures, Store } from '@reseller/service';
import type { Logger } from 'pino';

import { failureLog } from './failure-log.ts';

/** A record is in the file at most about this long after its change. */
const PAUSE_MS = 1_000;
const BATCH_SIZE = 500;
/** Bytes that are read at the end of the file to find its last line. A record is shorter. */
const TAIL_BYTES = 1_048_576;

/** A file that the service does not append to. The message is one line. */
export class AuditFileError extends Error {
  override readonly name = 'AuditFileError';
}

/** A running export. */
export interface AuditFile {
  /** The records that are not in the file yet. */
  figures(): Promise<QueueFigures>;
  /** Appends what is not in the file yet, and ends. */
  stop(): Promise<void>;
}

/**
 * Follows the audit of the store. The file itself says how far it is, so a restart continues where it ended, and no record is left out. A file
 * next to it says so after a rotation of logs has taken the records away. If the newest records of the file are not in the store, because an
 * older backup was restored, the records since the last common one follow.
 *
 * @throws AuditFileError if the last line of the file is not a record of an export.
 */
export async function exportAudit(store: Store, path: string, logger: Logger): Promise<AuditFile> {
  const inFile = await lastLinksIn(path);
  const exported = inFile.length > 0 ? inFile : await lastLinksIn(positionFileOf(path));
  let written = await lastCommon(store, exported);
  const { seq: end = 0 } = exported.at(-1) ?? {};
  if (written < end)
    logger.warn(
      { file: path, common: written, end },
      `the audit file has records up to ${end} that are not in the store, as after the restore of a backup; the records of the store after ${written} are appended`,
    );
  const stopping = new AbortController();
  const failures = failureLog(logger, 'audit records were not exported; the service tries again');

  async function append(): Promise<void> {
    for (;;) {
      const records = await auditRecordsAfter(store, written, BATCH_SIZE);
      const last = records.at(-1);
      if (!last) return;
      await appendDurably(path, records, last);
      written = last.seq;
    }
  }

  async function follow(): Promise<void> {
    while (!stopping.signal.aborted) {
      await append().then(failures.ended, (error: unknown) => failures.failed(error, { file: path }));
      await wait(PAUSE_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  }

  await append();
  const following = follow();
  return {
    async figures() {
      const waiting = await auditRecordsAfter(store, written, BATCH_SIZE);
      const [oldest] = waiting;
      return { waiting: waiting.length, failed: failures.areOpen() ? 1 : 0, oldestMs: oldest && Math.max(0, Date.now() - oldest.time) };
    },
    async stop() {
      stopping.abort();
      await following;
      await append();
    },
  };
}

/** Appends records, and notes the last one next to the file. */
async function appendDurably(path: string, records: readonly ChainedRecord[], { seq, hash }: Link): Promise<void> {
  const file = await open(path, 'a', 0o600);
  try {
    await file.appendFile(records.map(lineOf).join(''));
    await file.sync();
  } finally {
    await file.close();
  }
  await writeFile(positionFileOf(path), `${JSON.stringify({ seq, hash })}\n`, { mode: 0o600 });
}

/** A line of JSON with the names of the operator API. */
function lineOf({ state_before, state_after, time, salt: _salt, content_hash: _content, ...record }: ChainedRecord): string {
  const states = { before: JSON.parse(state_before), after: JSON.parse(state_after) };
  return `${JSON.stringify({ time: new Date(time).toISOString(), ...record, ...states })}\n`;
}

/** A record of the file: its number and hash. */
interface Link {
  readonly seq: number;
  readonly hash: string;
}

/** A file with the link of the newest exported record. */
function positionFileOf(path: string): string {
  return `${path}.position`;
}

/** The newest records of the file, oldest first. A line that a crash cut off is removed. */
async function lastLinksIn(path: string): Promise<readonly Link[]> {
  if (!existsSync(path)) return [];
  const { size } = await stat(path);
  const start = Math.max(0, size - TAIL_BYTES);
  const tail = await tailOf(path, start);
  const end = tail.lastIndexOf('\n') + 1;
  if (end < tail.length) await truncate(path, start + Buffer.byteLength(tail.slice(0, end)));
  // The first line of the tail may be cut.
  const lines = tail.slice(0, end).trimEnd().split('\n');
  const links = lines.map(linkOf);
  if (lines.at(-1) !== '' && links.at(-1) === undefined)
    throw new AuditFileError(`The last line of ${path} is not an audit record. Name another file in RESELLER_AUDIT_FILE.`);
  return links.filter((link) => link !== undefined);
}

/** The number of the newest record of the file that the store has with the same hash, or 0 if there is none. */
async function lastCommon(store: Store, exported: readonly Link[]): Promise<number> {
  for (const { seq, hash } of exported.toReversed()) {
    const [record] = await auditRecordsAfter(store, seq - 1, 1);
    if (record?.seq === seq && record.hash === hash) return seq;
  }
  return 0;
}

async function tailOf(path: string, start: number): Promise<string> {
  const chunks: Buffer[] = [];
  const stream = createReadStream(path, { start });
  stream.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
  await once(stream, 'close');
  return Buffer.concat(chunks).toString('utf8');
}

async function truncate(path: string, length: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.truncate(length);
  } finally {
    await file.close();
  }
}

function linkOf(line: string): Link | undefined {
  try {
    const { seq, hash } = Object(JSON.parse(line));
    return typeof seq === 'number' && typeof hash === 'string' ? { seq, hash } : undefined;
  } catch {
    return undefined;
  }
}
