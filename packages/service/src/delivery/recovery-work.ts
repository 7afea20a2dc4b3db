/** Recovery next to the round of jobs. A port that is slow for one account delays neither the start nor the recovery of others. */
import type { Logger } from 'pino';

import { backgroundWork } from './background-work.ts';
import type { BackgroundWork } from './background-work.ts';
import { recoverReservation } from './recover.ts';
import { recoverable, recoverableReservations } from './reservation.ts';
import type { Reservation } from './reservation.ts';
import type { Runtime } from './runtime.ts';

export interface RecoveryWork extends BackgroundWork {
  /** Like `begin`, without the reservations that have failed since then. */
  beginNew(): void;
}

/** Settles interrupted and enqueued deliveries, each at most once after it was begun, and logs the failure of each once. */
export function recoveryWork(runtime: Runtime, logger: Logger): RecoveryWork {
  const { store, instance } = runtime;
  const [failed, logged] = [new Set<string>(), new Set<string>()];
  let due = new Map<string, Reservation[]>();

  async function recoverAndLog(reservation: Reservation): Promise<'later'> {
    const { id } = reservation;
    try {
      const isSettled = await recoverReservation(runtime, reservation, (task) =>
        logger.error(task, 'a task of the infrastructure failed; its change is undone, or started again'),
      );
      if (isSettled) logger.info({ reservation: id, delivery: reservation.delivery }, 'settled an interrupted or enqueued delivery');
      logged.delete(id);
    } catch (error) {
      failed.add(id);
      if (!logged.has(id))
        logger.error(
          { err: error, reservation: id, subject: reservation.subject },
          'a delivery could not be settled; the service tries again',
        );
      logged.add(id);
    }
    return 'later';
  }

  const work = backgroundWork<Reservation>({
    due: (db) => recoverable(db, instance).select('id'),
    async accounts() {
      const all = await recoverableReservations(store, instance);
      due = Map.groupBy(
        all.filter(({ id }) => !failed.has(id) && !instance.delivering.has(id)),
        ({ accountId }) => accountId,
      );
      return [...due.keys()];
    },
    take: async (accountId) => due.get(accountId)?.shift(),
    perform: recoverAndLog,
    places: store.tuning.maxConcurrentDeliveries,
    onFailure: (error) => logger.error({ err: error }, 'interrupted deliveries could not be read; the service tries again'),
  });
  return {
    ...work,
    beginNew: work.begin,
    begin() {
      failed.clear();
      work.begin();
    },
  };
}
