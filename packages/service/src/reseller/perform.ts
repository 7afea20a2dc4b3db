/** Carries a call out: the effect, what is kept for its repetition, and its log entry, durable together. */
import type { Runtime } from '../delivery/runtime.ts';
import { Refusal } from '../rules/refusal.ts';
import type { LogEntry, Transaction } from '../store/store.ts';
import { claimKey, hashOfIdempotencyKey, keepAnswer } from './idempotency.ts';
import type { Repeatable } from './idempotency.ts';
import type { Answer, Call, DeliveredOperation, Operation, OperationId, StoreOperation } from './operation.ts';

/** An answer as it is sent. */
export interface Reply {
  readonly status: number;
  /** JSON text of the envelope. */
  readonly body: string;
  /** The same with secrets masked, for the log. */
  readonly loggedBody: string;
  /** What Retry-After says, in seconds; undefined for what is usual for the status. */
  readonly retryAfter?: number | undefined;
}

/** A call with everything around it. */
export interface Request<Id extends OperationId> {
  readonly operationId: Id;
  readonly requestId: string;
  readonly call: Call<Id>;
  /** Undefined where the caller sent no Idempotency-Key. */
  readonly repeatable: Repeatable | undefined;
  /** Puts the envelope around an answer. */
  reply(answer: Answer<Id>): Reply;
  /** The reply that an earlier answer was. */
  replyAgain(body: string): Reply;
  /** Puts the envelope around a refusal. */
  refuse(refusal: Refusal): Reply;
  /** What the log is to say of a reply. */
  logEntry(reply: Reply, errorType: string | null): LogEntry;
}

/**
 * @returns The reply; its log entry and its effect are durable.
 * @throws StoreUnavailableError when the store cannot keep it.
 */
export async function perform<Id extends OperationId>(runtime: Runtime, operation: Operation<Id>, request: Request<Id>): Promise<Reply> {
  switch (operation.kind) {
    case 'store':
      return performInStore(runtime, operation, request);
    case 'delivered':
      return performDelivered(runtime, operation, request);
  }
}

/** What a refusal needs of a request, which may be one that names no operation. */
export type Refusable = Pick<Request<OperationId>, 'refuse' | 'logEntry'>;

/** Logs a refusal and answers it. */
export function refuse({ store }: Pick<Runtime, 'store'>, request: Refusable, refusal: Refusal): Promise<Reply> {
  return store.commit(async (transaction) => logged(transaction, request, request.refuse(refusal), refusal.type));
}

function performInStore<Id extends OperationId>({ store }: Runtime, operation: StoreOperation<Id>, request: Request<Id>): Promise<Reply> {
  return store.commit((transaction) =>
    replayOrRun(transaction, request, async () => concluded(transaction, request, await operation.run(transaction, request.call))),
  );
}

function performDelivered<Id extends OperationId>(
  runtime: Runtime,
  operation: DeliveredOperation<Id>,
  request: Request<Id>,
): Promise<Reply> {
  const { requestId, operationId, call, repeatable } = request;
  return operation.deliver<Reply>(runtime, {
    id: requestId,
    name: operationId,
    request: call,
    keyHash: repeatable ? hashOfIdempotencyKey(repeatable.key) : null,
    reserving: (transaction, reserve) => replayOrRun(transaction, request, reserve),
    confirming: (transaction, answer) => concluded(transaction, request, answer),
  });
}

/** Replays the stored response of the request's Idempotency-Key, or runs the operation. A refusal undoes what the operation wrote. */
async function replayOrRun<Id extends OperationId, Result extends Reply | undefined>(
  transaction: Transaction,
  request: Request<Id>,
  run: () => Promise<Result>,
): Promise<Result | Reply> {
  const { repeatable, call } = request;
  try {
    const kept = repeatable && (await claimKey(transaction.db, repeatable, call.now));
    if (kept !== undefined) return logged(transaction, request, request.replyAgain(kept), null);
    return await run();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await transaction.rollBack();
    return logged(transaction, request, request.refuse(error), error.type);
  }
}

/** The reply of a successful request: stored for repetitions, and logged. */
async function concluded<Id extends OperationId>(transaction: Transaction, request: Request<Id>, answer: Answer<Id>): Promise<Reply> {
  const { repeatable, call } = request;
  const reply = request.reply(answer);
  if (repeatable) await keepAnswer(transaction.db, repeatable, reply.body, call.ports.random);
  return logged(transaction, request, reply, null);
}

function logged(transaction: Transaction, request: Refusable, reply: Reply, errorType: string | null): Reply {
  transaction.log(request.logEntry(reply, errorType));
  return reply;
}
