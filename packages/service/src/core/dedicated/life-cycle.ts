/** The scheduled jobs of a dedicated server: its set-up, its renewals and its end. */
import type { ServerAccess } from '@reseller/adapters';

import type { Services } from '../../delivery/runtime.ts';
import type { Seconds } from '../../rules/billing.ts';
import { seal } from '../../rules/credentials.ts';
import { completeSetUp, endOfRuntime, reachRenewal } from '../../rules/dedicated.ts';
import type { Deployed, ServerTransition } from '../../rules/dedicated.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import { chargeOwed } from '../accounting/charge.ts';
import type { Charge } from '../accounting/charge.ts';
import { holdRenewals } from '../accounting/renewal-hold.ts';
import { enqueueRetirement } from './fleet.ts';
import { stateOf, applyTransition } from './server.ts';
import type { ServerRow } from './server.ts';

/** A completed set-up. */
export interface SetUp {
  readonly at: Seconds;
  readonly access: ServerAccess;
}

/** Completes a set-up and charges the first runtime. The server has held its price since its order, so it always fits the credit limit. */
export async function deploy(
  db: Db,
  { ports, secret }: Services,
  server: ServerRow,
  { at, access }: SetUp,
): Promise<ServerTransition<Deployed>> {
  await lockAccount(db, ownerOf(server));
  const { dashboard, username, email, password } = access;
  const sealed_password = seal(password, secret, passwordContext(server.id), ports.random);
  const transition = await applyTransition(db, server, (state) => completeSetUp(state, at, server.runtime_days), {
    dashboard,
    username,
    email,
    sealed_password,
    deployed: at,
  });
  if ('refused' in transition) return transition;
  const charge = chargeOf(server, 'CREATE', at);
  await chargeOwed(db, ports, charge, at * 1000);
  await holdRenewals(db, charge.accountId, { server: server.id });
  return transition;
}

/**
 * Performs the job of a server that is due at an instant. Does nothing if the server no longer has a job at this instant.
 *
 * @param at The server's `due`.
 */
export async function runServerJob(db: Db, services: Services, server: ServerRow, at: Seconds): Promise<void> {
  if (server.due !== at) return;
  const state = stateOf(server);
  if (state.phase === 'deployed') return renewOrEndServer(db, services, server, at);
  const { fleet, random } = services.ports;
  if (fleet.automaticSetUp) {
    await deploy(db, services, server, { at, access: fleet.automaticSetUp.accessTo(server.id, random) });
  } else {
    // The fleet no longer completes set-ups by itself, so the set-up waits for the provider.
    await applyTransition(db, server, (now) => (now.phase === 'ordered' ? { next: { ...now, setUpDue: null } } : { refused: 'not due' }));
  }
}

/** The context that a management password is sealed with. */
export function passwordContext(identifier: string): string {
  return `dedicated/${identifier}`;
}

async function renewOrEndServer(db: Db, { ports }: Services, server: ServerRow, at: Seconds): Promise<void> {
  const accountId = ownerOf(server);
  // Closing a period locks the account before the server, so this transaction does the same.
  await lockAccount(db, accountId);
  const transition = await applyTransition(db, server, (state) => reachRenewal(state, at, server.runtime_days));
  if ('refused' in transition) return;
  if (transition.next.phase === 'deployed') {
    await chargeOwed(db, ports, chargeOf(server, 'RENEW', at), at * 1000);
    await holdRenewals(db, accountId, { server: server.id });
    return;
  }
  // The password is no longer needed, and the addresses are free for other servers.
  await db.updateTable('dedicated_servers').set({ ended: at, sealed_password: null }).where('id', '=', server.id).execute();
  await db.deleteFrom('dedicated_addresses').where('server_id', '=', server.id).execute();
  await holdRenewals(db, accountId, { server: server.id });
  await enqueueRetirement(db, ports, { identifier: server.id, accountId });
}

function ownerOf({ id, account_id }: ServerRow): string {
  if (account_id === null) throw new Error(`The dedicated server ${id} belongs to no account.`);
  return account_id;
}

function chargeOf(server: ServerRow, type: 'CREATE' | 'RENEW', start: Seconds): Charge {
  const { id, price, runtime_days } = server;
  return {
    accountId: ownerOf(server),
    kind: 'dedicated',
    subject: id,
    type,
    start,
    stop: endOfRuntime(start, runtime_days),
    amount: BigInt(price),
  };
}
