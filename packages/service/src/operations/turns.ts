/** Turns: in which order calls of the infrastructure about one thing are meant (src/ports/turn.ts). */
import type { Turn } from '../ports/turn.ts';
import { prepared } from '../store/prepared.ts';
import type { Db } from '../store/store.ts';
import type { ReservationDetails } from './operation.ts';

/** What calls are about. */
export type Subject = `vm/${number}` | `domain/${string}` | `server/${string}`;

export const vmSubject = ({ vmId }: ReservationDetails): Subject => `vm/${Number(vmId)}`;
export const domainSubject = ({ name }: ReservationDetails): Subject => `domain/${String(name)}`;

/**
 * The next turn of a thing. To be called in the unit of work that makes the thing this one's own, so
 * that turns have the order in which it is had; it leaves a number after itself for `afterwards`.
 */
export async function nextTurn(db: Db, subject: Subject): Promise<Turn> {
  const [turn] = await takeTurn(db, { subject });
  if (!turn) throw new Error(`There is no turn of ${subject}.`);
  return turn.number;
}

const takeTurn = prepared<{ subject: string }, { number: number }>((db, parameter) =>
  db
    .insertInto('turns')
    .values({ subject: parameter('subject'), number: 2 })
    .onConflict((conflict) => conflict.column('subject').doUpdateSet(({ eb }) => ({ number: eb('turns.number', '+', 2) })))
    .returning('number'),
);

/** The turn of what takes back, or finishes, what was done in a turn: before every turn that anyone is given later. */
export function afterwards(turn: Turn): Turn {
  return turn + 1;
}
