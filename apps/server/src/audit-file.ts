/** Appends each audit record to a file, for systems that collect logs. */
import { once } from 'node:events';
import { createReadStream, existsSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

import { auditRecordsAfter } from '@reseller/service';
import type { ChainedRecord, Store } from '@reseller/service';
import type { Logger } from 'pino';

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
  /** Appends what is not in the file yet, and ends. */
  stop(): Promise<void>;
}

/**
 * Follows the audit of the store. The file itself says how far it is, so a restart continues where it ended, and no record is left out.
 *
 * @throws AuditFileError if the last line of the file is not a record of an export.
 */
export async function exportAudit(store: Store, path: string, logger: Logger): Promise<AuditFile> {
  let written = await lastNumberIn(path);
  const stopping = new AbortController();

  async function append(): Promise<void> {
    for (;;) {
      const records = await auditRecordsAfter(store, written, BATCH_SIZE);
      const last = records.at(-1);
      if (!last) return;
      const file = await open(path, 'a', 0o600);
      try {
        await file.appendFile(records.map(lineOf).join(''));
        await file.sync();
      } finally {
        await file.close();
      }
      written = last.seq;
    }
  }

  async function follow(): Promise<void> {
    while (!stopping.signal.aborted) {
      await append().catch((error: unknown) =>
        logger.error({ err: error, file: path }, 'audit records were not exported; the service tries again'),
      );
      await wait(PAUSE_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  }

  await append();
  const following = follow();
  return {
    async stop() {
      stopping.abort();
      await following;
      await append();
    },
  };
}

/** A line of JSON with the names of the operator API. */
function lineOf({ state_before, state_after, time, salt: _salt, content_hash: _content, ...record }: ChainedRecord): string {
  const states = { before: JSON.parse(state_before), after: JSON.parse(state_after) };
  return `${JSON.stringify({ time: new Date(time).toISOString(), ...record, ...states })}\n`;
}

/** The number of the last record in the file, or 0 if there is none. A line that a crash cut off is removed. */
async function lastNumberIn(path: string): Promise<number> {
  if (!existsSync(path)) return 0;
  const { size } = await stat(path);
  const start = Math.max(0, size - TAIL_BYTES);
  const tail = await tailOf(path, start);
  const end = tail.lastIndexOf('\n') + 1;
  if (end < tail.length) await truncate(path, start + Buffer.byteLength(tail.slice(0, end)));
  const line = tail.slice(0, end).trimEnd().split('\n').at(-1) ?? '';
  if (line === '') return 0;
  const number = numberOf(line);
  if (number === undefined)
    throw new AuditFileError(`The last line of ${path} is not an audit record. Name another file in RESELLER_AUDIT_FILE.`);
  return number;
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

function numberOf(line: string): number | undefined {
  try {
    const number: unknown = Object(JSON.parse(line)).seq;
    return typeof number === 'number' ? number : undefined;
  } catch {
    return undefined;
  }
}
