/** Carries out a request. Its effect, its stored response and its log entry become durable together. */
import { closeLongPeriod, settleAccount } from '../core/jobs/settle.ts';
import { deliver, outageOr } from '../delivery/deliver.ts';
import type { DeliveryOrder } from '../delivery/deliver.ts';
import { recoverDeliveries } from '../delivery/recover.ts';
import type { Runtime } from '../delivery/runtime.ts';
import { Refusal } from '../rules/refusal.ts';
import type { Store, Transaction } from '../store/store.ts';
import { toLogEntry } from './codec.ts';
import type { LoggedRequest, Reply, ReplyCodec, RequestEnd } from './codec.ts';
import { claimKey, hashOfIdempotencyKey, keepResponse } from './idempotency.ts';
import type { Repeatable } from './idempotency.ts';
import type {
  Call,
  DeliveredOperation,
  Operation,
  OperationId,
  LookupOperation,
  ReadOperation,
  StoreOperation,
  Success,
} from './operation.ts';

/** One request, with the data that its response, its repetition and its log entry need. */
export interface Request<Id extends OperationId> {
  readonly operationId: Id;
  readonly call: Call<Id>;
  /** Undefined without an Idempotency-Key. */
  readonly repeatable: Repeatable | undefined;
  readonly logged: LoggedRequest;
  readonly codec: ReplyCodec;
}

/**
 * @returns The response. Its log entry and its effect are durable.
 * @throws StoreUnavailableError if the store fails.
 */
export async function perform<Id extends OperationId>(operation: Operation<Id>, request: Request<Id>): Promise<Reply> {
  switch (operation.kind) {
    case 'read':
      return performRead(operation, request);
    case 'lookup':
      return performLookup(operation, request);
    case 'store':
      await closeLongPeriod(request.call.runtime.store, request.call);
      await operation.prepare?.(request.call);
      return performInStore(operation, request);
    case 'delivered':
      await closeLongPeriod(request.call.runtime.store, request.call);
      return performDelivered(operation, request);
  }
}

/** Stores the log entry of a request that has no other effect. */
export async function logReply({ requestLog }: Store, logged: LoggedRequest, reply: Reply): Promise<Reply> {
  await requestLog.append(toLogEntry(logged, reply));
  return reply;
}

/** The caller logs refusals. */
async function performRead<Id extends OperationId>(operation: ReadOperation<Id>, { call, logged, codec }: Request<Id>): Promise<Reply> {
  const { runtime } = call;
  if (operation.settles) await settleAccount(runtime, call);
  if (operation.isLong) {
    const success = await runtime.store.readLong((db) => operation.run(db, call));
    return logReply(runtime.store, logged, await codec.longSuccess(logged.id, success));
  }
  const success = await runtime.store.read((db) => operation.run(db, call));
  return logReply(runtime.store, logged, codec.success(logged.id, success));
}

async function performLookup<Id extends OperationId>(operation: LookupOperation<Id>, { call, logged, codec }: Request<Id>): Promise<Reply> {
  const { store, ports } = call.runtime;
  const found = await store.read((db) => operation.find(db, call));
  const success = await operation.ask(ports, found).catch((error: unknown) => {
    throw outageOr(error);
  });
  return logReply(store, logged, codec.success(logged.id, success));
}

async function performInStore<Id extends OperationId>(operation: StoreOperation<Id>, request: Request<Id>): Promise<Reply> {
  const { call } = request;
  let enqueued: Success<Id>['enqueued'];
  const reply = await call.runtime.store.commit(async (transaction) => {
    try {
      const earlier = await claim(transaction, request);
      if (earlier) return earlier;
      const success = await operation.run(transaction, call);
      ({ enqueued } = success);
      return record(transaction, request, success);
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      await transaction.rollBack();
      return logRefusal(transaction, request, refusal);
    }
  });
  await carryOut(call.runtime, enqueued);
  return reply;
}

/** Carries out what a successful request has enqueued. A delivery that fails here is tried again by the loop. */
async function carryOut(runtime: Runtime, enqueued: Success<OperationId>['enqueued']): Promise<void> {
  if (enqueued !== undefined) await recoverDeliveries(runtime, new Set(), enqueued).catch(() => {});
}

async function performDelivered<Id extends OperationId>(operation: DeliveredOperation<Id>, request: Request<Id>): Promise<Reply> {
  const { call, repeatable, logged } = request;
  let enqueued: Success<Id>['enqueued'];
  const order: DeliveryOrder<unknown, Reply> = {
    id: logged.id,
    keyHash: repeatable ? hashOfIdempotencyKey(repeatable.key) : null,
    async claim(transaction) {
      const earlier = await claim(transaction, request);
      if (earlier) return earlier;
      const success = await operation.inPlace?.(transaction, call);
      return success && record(transaction, request, success);
    },
    async record(transaction, ended) {
      if ('refusal' in ended) return logRefusal(transaction, request, ended.refusal);
      const success = await operation.success(ended.result, call, transaction);
      ({ enqueued } = success);
      return record(transaction, request, success);
    },
  };
  const reply = await deliver(call.runtime, order, (steps) => operation.deliver(steps, call));
  await carryOut(call.runtime, enqueued);
  return reply;
}

/** Claims the request's Idempotency-Key. Returns the stored response if the request was carried out before. */
async function claim<Id extends OperationId>(
  transaction: Transaction,
  { repeatable, call, logged, codec }: Request<Id>,
): Promise<Reply | undefined> {
  const body = repeatable && (await claimKey(transaction.db, repeatable, call.now));
  return body === undefined ? undefined : log(transaction, logged, codec.repeat(body), { isReplay: true });
}

/** Creates the response to a successful request, stores it for repeated requests, and logs it. */
function record<Id extends OperationId>(transaction: Transaction, { repeatable, logged, codec }: Request<Id>, success: Success<Id>): Reply {
  const reply = codec.success(logged.id, success);
  if (repeatable) keepResponse(transaction, repeatable, reply.body);
  return log(transaction, logged, reply, { bought: success.bought });
}

/** The changes of the request have been rolled back, so its Idempotency-Key is free. */
function logRefusal<Id extends OperationId>(transaction: Transaction, { logged, codec }: Request<Id>, refusal: Refusal): Reply {
  return log(transaction, logged, codec.error(logged.id, refusal, logged.maskKey));
}

function log(transaction: Transaction, logged: LoggedRequest, reply: Reply, end?: RequestEnd): Reply {
  transaction.log(toLogEntry(logged, reply, end));
  return reply;
}
