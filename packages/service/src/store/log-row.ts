/** Entries of the request log as they are stored. A response that an account receives repeatedly is stored once. */
import { hash } from 'node:crypto';

import type { Insertable } from 'kysely';

import type { RequestLogBodiesTable, RequestLogTable } from './tables/requests.ts';
import type { Tuning } from './tuning.ts';

/** What else is known of a request. Null if an earlier version stored the entry. */
export interface RequestFacts {
  /** HTTP status. */
  readonly status: number | null;
  /** Milliseconds until the response was ready. */
  readonly duration: number | null;
  /** The API key that sent the request. */
  readonly key_id: string | null;
  /** The Idempotency-Key as it was sent, or null. */
  readonly idempotency_key: string | null;
  /** 1 if the response is that of an earlier request with the same Idempotency-Key, or 0. */
  readonly is_replay: number | null;
  /** JSON of `Bought`, or null. */
  readonly bought: string | null;
}

/** What a request bought or changed. */
export interface Bought {
  readonly kind: 'vm' | 'dedicated' | 'domain';
  /** The identifier of the VM or server, or the name of the domain. */
  readonly subject: string;
  /** Money: the net price of 30 days of a VM, or of the first period of the others. */
  readonly price: number;
}

/** An entry of the request log. */
export interface LogEntry extends RequestFacts {
  readonly account_id: string;
  readonly request_id: string;
  /** Milliseconds. */
  readonly date: number;
  /** 1 or 0. */
  readonly success: number;
  readonly endpoint: string;
  readonly method: string;
  readonly request_body: string;
  readonly error_type: string | null;
  readonly response_body: string;
}

/** A row of `request_log` before it is numbered. */
export interface LogRow extends Omit<Insertable<RequestLogTable>, 'number' | 'position' | 'feed'> {
  /** Bytes that the entry takes up, approximately, without a shared response. */
  readonly size: number;
}

export type SharedBody = { readonly [Name in keyof RequestLogBodiesTable]: NonNullable<RequestLogBodiesTable[Name]> };

/** A shared response that an account receives repeatedly is marked as received at most this often, so that most reads only insert. */
export const REFRESH_MS = 60_000;

/** Bytes of an entry besides its texts: identifiers, numbers and indexes. */
const ENTRY_OVERHEAD_BYTES = 250;
/** Shorter responses take less space if they are stored in the entry. */
const MIN_SHARED_LENGTH = 256;

const ENVELOPE_START = '{"status":"success","requestID":"';

/** The row of an entry with its response. */
export function toLogRow(entry: LogEntry): LogRow {
  return rowOf(entry, { response_body: entry.response_body, response_hash: null });
}

/** Finds responses that an account receives repeatedly. */
export interface ResponseMemory {
  /** The row of an entry. If the response was received before, it is in `shared`, which must be stored with the row. */
  toLogRow(entry: LogEntry): { readonly row: LogRow; readonly shared?: SharedBody };
}

export function createResponseMemory({ rememberedCharacters }: Tuning): ResponseMemory {
  /** Hashes by account and response. The hash is computed when the response occurs for the second time. */
  const hashes = new Map<string, string | undefined>();
  let length = 0;
  return {
    toLogRow(entry) {
      const { account_id, date, response_body } = entry;
      if (entry.success !== 1 || response_body.length < MIN_SHARED_LENGTH) return { row: toLogRow(entry) };
      const body = withoutRequestId(response_body, entry.request_id);
      const key = account_id + body;
      if (!hashes.has(key)) {
        if ((length += key.length) > rememberedCharacters) {
          hashes.clear();
          length = key.length;
        }
        hashes.set(key, undefined);
        return { row: toLogRow(entry) };
      }
      const response_hash = hashes.get(key) ?? hash('sha256', body, 'base64url').slice(0, 22);
      hashes.set(key, response_hash);
      const row = rowOf(entry, { response_body: null, response_hash });
      return { row, shared: { month: monthOf(date), account_id, hash: response_hash, body, size: body.length, stored: date } };
    },
  };
}

/** The response of a stored entry. @param shared The body of `request_log_bodies` that the entry refers to. */
export function responseOf(row: { readonly request_id: string; readonly response_body: string | null }, shared: string | null): string {
  const { request_id, response_body } = row;
  if (response_body !== null) return response_body;
  if (shared === null) throw new Error(`The response of the request ${request_id} is missing from the request log.`);
  return shared.startsWith(`${ENVELOPE_START}"`) ? ENVELOPE_START + request_id + shared.slice(ENVELOPE_START.length) : shared;
}

/** The month (UTC) of an instant in milliseconds: 202611 is November 2026. */
export function monthOf(milliseconds: number): number {
  const date = new Date(milliseconds);
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1;
}

function withoutRequestId(body: string, requestId: string): string {
  const start = ENVELOPE_START + requestId;
  return body.startsWith(start) ? ENVELOPE_START + body.slice(start.length) : body;
}

function rowOf({ response_body: _body, ...entry }: LogEntry, response: Pick<LogRow, 'response_body' | 'response_hash'>): LogRow {
  const { endpoint, request_body } = entry;
  const size = ENTRY_OVERHEAD_BYTES + endpoint.length + request_body.length + (response.response_body?.length ?? 0);
  return { ...entry, month: monthOf(entry.date), ...response, size };
}
