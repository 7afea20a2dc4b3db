/** How what the provider does outside the store is carried out: reserved, delivered and confirmed, as purchases are. */
import { v7 as uuidv7 } from 'uuid';

import type { ReservationDetails } from '../operations/operation.ts';
import { deleteReservation, keepReservation, ReservationUndoneError, undoFailed } from '../operations/reservation.ts';
import type { Undoing } from '../operations/reservation.ts';
import type { Subject } from '../operations/turns.ts';
import type { Turn } from '../ports/turn.ts';
import { StoreUnavailableError } from '../store/store.ts';
import type { Db } from '../store/store.ts';

/** What a reservation of a change is kept with. */
export interface Reserved {
  readonly accountId: string;
  /** What the infrastructure is called about. */
  readonly subject: Subject;
  readonly details: ReservationDetails;
}

/** One run of a change. */
export interface Change<Result> {
  /** Keeps what the change will take, or makes what it takes away; a result where there is nothing to deliver. */
  reserve(db: Db): Promise<Reserved | { readonly result: Result }>;
  deliver(turn: Turn): Promise<void>;
  confirm(db: Db): Promise<Result>;
  /** The result where what was left over has been finished; missing where it is undone. */
  finished?(): Result;
  /**
   * What became of the change when the port failed, for whoever asked for it.
   *
   * @param isUndone Whether what is undone was taken back already; where not, it is tried again and again.
   */
  failure(isUndone: boolean): string;
}

/** The hypervisor or the registrar failed; the message says what became of the change. */
export class InfrastructureError extends Error {
  override readonly name = 'InfrastructureError';
}

/** What carrying changes out needs. */
export interface ChangeParts extends Undoing {
  /** Known to the service alone: what must be given again is encrypted with it. */
  readonly secret: string;
}

/**
 * Carries a change out.
 *
 * @param name What says how it is undone or finished where it is left over.
 * @throws InfrastructureError when a port fails and the change could not be finished.
 */
export async function carryOut<Result>(parts: ChangeParts, name: string, change: Change<Result>): Promise<Result> {
  const { ports, node } = parts;
  const id = uuidv7({ msecs: ports.clock.now(), random: ports.random.bytes(16) });
  // From before the reservation is there until its outcome is settled, so that it is never taken for left over.
  node.delivering.add(id);
  try {
    return await reserveAndDeliver(parts, { id, name }, change);
  } finally {
    node.delivering.delete(id);
  }
}

async function reserveAndDeliver<Result>(
  parts: ChangeParts,
  { id, name }: { id: string; name: string },
  change: Change<Result>,
): Promise<Result> {
  const { store, node, ports } = parts;
  const outcome = await store.commit(async ({ db }) => {
    const reserved = await change.reserve(db);
    if ('result' in reserved) return reserved;
    const reservation = { id, operation: name, keyHash: null, ...reserved };
    return { reservation: await keepReservation(db, reservation, { node, now: ports.clock.now() }) };
  });
  if ('result' in outcome) return outcome.result;
  const { reservation } = outcome;
  try {
    await change.deliver(reservation.turn);
    return await store.commit(async ({ db }) => {
      if (!(await deleteReservation(db, id, node)))
        throw new ReservationUndoneError('The change was taken for left over by another node, which undoes or finishes it.');
      return change.confirm(db);
    });
  } catch (error) {
    const isSettled = (await undoFailed(parts, reservation, error)) === true;
    if (isSettled && change.finished) return change.finished();
    if (error instanceof StoreUnavailableError) throw error;
    throw new InfrastructureError(change.failure(isSettled), { cause: error });
  }
}
