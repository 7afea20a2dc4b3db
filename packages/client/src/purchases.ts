/** Around requests that change something: the spend guard, and the search for the outcome when a response is lost. */
import type { AnyCallOptions } from './call-options.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import { looksOf } from './look.ts';
import type { LookParts } from './look.ts';
import { memoryOf } from './memory.ts';
import type { LostRequest } from './memory.ts';
import { reconcile } from './reconcile.ts';
import type { Found, ReconcileOptions, Reconciliation } from './reconcile.ts';
import type { Connection } from './runtime/connection.ts';
import { ConnectionError, OutcomeUnknownError, ResellerError, SpendRefusedError } from './runtime/errors.ts';
import type { ErrorDetails } from './runtime/errors.ts';
import { isRecord, parseJson } from './runtime/json.ts';
import { reordered } from './runtime/prepare.ts';
import type { Prepared } from './runtime/prepare.ts';
import { errorOf } from './runtime/request.ts';
import type { ApiResponse } from './runtime/request.ts';
import { spendGuardOf } from './spend-guard.ts';
import type { SpendGuardConfig } from './spend-guard.ts';

/** Sends a prepared request and reports its steps. */
export type SendPrepared = (connection: Connection, prepared: Prepared) => Promise<ApiResponse<never>>;

/** The part of the API that purchases use. */
export interface PurchaseParts extends Omit<LookParts, 'memory'> {
  /** Makes a harmless request that servers log. Returns its identifier. */
  readonly readAnything: () => Promise<string | null>;
}

/** The purchases of one account, shared by all clients that `withOptions` makes from one. */
export interface Purchases {
  /** Sends a request that changes something. */
  carryOut(
    connection: Connection,
    prepared: Prepared,
    send: SendPrepared,
    options: AnyCallOptions & SpendGuardConfig,
  ): Promise<ApiResponse<never>>;
  /** Asks the spend guard without sending anything. */
  rehearse(prepared: Prepared): Promise<void>;
  reconcile(connection: Connection, error: OutcomeUnknownError, send: SendPrepared, options?: ReconcileOptions): Promise<Reconciliation>;
  /** Keeps the identifier of a read that has a response, which dates the request log. */
  remember(requestID: string | null | undefined, now: number): void;
}

export function purchasesOf(config: SpendGuardConfig, { clock, readPage, readAnything }: PurchaseParts): Purchases {
  const memory = memoryOf();
  const look = looksOf({ clock, memory, readPage });
  let contact: Promise<void> | undefined;
  async function makeContact(since: number): Promise<void> {
    const newestAt = memory.newest === undefined ? undefined : memory.respondedAt.get(memory.newest);
    if (newestAt !== undefined && newestAt > since) return;
    contact ??= readAnything()
      .then((requestID) => memory.remember(requestID, clock.now()))
      .finally(() => {
        contact = undefined;
      });
    await contact;
  }
  const authorise = spendGuardOf(config);
  /** The requests of errors. They are not properties of the errors, because errors are printed. */
  const lost = new WeakMap<OutcomeUnknownError, LostRequest>();

  function find(connection: Connection, request: LostRequest, send: SendPrepared, options?: ReconcileOptions) {
    return reconcile({ connection, memory, look, makeContact, resend: (prepared) => send(connection, prepared) }, request, options);
  }

  function open(prepared: Prepared, giveBack: () => void): LostRequest {
    const request: LostRequest = {
      prepared,
      sentAt: clock.now(),
      after: memory.newest,
      attempts: 1,
      settle(committed) {
        memory.open.delete(request);
        if (!committed) giveBack();
      },
    };
    memory.open.add(request);
    return request;
  }

  return {
    remember: memory.remember,
    async rehearse(prepared) {
      const giveBack = await authorise(prepared);
      giveBack();
    },
    async carryOut(connection, unordered, send, { reconcile: isReconciling, readOnly }) {
      if (readOnly) throw errorOf(SpendRefusedError, unordered, 'readOnly refused it');
      const giveBack = await authorise(unordered);
      const prepared = inOwnOrder(unordered);
      const request = open(prepared, giveBack);
      try {
        const response = await send(connection, prepared);
        memory.remember(response.requestID, clock.now());
        request.settle(true);
        return response;
      } catch (error) {
        if (error instanceof ResellerError) memory.remember(error.requestID, clock.now());
        if (!(error instanceof OutcomeUnknownError)) {
          request.settle(false);
          throw error;
        }
        request.attempts = error.attempts;
        lost.set(error, request);
        if (!isReconciling || prepared.options.signal?.aborted) throw error;
        return responseOfFound(await find(connection, request, send), prepared, error);
      }
    },
    async reconcile(connection, error, send, options) {
      const request = lost.get(error);
      if (!request)
        throw new TypeError('reconcile() takes an OutcomeUnknownError of this client. Pass the error to the client that made the call.');
      return (await find(connection, request, send, options)).outcome;
    },
  };
}

/**
 * Each request has its fields in an order that follows from its key. The request log keeps the order, which tells a request from others
 * with the same fields.
 */
function inOwnOrder(prepared: Prepared): Prepared {
  const { fields, idempotencyKey = '' } = prepared;
  const ordered = fields.toSorted((one, other) => hash(idempotencyKey + one.name) - hash(idempotencyKey + other.name));
  return reordered(prepared, ordered);
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const character of text) value = Math.imul(value ^ character.charCodeAt(0), 0x01000193);
  return value >>> 0;
}

/** @throws ResellerError when the request was not carried out, or when the outcome is unknown. */
function responseOfFound({ outcome, repeated }: Found, prepared: Prepared, error: OutcomeUnknownError): ApiResponse<never> {
  if (repeated) return repeated;
  const { attempts } = error;
  if (outcome.outcome === 'undecided') throw error;
  if (outcome.outcome === 'not-committed') throw outcome.error ?? errorOfEntry(outcome.entry, prepared, error);
  const { masked, entry } = outcome;
  const { data }: { data: never } = JSON.parse(JSON.stringify({ data: outcome.data }));
  const envelope = envelopeOf(entry);
  const { message = '' } = envelope;
  return {
    data,
    requestID: entry?.requestID ?? null,
    message: String(message),
    status: 200,
    attempts,
    toResponse: () => Response.json({ ...envelope, data }),
    masked,
  };
}

/** The response that the request log has. Without members when it has none. */
function envelopeOf(entry: RequestLogItem | undefined): Readonly<Record<string, unknown>> {
  const envelope = parseJson(entry?.response_body ?? '');
  return isRecord(envelope) ? envelope : {};
}

function errorOfEntry(entry: RequestLogItem | undefined, prepared: Prepared, cause: OutcomeUnknownError): ResellerError {
  const details: Partial<ErrorDetails> = { attempts: cause.attempts, uncertain: false };
  if (!entry) return errorOf(ConnectionError, prepared, 'the request never arrived, as the request log shows', details, cause);
  const { message } = envelopeOf(entry);
  return errorOf(
    ResellerError,
    prepared,
    typeof message === 'string' ? message : 'the service refused it, as the request log shows',
    { ...details, type: entry.error_type ?? undefined, requestID: entry.requestID },
    cause,
  );
}
