/** Carries a call out: the effect, what is kept for its repetition, and its log entry, durable together. */
import { Refusal } from '../refusal.ts';
import type { LogEntry, Transaction } from '../store/store.ts';
import { claimKey, hashOfIdempotencyKey, keepAnswer } from './idempotency.ts';
import type { Repeatable } from './idempotency.ts';
import type { Answer, Call, DeliveredOperation, Operation, OperationId, StoreOperation } from './operation.ts';
import { deleteReservation, keepReservation, ReservationUndoneError, undoFailed } from './reservation.ts';
import type { Reservation, Undoing } from './reservation.ts';

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
export async function perform<Id extends OperationId>(undoing: Undoing, operation: Operation<Id>, request: Request<Id>): Promise<Reply> {
  switch (operation.kind) {
    case 'store':
      return performInStore(undoing, operation, request);
    case 'delivered':
      return performDelivered(undoing, operation, request);
  }
}

/** What a refusal needs of a request, which may be one that names no operation. */
export type Refusable = Pick<Request<OperationId>, 'refuse' | 'logEntry'>;

/** Logs a refusal and answers it. */
export function refuse({ store }: Pick<Undoing, 'store'>, request: Refusable, refusal: Refusal): Promise<Reply> {
  return store.commit(async (transaction) => logged(transaction, request, request.refuse(refusal), refusal.type));
}

function performInStore<Id extends OperationId>({ store }: Undoing, operation: StoreOperation<Id>, request: Request<Id>): Promise<Reply> {
  const { repeatable, call } = request;
  return store.commit((transaction) =>
    answered(transaction, request, async () => {
      const kept = repeatable && (await claimKey(transaction.db, repeatable, call.now));
      if (kept !== undefined) return request.replyAgain(kept);
      return repeated(transaction, request, request.reply(await operation.run(transaction, call)));
    }),
  );
}

async function performDelivered<Id extends OperationId>(
  undoing: Undoing,
  operation: DeliveredOperation<Id>,
  request: Request<Id>,
): Promise<Reply> {
  const { node } = undoing;
  const { requestId } = request;
  // From before the reservation is there until its outcome is settled, so that it is never taken for left over.
  node.delivering.add(requestId);
  try {
    return await reserveAndDeliver(undoing, operation, request);
  } finally {
    node.delivering.delete(requestId);
  }
}

const UNDONE = 'The reservation was taken for left over by another node, which undoes it.';

async function reserveAndDeliver<Id extends OperationId>(
  undoing: Undoing,
  operation: DeliveredOperation<Id>,
  request: Request<Id>,
): Promise<Reply> {
  const { store, node } = undoing;
  const { repeatable, call } = request;
  const delivery = operation.begin(call);
  const reservation = {
    id: request.requestId,
    accountId: call.accountId,
    operation: request.operationId,
    keyHash: repeatable ? hashOfIdempotencyKey(repeatable.key) : null,
  };
  const reserved = await store.commit(async (transaction) => {
    let kept: Reservation | undefined;
    const early = await answered(transaction, request, async () => {
      const answer = repeatable && (await claimKey(transaction.db, repeatable, call.now));
      if (answer !== undefined) return request.replyAgain(answer);
      const details = await delivery.reserve(transaction);
      const made = { ...reservation, details, subject: operation.subject(details) };
      kept = await keepReservation(transaction.db, made, { node, now: call.now });
      return undefined;
    });
    return { left: kept, early };
  });
  if (reserved.early) return reserved.early;
  const { left } = reserved;
  if (!left) throw new Error('What is neither answered nor reserved cannot be delivered.');
  let isDelivered = false;
  try {
    await delivery.deliver(left.turn);
    isDelivered = true;
    return await store.commit(async (transaction) => {
      if (!(await deleteReservation(transaction.db, reservation.id, node))) throw new ReservationUndoneError(UNDONE);
      const reply = await repeated(transaction, request, request.reply(await delivery.confirm(transaction)));
      return logged(transaction, request, reply, null);
    });
  } catch (error) {
    const isUndone = await undoFailed(undoing, left, error);
    // The port refuses what comes too late, and says so in words of its own.
    if (isUndone === false && !isDelivered && !(error instanceof Refusal)) throw new ReservationUndoneError(UNDONE, { cause: error });
    throw error;
  }
}

/**
 * The reply of a part that may refuse, logged; a refusal undoes what the part wrote.
 * A part that leaves its reply for later returns undefined, and nothing is logged yet.
 */
async function answered<Id extends OperationId, Early extends Reply | undefined>(
  transaction: Transaction,
  request: Request<Id>,
  part: () => Promise<Early>,
): Promise<Early | Reply> {
  try {
    const reply = await part();
    return reply && logged(transaction, request, reply, null);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    await transaction.undo();
    return logged(transaction, request, request.refuse(error), error.type);
  }
}

async function repeated<Id extends OperationId>({ db }: Transaction, { repeatable, call }: Request<Id>, reply: Reply): Promise<Reply> {
  if (repeatable) await keepAnswer(db, repeatable, reply.body, call.ports.random);
  return reply;
}

function logged(transaction: Transaction, request: Refusable, reply: Reply, errorType: string | null): Reply {
  transaction.log(request.logEntry(reply, errorType));
  return reply;
}
