/** What comes by itself in the life of a dedicated server: its set-up completes, it is renewed, it ends. */
import { enqueueRetirement } from './fleet.ts';
import type { Services } from '../../delivery/runtime.ts';
import type { ServerAccess } from '../../ports/fleet.ts';
import type { Seconds } from '../../rules/billing.ts';
import { seal } from '../../rules/credentials.ts';
import { completeSetUp, endOfRuntime, reachRenewal } from '../../rules/dedicated.ts';
import type { Deployed, Transition } from '../../rules/dedicated.ts';
import type { Db } from '../../store/store.ts';
import { chargeOwed } from '../accounting/charge.ts';
import type { Charge } from '../accounting/charge.ts';
import { releaseCredit } from '../accounting/credit-hold.ts';
import { stateOf, applyTransition } from './server.ts';
import type { ServerRow } from './server.ts';

/** A set-up that completes: when, and how the server is managed from then on. */
export interface SetUp {
  readonly at: Seconds;
  readonly access: ServerAccess;
}

/**
 * Completes a set-up: `management` and `renew` are filled, and the first runtime is charged. Its
 * price was held of the credit limit at the order, so it always fits.
 */
export async function deploy(db: Db, { ports, secret }: Services, server: ServerRow, { at, access }: SetUp): Promise<Transition<Deployed>> {
  const { dashboard, username, email, password } = access;
  const sealed_password = seal(password, secret, passwordContext(server.id), ports.random);
  const transition = await applyTransition(db, server, (state) => completeSetUp(state, at, server.runtime_days), {
    dashboard,
    username,
    email,
    sealed_password,
    deployed: at,
    hold: 0,
  });
  if ('refused' in transition) return transition;
  const charge = chargeOf(server, 'CREATE', at);
  await releaseCredit(db, charge.accountId, BigInt(server.hold));
  await chargeOwed(db, ports, charge, at * 1000);
  return transition;
}

/**
 * Does what is due of a server at an instant; nothing where it is due no more.
 *
 * @param at The server's `due`.
 */
export async function runServerJob(db: Db, services: Services, server: ServerRow, at: Seconds): Promise<void> {
  if (server.due !== at) return;
  const state = stateOf(server);
  if (state.phase === 'deployed') return renewOrEnd(db, services, server, at);
  const { fleet, random } = services.ports;
  if (fleet.automaticSetUp) {
    await deploy(db, services, server, { at, access: fleet.automaticSetUp.accessTo(server.id, random) });
  } else {
    // The fleet is another one than at the order: from now on the set-up waits for the provider.
    await applyTransition(db, server, (now) => (now.phase === 'ordered' ? { next: { ...now, setUpDue: null } } : { refused: 'not due' }));
  }
}

/** What a sealed management password is bound to. */
export function passwordContext(identifier: string): string {
  return `dedicated/${identifier}`;
}

async function renewOrEnd(db: Db, { ports }: Services, server: ServerRow, at: Seconds): Promise<void> {
  const transition = await applyTransition(db, server, (state) => reachRenewal(state, at, server.runtime_days));
  if ('refused' in transition) return;
  if (transition.next.phase === 'deployed') {
    await chargeOwed(db, ports, chargeOf(server, 'RENEW', at), at * 1000);
    return;
  }
  // Nobody is given the password any more, and the addresses are free for other servers.
  await db.updateTable('dedicated_servers').set({ ended: at, sealed_password: null }).where('id', '=', server.id).execute();
  await db.deleteFrom('dedicated_addresses').where('server_id', '=', server.id).execute();
  await enqueueRetirement(db, ports, { identifier: server.id, accountId: ownerOf(server) });
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
