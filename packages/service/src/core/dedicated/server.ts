/** Stored dedicated servers and the transitions of their state. */
import type { Selectable, Updateable } from 'kysely';

import type { ServerState, ServerTransition, ServerRefusal } from '../../rules/dedicated.ts';
import { notFound, Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { DedicatedServersTable } from '../../store/tables/dedicated.ts';

export type ServerRow = Selectable<DedicatedServersTable>;

/** The server with an identifier, in any state. Undefined if no server has it. */
export async function findServer(db: Db, identifier: string): Promise<ServerRow | undefined> {
  return db.selectFrom('dedicated_servers').selectAll().where('id', '=', identifier.toLowerCase()).executeTakeFirst();
}

/** Whether an account sees a server on the market. An offer may be for one account only. */
export function isOfferedTo({ state, offered_to }: ServerRow, accountId: string): boolean {
  return state === 'offered' && (offered_to === null || offered_to === accountId);
}

/**
 * A server of the account that has not ended.
 *
 * @throws Refusal 404 if the account does not have the server.
 */
export async function ownServer(db: Db, accountId: string, identifier: string): Promise<ServerRow> {
  const server = await findServer(db, identifier);
  if (server?.account_id !== accountId || server.state === 'ended') throw notFound('dedicated server');
  return server;
}

export function stateOf({ id, state, due, terminated }: ServerRow): ServerState {
  if (state === 'ordered') return { phase: 'ordered', setUpDue: due };
  if (state !== 'deployed') return { phase: state };
  if (due === null) throw new Error(`The dedicated server ${id} is deployed and has no renewal date.`);
  return { phase: 'deployed', renew: due, terminated: terminated === 1 };
}

/**
 * Changes the state of a server. If another transaction changes it at the same time, the rule is applied again to the new state.
 *
 * @param step The rule that returns the next state, or the reason for a refusal.
 * @param also Columns that change with the state.
 */
export async function applyTransition<Next extends ServerState>(
  db: Db,
  server: ServerRow,
  step: (state: ServerState) => ServerTransition<Next>,
  also: Updateable<DedicatedServersTable> = {},
): Promise<ServerTransition<Next>> {
  for (let row = server; ;) {
    const transition = step(stateOf(row));
    if ('refused' in transition) return transition;
    const changed = await db
      .updateTable('dedicated_servers')
      .set({ ...also, ...stateColumnsOf(transition.next), version: row.version + 1 })
      .where('id', '=', row.id)
      .where('version', '=', row.version)
      .executeTakeFirst();
    if (changed.numUpdatedRows > 0n) return transition;
    row = await db.selectFrom('dedicated_servers').selectAll().where('id', '=', row.id).executeTakeFirstOrThrow();
  }
}

/**
 * Returns the next state.
 *
 * @throws Refusal 409 if the state does not allow the transition, 404 if the server has ended.
 */
export function assertAllowed<Next extends ServerState>(transition: ServerTransition<Next>, identifier: string): Next {
  if ('next' in transition) return transition.next;
  if (transition.refused === 'gone') throw notFound('dedicated server');
  throw new Refusal(409, 'wrong_state', `The dedicated server ${identifier} ${WRONG_STATES[transition.refused]}`);
}

const WRONG_STATES: Readonly<Record<Exclude<ServerRefusal, 'gone'>, string>> = {
  'not offered': 'is no longer on the market. Choose another one.',
  'not being set up': 'is not being set up, so its set-up cannot be completed.',
  'being set up': 'is being set up and has no renewal date yet, so it cannot be cancelled. Wait until it is deployed, or ask the provider.',
  'already cancelled': 'is already cancelled. No action is needed: it will not be renewed.',
  'not cancelled': 'is not cancelled, so there is no cancellation to withdraw. No action is needed: it will be renewed.',
  'not due': 'is not due to be renewed or to end.',
};

function stateColumnsOf(state: ServerState): Pick<ServerRow, 'state' | 'terminated' | 'due'> {
  switch (state.phase) {
    case 'ordered':
      return { state: 'ordered', terminated: 0, due: state.setUpDue };
    case 'deployed':
      return { state: 'deployed', terminated: state.terminated ? 1 : 0, due: state.renew };
    case 'offered':
      return { state: 'offered', terminated: 0, due: null };
    case 'ended':
      return { state: 'ended', terminated: 1, due: null };
  }
}
